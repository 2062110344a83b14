/* An input that was opened: what it begins with is held, unpacked, so that its format is known before the rest is read.
 */
#pragma once

#include <time.h>

#include "base/bytesource.h"
#include "base/checksum.h"
#include "base/reader.h"
#include "base/strbuf.h"

/* Where it lies it stays: what reads it points into it. */
struct jp_stream {
	const char *name; /* for messages */
	time_t mtime;     /* of a regular file; 0: it is none */
	struct jp_window window;
	struct jprof_error damage; /* of compressed data, once the window has come to it; code 0: none */
	struct jp_checksum sum;    /* of what was read so far, unpacked, if jp_stream_sum asked for it */
};

/* Opens a file or pipe that the user named; "-" is standard input. `path` must outlive the stream. Release in any
 * case. */
int jp_stream_open(struct jp_stream *stream, const char *path, struct jprof_error *err);

/* The same for bytes in memory; they and `name` (may be NULL) must outlive the stream. */
int jp_stream_memory(struct jp_stream *stream, const void *data, size_t len, const char *name, struct jprof_error *err);

/* Has all bytes, from the first on, added up in stream->sum: called before any is used up. */
int jp_stream_sum(struct jp_stream *stream, struct jprof_error *err);

/* Reads the rest, and holds nothing of it. */
void jp_stream_skip(struct jp_stream *stream);

/* What is held: at least the first 512 bytes, if there are so many. */
struct jp_span jp_stream_head(const struct jp_stream *stream);

/* Reads the rest, and holds all of it. */
int jp_stream_whole(struct jp_stream *stream, struct jp_span *all, struct jprof_error *err);

/* The same, and gives it away, with a NUL behind it: a copy where the bytes are the caller's. Release *all in any case.
 */
int jp_stream_take(struct jp_stream *stream, struct jp_strbuf *all, struct jprof_error *err);

/* The stream ended because of this: *err and the code; 0: it ended by itself. */
int jp_stream_trouble(const struct jp_stream *stream, struct jprof_error *err);

void jp_stream_release(struct jp_stream *stream);
