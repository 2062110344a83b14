/* A profile of any file: which format it is decides who reads it. */
#include <stdlib.h>
#include <string.h>

#include "base/bytesource.h"
#include "base/error.h"
#include "base/file.h"
#include "base/jsonin.h"
#include "base/opts.h"
#include "base/strbuf.h"
#include "bundle/bundle.h"
#include "input/dumpopen.h"
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

/* Whether what is at `name`, DUMP.json, says that it is of DUMP. */
static bool is_sidecar_of(const struct jp_strbuf *text, const char *name)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = NULL;
	if (!text->len || jp_json_parse(text->text, text->len, "", &json, NULL))
		return false;
	const char *dump = jp_json_text(json, "dump"), *base = jp_basename(name);
	if (!dump || !jp_json_number(json, "jprof_agent"))
		return false;
	dump = jp_basename(dump);
	size_t len = strlen(dump);
	return !strncmp(base, dump, len) && !strcmp(base + len, ".json");
}

/* 1: there is none with this name, which is freed. */
static int read_sidecar_at(char *name, struct jp_strbuf *text, struct jprof_error *err)
{
	struct stat st;
	int fd = jp_file_open_untrusted((struct jp_root){ 0 }, name, &st);
	int rc = fd < 0 ? 1 : read_sidecar(fd, name, text, err);
	if (!rc && !is_sidecar_of(text, name))
		text->len = 0;
	free(name);
	return rc;
}

/* The side-car beside a dump; nothing: there is none. */
static int find_sidecar(const char *path, struct jp_strbuf *text, struct jprof_error *err)
{
	char *name;
	for (size_t at = 0; jp_name_beside(path, ".json", &at, &name);) {
		int rc = name ? read_sidecar_at(name, text, err) : jp_error_nomem(err);
		if (rc != 1)
			return rc;
	}
	return 0;
}

int jprof_profile_find_sidecar(struct jprof_profile *profile, const char *path, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	if (jp_null(err, profile, path))
		return JPROF_E_ARGUMENT;
	int rc = find_sidecar(path, &text, err);
	return rc || !text.len ? rc : jprof_profile_sidecar(profile, text.text, text.len, err);
}

/* ---- formats ---------------------------------------------------------------------------------------------- */

/* A bundle or a profile.proto, whose tables are at the end. */
static int read_whole_profile(struct jp_stream *stream, bool bundled, const struct jprof_profile_opts *opts,
                              struct jprof_profile **profile, struct jprof_error *err)
{
	struct jprof_profile *made = NULL;
	struct jprof_bundle *bundle = NULL;
	struct jp_span all;
	int rc = bundled ? jp_bundle_read(stream, opts->dumpless ? JP_NEEDS_NO_DUMP : JP_NEEDS_DUMP, &bundle, err)
	                 : jp_stream_whole(stream, &all, err);
	if (rc)
		return rc;
	rc = bundled ? jp_profile_from_bundle(bundle, opts, &made, err)
	             : jp_profile_from_pprof(all.ptr, all.len, stream->name, &stream->damage, opts, &made, err);
	jprof_bundle_free(bundle);
	if (!rc && jp_profile_set_input(made, stream->name)) {
		jprof_profile_free(made);
		rc = jp_error_nomem(err);
	}
	if (!rc)
		*profile = made;
	return rc;
}

/* With a dump counts the table that the caller gives, else the one beside the file `path`; NULL: no file. */
static int read_profile(struct jp_stream *stream, const char *path, const struct jprof_profile_opts *given,
                        struct jprof_profile **profile, struct jprof_error *err)
{
	struct jp_table_text jp_cleanup(jp_table_text_release) table = { 0 };
	struct jp_span head = jp_stream_head(stream);
	enum jp_format format = jp_sniff(head.ptr, head.len);
	struct jprof_profile_opts opts;
	struct jprof_profile *made = NULL;
	struct jprof_dump *dump;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	opts.size = sizeof opts;
	if (format == JP_FORMAT_BUNDLE || format == JP_FORMAT_PPROF)
		return read_whole_profile(stream, format == JP_FORMAT_BUNDLE, &opts, profile, err);
	if (opts.table)
		table = (struct jp_table_text){ .bytes = { opts.table, opts.table_len }, .name = stream->name };
	else if (path)
		rc = jp_tablefile_find(path, &table, err);
	if (!rc)
		rc = jp_dump_read(stream, &table, &dump, err);
	if (rc)
		return rc;
	rc = jp_profile_from_dump(dump, dump, &opts, &made, err);
	if (!rc && jp_note_warnings(made, dump, &opts))
		rc = jp_error_nomem(err);
	jprof_dump_free(dump);
	if (!rc && path && strcmp(path, "-"))
		rc = jprof_profile_find_sidecar(made, path, err);
	if (rc)
		jprof_profile_free(made);
	else
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

/* ---- when it was made -------------------------------------------------------------------------------------- */

/* In thousandths; 0: it does not tell. */
static int64_t time_of_sidecar(const void *text, size_t len)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = NULL;
	if (!len || jp_json_parse(text, len, "", &json, NULL))
		return 0;
	double seconds = jprof_json_number(jp_json_get(json, "time"));
	return seconds >= 1 && seconds < 0x1p40 ? (int64_t)(seconds * 1000) : 0;
}

/* In thousandths; 0: it does not tell. */
static int64_t time_of_member(const struct jp_bundle_member *m, const struct jp_bundle_file *agent)
{
	int64_t time = agent ? time_of_sidecar(agent->data, agent->len) : 0;
	return time ? time : (m->pub.time ? m->pub.time : m->dump_mtime) * 1000;
}

static void made_of_bundle(const struct jprof_bundle *bundle, struct jprof_made *made)
{
	for (size_t i = 0; i < bundle->count; i++) {
		const struct jp_bundle_member *m = &bundle->members[i];
		int64_t time = time_of_member(m, jp_bundle_file(m, "agent.json"));
		if (!time) {
			*made = (struct jprof_made){ 0 };
			return;
		}
		made->first = !i || time < made->first ? time : made->first;
		made->last = time > made->last ? time : made->last;
	}
}

/* True if what is held of a bundle has the side-car of each member, and no dump: then its times are known. */
static bool made_of_head(const struct jp_stream *stream, struct jprof_made *made)
{
	struct jp_stream jp_cleanup(jp_stream_release) head;
	struct jp_span held = jp_stream_head(stream);
	struct jprof_bundle *bundle = NULL;
	if (jp_stream_memory(&head, held.ptr, held.len, stream->name, NULL) ||
	    jp_bundle_read(&head, JP_NEEDS_NO_DUMP, &bundle, NULL))
		return false;
	bool told = true;
	for (size_t i = 0; told && i < bundle->count; i++)
		told = jp_bundle_file(&bundle->members[i], "agent.json") &&
		       !jp_bundle_file(&bundle->members[i], "dump.heap");
	if (told)
		made_of_bundle(bundle, made);
	jprof_bundle_free(bundle);
	return told && made->first;
}

/* A member's side-car lies before its dump, so that the beginning is enough for a bundle of one. */
static int made_of_stream(struct jp_stream *stream, struct jprof_made *made, struct jprof_error *err)
{
	static const size_t enough = 1 << 20;
	struct jprof_bundle *bundle = NULL;
	jp_window_fill(&stream->window, enough);
	if (jp_stream_head(stream).len >= enough && made_of_head(stream, made))
		return 0;
	int rc = jp_bundle_read(stream, JP_NEEDS_NO_DUMP, &bundle, err);
	if (!rc)
		made_of_bundle(bundle, made);
	jprof_bundle_free(bundle);
	return rc;
}

int jprof_made_open(const char *path, struct jprof_made *made, struct jprof_error *err)
{
	if (jp_null(err, path, made))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	*made = (struct jprof_made){ 0 };
	int rc = jp_stream_open(&stream, path, err);
	if (rc)
		return rc;
	struct jp_span head = jp_stream_head(&stream);
	if (jp_sniff(head.ptr, head.len) == JP_FORMAT_BUNDLE)
		return made_of_stream(&stream, made, err);
	rc = find_sidecar(path, &text, err);
	if (!rc)
		made->first = made->last = time_of_sidecar(text.text, text.len);
	return rc;
}
