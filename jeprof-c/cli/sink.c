#include "cli/sink.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/shortage.h"

static int keep_piece(struct sink *sink, const void *data, size_t len)
{
	if (len > sink->cap - sink->len) {
		size_t cap = sink->len > SIZE_MAX / 4 || len > SIZE_MAX / 4 ? SIZE_MAX : 2 * (sink->len + len);
		char *grown = realloc(sink->data, cap);
		if (!grown) {
			sink->failed = true;
			sink->why = strerror(ENOMEM);
			return -1;
		}
		sink->data = grown;
		sink->cap = cap;
	}
	if (len)
		memcpy(sink->data + sink->len, data, len);
	sink->len += len;
	return 0;
}

int sink_write(void *context, const void *data, size_t len)
{
	struct sink *sink = context;
	sink->begun = true;
	if (sink->path)
		return keep_piece(sink, data, len);
	if (fwrite(data, 1, len, stdout) == len && !fflush(stdout))
		return 0;
	sink->failed = true;
	return -1;
}

void sink_text_open(struct sink_text *t)
{
	*t = (struct sink_text){ 0 };
	t->file = textstream_open(&t->bytes, &t->len);
}

bool sink_text_write(struct sink_text *t, struct sink *sink)
{
	bool whole = t->file && textstream_closed(t->file, &t->bytes);
	if (!whole)
		say("memory is short");
	bool good = whole && !sink_write(sink, t->bytes, t->len);
	free(t->bytes);
	return good;
}

bool sink_close(struct sink *sink)
{
	if (sink->path && sink->begun && !sink->failed && !sink->closed)
		sink->why = shortage_noted() ? shortage_why() : outfile_write(sink->path, sink->data, sink->len);
	sink->closed = true;
	free(sink->data);
	sink->data = NULL;
	return !sink->why;
}
