#include "bundle/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/jsonin.h"
#include "base/reader.h"
#include "base/strbuf.h"
#include "bundle/tar.h"
#include "input/sniff.h"
#include "input/stream.h"

enum { most_members = 512, most_files = 256, known_version = 1 };
static const char list_name[] = "bundle.json";

/* ---- bundle.json ------------------------------------------------------------------------------------ */

/* A copy that lives as long as the bundle; "" for NULL. NULL when memory is short. */
static const char *keep_text(struct jprof_bundle *b, const char *text)
{
	return text ? jp_arena_dup(&b->arena, text, strlen(text)) : "";
}

static int take_build_id_list(struct jprof_bundle *b, struct jp_bundle_member *m, jp_json *list)
{
	size_t n = jp_json_length(list);
	m->ids = jp_arena_alloc(&b->arena, (n + 1) * sizeof *m->ids);
	if (!m->ids)
		return -1;
	for (size_t i = 0; i < n; i++) {
		jp_json *from = jp_json_at(list, i);
		struct jp_bundle_id id = { jp_json_text(from, "path"), jp_json_text(from, "build_id") };
		if (!id.path || !id.build_id)
			continue;
		id = (struct jp_bundle_id){ keep_text(b, id.path), keep_text(b, id.build_id) };
		if (!id.path || !id.build_id)
			return -1;
		m->ids[m->id_count++] = id;
	}
	return 0;
}

static int take_member(struct jprof_bundle *b, struct jp_bundle_member *m, jp_json *from)
{
	m->pub = (struct jprof_bundle_member){
		.size = sizeof m->pub,
		.name = keep_text(b, jp_json_text(from, "name")),
		.pid = jp_json_number(from, "pid"),
		.start_ticks = jp_json_number(from, "start_ticks"),
		.boot_id = keep_text(b, jp_json_text(from, "boot_id")),
		.program = keep_text(b, jp_json_text(from, "program")),
		.title = keep_text(b, jp_json_text(from, "title")),
		.role = keep_text(b, jp_json_text(from, "role")),
		.label = keep_text(b, jp_json_text(from, "label")),
		.time = jp_json_seconds(from, "time"),
	};
	m->dump_mtime = jp_json_seconds(from, "dump_mtime");
	bool good = m->pub.name && m->pub.boot_id && m->pub.program && m->pub.title && m->pub.role && m->pub.label;
	return good ? take_build_id_list(b, m, jp_json_get(from, "build_ids")) : -1;
}

static int read_list(struct jprof_bundle *b, const struct jp_tar_entry *entry, struct jprof_error *err)
{
	struct jprof_json *jp_cleanup(jp_json_release) list = NULL;
	struct jprof_error why = { 0 };
	int rc = jp_json_parse(entry->data, entry->len, b->name, &list, &why);
	if (rc == JPROF_E_NOMEM)
		return jp_error_nomem(err);
	if (rc)
		return jp_error(err, rc, b->name, 0, "is no bundle: its %s %s", list_name, why.text);
	jp_json *members = jp_json_get(list, "members");
	b->info = (struct jprof_bundle_info){
		.version = jp_json_number(list, "jprof_bundle"),
		.tool = keep_text(b, jp_json_text(list, "tool")),
		.label = keep_text(b, jp_json_text(list, "label")),
		.time = jp_json_seconds(list, "time"),
	};
	if (!b->info.version)
		return jp_error(err, JPROF_E_FORMAT, b->name, 0, "is no bundle: its %s has no jprof_bundle", list_name);
	if (b->info.version > known_version)
		return jp_error(err, JPROF_E_UNSUPPORTED, b->name, 0,
		                "is a bundle of version %llu, and jprof %s knows version %d; take a newer jprof",
		                (unsigned long long)b->info.version, jprof_version(), known_version);
	size_t n = jp_json_length(members);
	if (n > most_members)
		return jp_error(err, JPROF_E_UNSUPPORTED, b->name, 0, "is a bundle of %zu members, %d at most are read",
		                n, most_members);
	b->members = calloc(n + 1, sizeof *b->members);
	if (!b->members || !b->info.tool || !b->info.label)
		return jp_error_nomem(err);
	for (; b->count < n; b->count++)
		if (take_member(b, &b->members[b->count], jp_json_at(members, b->count)))
			return jp_error_nomem(err);
	b->listed = true;
	return 0;
}

/* ---- the archive -------------------------------------------------------------------------------------- */

static int warn(struct jprof_bundle *b, const char *what)
{
	if (!b->warning.code)
		jp_error(&b->warning, JPROF_E_FORMAT, b->name, 0, "%s; what is whole is used", what);
	return 0;
}

/* The member in whose directory a path lies; *file is what follows. Paths of any other form are nothing to us. */
static struct jp_bundle_member *member_of(struct jprof_bundle *b, const char *path, const char **file)
{
	const char *slash = strchr(path, '/');
	if (!slash || !slash[1] || strchr(slash + 1, '/'))
		return NULL;
	*file = slash + 1;
	for (size_t i = 0; i < b->count; i++) {
		const char *name = b->members[i].pub.name;
		if (strlen(name) == (size_t)(slash - path) && !strncmp(name, path, (size_t)(slash - path)))
			return &b->members[i];
	}
	return NULL;
}

/* Of two files of one name the last counts, as for tar. */
static int add_member_file(struct jprof_bundle *b, struct jp_bundle_member *m, const char *name,
                           const struct jp_tar_entry *entry)
{
	const struct jp_bundle_file *found = jp_bundle_file(m, name);
	struct jp_bundle_file *known = found ? &m->files[found - m->files] : NULL;
	if (!known && m->file_count == most_files)
		return 0;
	if (!known) {
		const char *own = keep_text(b, name);
		if (!own || jp_array_push(m->files, m->file_count, m->file_cap))
			return -1;
		known = &m->files[m->file_count++];
		*known = (struct jp_bundle_file){ .name = own };
	}
	known->data = b->archive.text + (entry->data - b->archive.text);
	known->len = entry->len;
	return 0;
}

static int take_entry(struct jprof_bundle *b, const struct jp_tar_entry *entry, struct jprof_error *err)
{
	const char *path = entry->path, *file;
	if (!entry->file)
		return 0;
	path += strncmp(path, "./", 2) ? 0 : 2;
	bool list = !b->listed && !strcmp(path, list_name);
	struct jp_bundle_member *member = list ? NULL : member_of(b, path, &file);
	if (!list && !member)
		return 0;
	if (entry->cut)
		return warn(b, "is cut: a file in it ends too early");
	if (list)
		return read_list(b, entry, err);
	return add_member_file(b, member, file, entry) ? jp_error_nomem(err) : 0;
}

static int read_entries(struct jprof_bundle *b, struct jprof_error *err)
{
	struct jp_tar tar = { .data = b->archive.text, .len = b->archive.len };
	struct jp_tar_entry entry;
	for (;;) {
		enum jp_tar_result result = jp_tar_next(&tar, &entry);
		if (result == JP_TAR_END)
			return 0;
		if (result == JP_TAR_DAMAGED)
			return warn(b, "the archive is cut or damaged");
		int rc = take_entry(b, &entry, err);
		if (rc)
			return rc;
	}
}

/* Behind a file's bytes lie its padding, a header that was read, or the end: a NUL fits there. */
static void end_files(struct jprof_bundle *b)
{
	for (size_t i = 0; i < b->count; i++)
		for (size_t k = 0; k < b->members[i].file_count; k++)
			b->members[i].files[k].data[b->members[i].files[k].len] = '\0';
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

/* Whether a member has a file of that name. */
static bool any_has(const struct jprof_bundle *b, const char *file)
{
	size_t i = 0;
	while (i < b->count && !jp_bundle_file(&b->members[i], file))
		i++;
	return i < b->count;
}

/* Among others a member without a dump is of no use. */
static void drop_empty(struct jprof_bundle *b)
{
	size_t kept = 0;
	for (size_t i = 0; i < b->count; i++) {
		if (jp_bundle_file(&b->members[i], "dump.heap"))
			b->members[kept++] = b->members[i];
		else
			free(b->members[i].files);
	}
	size_t len = strlen(b->warning.text);
	if (kept < b->count && b->warning.code)
		snprintf(b->warning.text + len, sizeof b->warning.text - len, ": %zu of %zu members", kept, b->count);
	else if (kept < b->count)
		jp_error(&b->warning, JPROF_E_FORMAT, b->name, 0, "%zu of its %zu members have no dump",
		         b->count - kept, b->count);
	b->count = kept;
}

static int conclude_bundle(struct jprof_bundle *b, enum jp_bundle_needs needs, struct jprof_error *err)
{
	if (!b->listed)
		return jp_error(err, JPROF_E_FORMAT, b->name, 0,
		                "is cut or damaged before its list of members ends; copy it again");
	bool will_do = needs == JP_NEEDS_NO_DUMP || (needs == JP_NEEDS_DUMP_OR_GRAPH && any_has(b, "graph"));
	if (will_do && b->count && !any_has(b, "dump.heap"))
		return 0;
	if (any_has(b, "heap.json") && !any_has(b, "dump.heap"))
		return jp_advise(err, JPROF_ADVICE_DUMPLESS,
		                 jp_error(err, JPROF_E_FORMAT, b->name, 0,
		                          "was read from outside of its processes, and has no profile"));
	drop_empty(b);
	if (b->count)
		return 0;
	return jp_error(err, JPROF_E_FORMAT, b->name, 0, "%s",
	                b->warning.code ? "is cut or damaged before its first dump ends; copy it again"
	                                : "is a bundle without a dump");
}

static int read_bundled(struct jprof_bundle *b, struct jp_stream *stream, enum jp_bundle_needs needs,
                        struct jprof_error *err)
{
	int rc = jp_stream_take(stream, &b->archive, err);
	if (!rc && stream->damage.code)
		warn(b, stream->damage.text);
	rc = rc ? rc : read_entries(b, err);
	end_files(b);
	return rc ? rc : conclude_bundle(b, needs, err);
}

/* What cannot be a bundle is not read on. */
int jp_bundle_read(struct jp_stream *stream, enum jp_bundle_needs needs, struct jprof_bundle **bundle,
                   struct jprof_error *err)
{
	struct jp_span head = jp_stream_head(stream);
	if (stream->damage.code && head.len < jp_tar_block)
		return jp_error(err, JPROF_E_FORMAT, stream->name, 0, "%s; copy it again", stream->damage.text);
	if (!jp_is_bundle(head.ptr, head.len))
		return jp_error(err, JPROF_E_FORMAT, stream->name, 0, "%s",
		                jp_is_tar(head.ptr, head.len)
		                    ? "is a tar archive, but no bundle of jprof, which begins with bundle.json"
		                    : "is no bundle");
	struct jprof_bundle *b = calloc(1, sizeof *b);
	int rc = b && (b->name = strdup(stream->name)) ? 0 : jp_error_nomem(err);
	rc = rc ? rc : read_bundled(b, stream, needs, err);
	if (rc)
		jprof_bundle_free(b);
	else
		*bundle = b;
	return rc;
}

int jprof_bundle_parse(const void *data, size_t len, const char *name, struct jprof_bundle **bundle,
                       struct jprof_error *err)
{
	if (jp_null(err, bundle) || (len && jp_null(err, data)))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	int rc = jp_stream_memory(&stream, data, len, name, err);
	return rc ? rc : jp_bundle_read(&stream, JP_NEEDS_DUMP_OR_GRAPH, bundle, err);
}

int jprof_bundle_open(const char *path, struct jprof_bundle **bundle, struct jprof_error *err)
{
	if (jp_null(err, path, bundle))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	int rc = jp_stream_open(&stream, path, err);
	return rc ? rc : jp_bundle_read(&stream, JP_NEEDS_DUMP_OR_GRAPH, bundle, err);
}

const struct jprof_bundle_info *jprof_bundle_info(const struct jprof_bundle *bundle)
{
	return bundle ? &bundle->info : NULL;
}

size_t jprof_bundle_count(const struct jprof_bundle *bundle)
{
	return bundle ? bundle->count : 0;
}

const struct jprof_bundle_member *jprof_bundle_member(const struct jprof_bundle *bundle, size_t i)
{
	return bundle && i < bundle->count ? &bundle->members[i].pub : NULL;
}

/* What `wanted` may be, best first: a pid may be another member's name. */
enum match { BY_NAME, BY_PID, BY_ROLE, MATCHES };

static bool is_member_wanted(const struct jprof_bundle_member *m, const char *wanted, enum match how)
{
	char pid[32];
	snprintf(pid, sizeof pid, "%llu", (unsigned long long)m->pid);
	return !strcmp(wanted, how == BY_NAME ? m->name : how == BY_PID ? pid : m->role);
}

static size_t find_next(const struct jprof_bundle *b, const char *wanted, enum match how, size_t from)
{
	while (from < b->count && !is_member_wanted(&b->members[from].pub, wanted, how))
		from++;
	return from;
}

size_t jprof_bundle_find(const struct jprof_bundle *bundle, const char *wanted, size_t from)
{
	if (!bundle || from > bundle->count)
		return jprof_bundle_count(bundle);
	if (!wanted)
		return from;
	for (enum match how = BY_NAME; how < MATCHES; how++)
		if (find_next(bundle, wanted, how, 0) < bundle->count)
			return find_next(bundle, wanted, how, from);
	return bundle->count;
}

const struct jp_bundle_file *jp_bundle_file(const struct jp_bundle_member *member, const char *name)
{
	for (size_t i = 0; i < member->file_count; i++)
		if (!strcmp(member->files[i].name, name))
			return &member->files[i];
	return NULL;
}

const void *jprof_bundle_file(const struct jprof_bundle *bundle, size_t i, const char *name, size_t *len)
{
	bool known = bundle && name && i < bundle->count;
	const struct jp_bundle_file *file = known ? jp_bundle_file(&bundle->members[i], name) : NULL;
	if (file && len)
		*len = file->len;
	return file ? file->data : NULL;
}

const struct jprof_error *jprof_bundle_warning(const struct jprof_bundle *bundle)
{
	return bundle && bundle->warning.code ? &bundle->warning : NULL;
}

void jprof_bundle_free(struct jprof_bundle *bundle)
{
	if (!bundle)
		return;
	for (size_t i = 0; i < bundle->count; i++)
		free(bundle->members[i].files);
	free(bundle->members);
	jp_strbuf_release(&bundle->archive);
	jp_arena_release(&bundle->arena);
	free(bundle->name);
	free(bundle);
}
