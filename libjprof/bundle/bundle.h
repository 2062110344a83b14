/* A bundle as it stands in the file: docs/internals/bundle.md. Members and their files are looked at, and nothing of
 * what they hold but bundle.json. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "input/stream.h"
#include "jprof.h"
#include "model/profile.h"

struct jp_bundle_file {
	const char *name;
	char *data; /* in the archive; a NUL follows */
	size_t len;
};

struct jp_bundle_id {
	const char *path, *build_id;
};

struct jp_bundle_member {
	struct jprof_bundle_member pub;
	int64_t dump_mtime; /* of the dump's file; 0: not known */
	struct jp_bundle_file *files;
	size_t file_count, file_cap;
	struct jp_bundle_id *ids;
	size_t id_count;
};

struct jprof_bundle {
	struct jprof_bundle_info info;
	char *name; /* for messages */
	struct jp_strbuf archive;
	struct jp_arena arena;
	struct jp_bundle_member *members;
	size_t count;
	bool listed; /* bundle.json was read */
	struct jprof_error warning;
};

/* What a bundle is refused without. */
enum jp_bundle_needs { JP_NEEDS_DUMP, JP_NEEDS_DUMP_OR_GRAPH, JP_NEEDS_NO_DUMP };

/* As jprof_bundle_parse, of a stream that was not read on. */
int jp_bundle_read(struct jp_stream *stream, enum jp_bundle_needs needs, struct jprof_bundle **bundle,
                   struct jprof_error *err);

/* A file of a member, or NULL. */
const struct jp_bundle_file *jp_bundle_file(const struct jp_bundle_member *member, const char *name);

/* What a member tells of its process; the texts are the bundle's. */
struct jp_process jp_process_of_member(const struct jprof_bundle_member *member);

/* Why there is no member of that name. */
int jp_no_member(const struct jprof_bundle *bundle, const char *wanted, struct jprof_error *err);

/* The members that opts->member asks for, added up; what is wrong with the bundle becomes a note. */
int jp_profile_from_bundle(const struct jprof_bundle *bundle, const struct jprof_profile_opts *opts,
                           struct jprof_profile **profile, struct jprof_error *err);
