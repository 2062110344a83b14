/* A profile of any file: which format it is decides who reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytesource.h"
#include "base/error.h"
#include "base/file.h"
#include "base/jsonin.h"
#include "base/opts.h"
#include "base/strbuf.h"
#include "bundle/bundle.h"
#include "input/sniff.h"
#include "input/stream.h"
#include "input/tablefile.h"
#include "model/build.h"

/* ---- the sidecar ------------------------------------------------------------------------------------------ */

static int read_sidecar(int fd, const char *name, struct jp_strbuf *text, struct jprof_error *err)
{
	enum { limit = 16 << 20 };
	struct jp_window jp_cleanup(jp_window_release) window = { .source = jp_bytesource_file(fd, name) };
	if (!window.source)
		return jp_error_nomem(err);
	jp_window_fill(&window, limit);
	if (!window.rc)
		jp_strbuf_add(text, window.text ? window.text + window.at : "", window.len - window.at);
	return window.rc == JPROF_E_NOMEM || text->failed ? jp_error_nomem(err) : 0;
}

/* Whether it says that it is of the dump with this path. */
static bool is_sidecar_of(const struct jp_strbuf *text, const char *path)
{
	struct json_object *jp_cleanup(jp_json_release) json = NULL;
	if (!text->len || jp_json_parse(text->text, text->len, "", &json, NULL))
		return false;
	const char *dump = jp_json_text(json, "dump");
	return dump && jp_json_number(json, "jprof_agent") && !strcmp(jp_basename(dump), jp_basename(path));
}

int jprof_profile_find_sidecar(struct jprof_profile *profile, const char *path, struct jprof_error *err)
{
	if (jp_null(err, profile, path))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct stat st;
	char *name;
	if (asprintf(&name, "%s.json", path) < 0)
		return jp_error_nomem(err);
	int fd = jp_file_open_untrusted((struct jp_root){ 0 }, name, &st);
	int rc = fd < 0 ? 0 : read_sidecar(fd, name, &text, err);
	if (!rc && is_sidecar_of(&text, path))
		rc = jprof_profile_sidecar(profile, text.text, text.len, err);
	free(name);
	return rc;
}

/* ---- formats ---------------------------------------------------------------------------------------------- */

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
	struct jprof_profile *made = NULL;
	rc = jp_profile_from_dump(dump, opts, &made, err);
	jprof_dump_free(dump);
	if (!rc && path && strcmp(path, "-"))
		rc = jprof_profile_find_sidecar(made, path, err);
	if (rc)
		jprof_profile_free(made);
	else
		*profile = made;
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
		(*profile)->mtime = (*profile)->first_mtime = stream.mtime;
	return rc;
}
