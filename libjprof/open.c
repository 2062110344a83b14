/* A profile of any file: which format it is decides who reads it. */
#include "base/error.h"
#include "base/opts.h"
#include "bundle/bundle.h"
#include "input/sniff.h"
#include "input/stream.h"
#include "input/tablefile.h"
#include "model/build.h"

/* The table that the caller gives counts, else the one beside the file `path`; NULL: no file. */
static int read_text_profile(struct jp_stream *stream, const char *path, const struct jprof_profile_opts *opts,
                             struct jprof_profile **profile, struct jprof_error *err)
{
	struct jp_table_text jp_cleanup(jp_table_text_release) beside = { 0 };
	struct jprof_dump *dump;
	int rc = path && !opts->table ? jp_tablefile_find(path, &beside, err) : 0;
	if (!rc && opts->table)
		rc = jp_dump_read_tabled(stream, (struct jp_span){ opts->table, opts->table_len }, stream->name, &dump,
		                         err);
	else if (!rc)
		rc = jp_dump_read_beside(stream, &beside, &dump, err);
	if (rc)
		return rc;
	rc = jp_profile_from_dump(dump, opts, profile, err);
	jprof_dump_free(dump);
	return rc;
}

static int parse_bundle(struct jp_span all, const struct jp_stream *stream, const struct jprof_profile_opts *opts,
                        struct jprof_profile **profile, struct jprof_error *err)
{
	struct jprof_bundle *bundle;
	int rc = jp_bundle_parse(all.ptr, all.len, stream->name, &stream->damage, &bundle, err);
	if (rc)
		return rc;
	rc = jp_profile_from_bundle(bundle, opts, profile, err);
	jprof_bundle_free(bundle);
	return rc;
}

/* Only what has to be is read whole. */
static int read_profile(struct jp_stream *stream, const char *path, const struct jprof_profile_opts *given,
                        struct jprof_profile **profile, struct jprof_error *err)
{
	struct jp_span head = jp_stream_head(stream), all;
	struct jprof_profile_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	opts.size = sizeof opts;
	enum jp_format format = jp_sniff(head.ptr, head.len);
	if (format != JP_FORMAT_BUNDLE && format != JP_FORMAT_PPROF)
		return read_text_profile(stream, path, &opts, profile, err);
	rc = jp_stream_whole(stream, &all, err);
	if (rc)
		return rc;
	struct jprof_profile *made = NULL;
	rc = format == JP_FORMAT_BUNDLE
	         ? parse_bundle(all, stream, &opts, &made, err)
	         : jp_profile_from_pprof(all.ptr, all.len, stream->name, &stream->damage, &opts, &made, err);
	if (!rc && jp_profile_set_input(made, stream->name)) {
		jprof_profile_free(made);
		rc = jp_error_nomem(err);
	}
	if (!rc)
		*profile = made;
	return rc;
}

int jprof_profile_parse(const void *data, size_t len, const char *name, const struct jprof_profile_opts *opts,
                        struct jprof_profile **profile, struct jprof_error *err)
{
	if (jp_null(err, profile) || (len && jp_null(err, data)))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	int rc = jp_stream_memory(&stream, data, len, name, err);
	return rc ? rc : read_profile(&stream, NULL, opts, profile, err);
}

int jprof_profile_open(const char *path, const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                       struct jprof_error *err)
{
	if (jp_null(err, path, profile))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	int rc = jp_stream_open(&stream, path, err);
	if (!rc)
		rc = read_profile(&stream, path, opts, profile, err);
	if (!rc && !(*profile)->mtime)
		(*profile)->mtime = stream.mtime;
	return rc;
}
