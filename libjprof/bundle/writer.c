/* Writing bundles: docs/internals/bundle.md. bundle.json comes first in the file and is known last, so what comes after
 * it is a compressed stream of its own, kept until the end. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/intern.h"
#include "base/jsonin.h"
#include "base/jsonout.h"
#include "base/opts.h"
#include "bundle/pack.h"
#include "bundle/symbol_files.h"
#include "model/profile.h"

enum { longest_name = 64, copy_piece = 1 << 16, version = 1 };

/* What may stand open in a member until its first file is there. */
struct head {
	char *name, *boot_id, *program, *title, *role, *label;
	uint64_t pid, start_ticks;
	int64_t time, dump_mtime;
};

struct jprof_bundle_writer {
	struct jprof_bundle_writer_opts opts;
	char *label;
	jprof_write_fn *write;
	void *context;
	struct jp_pack *pack;       /* NULL: nothing can be added any more */
	struct jp_strbuf body;      /* the members, compressed */
	struct jp_strbuf list;      /* the members' objects in bundle.json */
	struct jp_strbuf build_ids; /* of the current member, likewise */
	struct jp_intern names;     /* of members */
	struct jp_intern files;     /* of the current member */
	struct head head;
	char name[longest_name + 1]; /* of the current member, in the file; "" until its first file */
	bool begun;                  /* there is a current member */
};

static int check_open(const struct jprof_bundle_writer *w, struct jprof_error *err)
{
	return w->pack ? 0
	               : jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
	                          "the bundle is finished, or adding to it has failed: only free the writer");
}

/* ---- members ------------------------------------------------------------------------------------ */

static void release_head(struct head *head)
{
	char *texts[] = { head->name, head->boot_id, head->program, head->title, head->role, head->label };
	for (size_t i = 0; i < jp_count(texts); i++)
		free(texts[i]);
	*head = (struct head){ 0 };
}

static bool copy(char **to, const char *from)
{
	if (*to || !from)
		return true;
	*to = strdup(from);
	return *to;
}

/* Takes what is not known yet. */
static bool fill_head(struct head *head, const struct jprof_bundle_member *from)
{
	head->pid = head->pid ? head->pid : from->pid;
	head->start_ticks = head->start_ticks ? head->start_ticks : from->start_ticks;
	head->time = head->time ? head->time : from->time;
	return copy(&head->name, from->name) && copy(&head->boot_id, from->boot_id) &&
	       copy(&head->program, from->program) && copy(&head->title, from->title) &&
	       copy(&head->role, from->role) && copy(&head->label, from->label);
}

/* Its path: `program` may be the short name, and the first object is the main program. */
static const char *title_program(jp_json *agent)
{
	const char *program = jp_json_text(agent, "program");
	const char *first = jp_json_text(jp_json_at(jp_json_get(agent, "objects"), 0), "path");
	return first && (!program || !strchr(program, '/')) ? first : program;
}

/* A side-car that is no JSON is kept all the same, and tells nothing. */
static int fill_from_agent(struct head *head, const void *data, size_t len, struct jprof_error *err)
{
	struct jprof_json *jp_cleanup(jp_json_release) agent = NULL;
	int rc = jp_json_parse(data, len, "agent.json", &agent, NULL);
	if (rc)
		return rc == JPROF_E_NOMEM ? jp_error_nomem(err) : 0;
	struct jprof_bundle_member m = {
		.pid = jp_json_number(agent, "pid"),
		.start_ticks = jp_json_number(agent, "start_ticks"),
		.boot_id = jp_json_text(agent, "boot_id"),
		.program = title_program(agent),
		.label = jp_json_text(agent, "label"),
		.time = jp_json_seconds(agent, "time"),
	};
	return fill_head(head, &m) ? 0 : jp_error_nomem(err);
}

/* A part of a path in the archive that no tool can misunderstand. */
static bool is_member_name(const char *name)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < len; i++)
		if (!isascii((unsigned char)name[i]) || (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i])))
			return false;
	return len && len <= longest_name && *name != '.' && *name != '-';
}

/* The name asked for, or the pid; with a number behind it if another member has it. */
static int choose_name(struct jprof_bundle_writer *w, struct jprof_error *err)
{
	char base[longest_name - 8];
	if (w->head.name && is_member_name(w->head.name))
		snprintf(base, sizeof base, "%s", w->head.name);
	else if (w->head.pid)
		snprintf(base, sizeof base, "%llu", (unsigned long long)w->head.pid);
	else
		snprintf(base, sizeof base, "dump");
	snprintf(w->name, sizeof w->name, "%s", base);
	for (unsigned n = 2; jp_intern_find(&w->names, w->name, strlen(w->name)) != JP_NONE; n++)
		snprintf(w->name, sizeof w->name, "%s-%u", base, n);
	return jp_intern_str(&w->names, w->name) == JP_NONE ? jp_error_nomem(err) : 0;
}

static void put_member_text(struct jp_strbuf *out, const char *key, const char *text)
{
	jp_strbuf_printf(out, ", \"%s\": ", key);
	jp_json_put_text(out, text && *text ? text : NULL);
}

static void put_member_number(struct jp_strbuf *out, const char *key, uint64_t number)
{
	if (number)
		jp_strbuf_printf(out, ", \"%s\": %llu", key, (unsigned long long)number);
	else
		jp_strbuf_printf(out, ", \"%s\": null", key);
}

static void forget_member(struct jprof_bundle_writer *w)
{
	jp_strbuf_cut(&w->build_ids, 0);
	jp_intern_release(&w->files);
	release_head(&w->head);
	*w->name = '\0';
	w->begun = false;
}

/* The current member is complete: its line in bundle.json. One without a file is none. */
static int end_member(struct jprof_bundle_writer *w, struct jprof_error *err)
{
	const struct head *h = &w->head;
	if (!w->begun || !*w->name) {
		forget_member(w);
		return 0;
	}
	jp_strbuf_printf(&w->list, "%s{\"name\": \"%s\"", w->list.len ? ",\n    " : "", w->name);
	put_member_number(&w->list, "pid", h->pid);
	put_member_number(&w->list, "start_ticks", h->start_ticks);
	put_member_text(&w->list, "boot_id", h->boot_id);
	put_member_text(&w->list, "program", h->program);
	put_member_text(&w->list, "title", h->title);
	jp_strbuf_str(&w->list, ", \"role\": ");
	jp_json_put_text(&w->list, h->role ? h->role : "");
	put_member_text(&w->list, "label", h->label);
	put_member_number(&w->list, "time", h->time > 0 ? (uint64_t)h->time : 0);
	put_member_number(&w->list, "dump_mtime", h->dump_mtime > 0 ? (uint64_t)h->dump_mtime : 0);
	jp_strbuf_str(&w->list, ", \"build_ids\": [");
	jp_strbuf_add(&w->list, w->build_ids.text, w->build_ids.len);
	jp_strbuf_str(&w->list, "]}");
	forget_member(w);
	return w->list.failed || w->build_ids.failed ? jp_error_nomem(err) : 0;
}

int jprof_bundle_writer_member(struct jprof_bundle_writer *w, const struct jprof_bundle_member *given,
                               struct jprof_error *err)
{
	if (jp_null(err, w))
		return JPROF_E_ARGUMENT;
	struct jprof_bundle_member member;
	int rc = check_open(w, err);
	if (!rc)
		rc = jp_opts_take(&member, sizeof member, given, err);
	if (!rc)
		rc = end_member(w, err);
	if (rc)
		return rc;
	w->begun = true;
	return fill_head(&w->head, &member) ? 0 : jp_error_nomem(err);
}

/* ---- files ---------------------------------------------------------------------------------------- */

static int begin_file(struct jprof_bundle_writer *w, const char *file, uint64_t size, struct jprof_error *err)
{
	char path[2 * (longest_name + 1)];
	if (check_open(w, err))
		return JPROF_E_ARGUMENT;
	if (!w->begun || !is_member_name(file))
		return jp_error(err, JPROF_E_ARGUMENT, file, 0, "%s",
		                w->begun ? "is no name for a file in a bundle: 1 to 64 of A-Za-z0-9._-"
		                         : "a member of the bundle must be begun first");
	if (jp_intern_find(&w->files, file, strlen(file)) != JP_NONE)
		return jp_error(err, JPROF_E_ARGUMENT, file, 0, "the member has such a file already");
	int rc = *w->name ? 0 : choose_name(w, err);
	if (rc)
		return rc;
	if (jp_intern_str(&w->files, file) == JP_NONE)
		return jp_error_nomem(err);
	snprintf(path, sizeof path, "%s/%s", w->name, file);
	if (strlen(path) >= 100)
		return jp_error(err, JPROF_E_ARGUMENT, path, 0, "is too long for a name in a bundle");
	return jp_pack_header(w->pack, path, size, err);
}

/* Where the file is not whole the archive is none any more. */
static int end_file(struct jprof_bundle_writer *w, uint64_t size, int rc, struct jprof_error *err)
{
	if (!rc)
		rc = jp_pack_pad(w->pack, size, err);
	if (rc) {
		jp_pack_drop(w->pack);
		w->pack = NULL;
	}
	return rc;
}

int jprof_bundle_writer_file(struct jprof_bundle_writer *w, const char *file, const void *data, size_t len,
                             struct jprof_error *err)
{
	if (jp_null(err, w, file) || (len && jp_null(err, data)))
		return JPROF_E_ARGUMENT;
	int rc = 0;
	if (w->begun && !*w->name && !strcmp(file, "agent.json"))
		rc = fill_from_agent(&w->head, data, len, err);
	if (!rc)
		rc = begin_file(w, file, len, err);
	return rc ? rc : end_file(w, len, jp_pack_put(w->pack, data, len, err), err);
}

/* At most `len` bytes; *got is 0 at the end. */
static int read_some(int fd, const char *file, char *to, size_t len, size_t *got, struct jprof_error *err)
{
	ssize_t n;
	do
		n = read(fd, to, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return jp_error(err, JPROF_E_IO, file, 0, "cannot be read: %s", strerror(errno));
	*got = (size_t)n;
	return 0;
}

static int read_descriptor(struct jprof_bundle_writer *w, const char *file, int fd, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) all = { 0 };
	char chunk[copy_piece];
	size_t n = 0;
	int rc;
	while (!(rc = read_some(fd, file, chunk, sizeof chunk, &n, err)) && n) {
		jp_strbuf_add(&all, chunk, n);
		if (all.failed)
			return jp_error_nomem(err);
	}
	return rc ? rc : jprof_bundle_writer_file(w, file, all.text, all.len, err);
}

/* The header has told the length: a file that grows is cut there, one that shrinks is an error. */
static int read_through(struct jprof_bundle_writer *w, const char *file, int fd, uint64_t size, struct jprof_error *err)
{
	char chunk[copy_piece];
	int rc = begin_file(w, file, size, err);
	if (rc)
		return rc;
	for (uint64_t left = size; !rc && left;) {
		size_t n = 0;
		rc = read_some(fd, file, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk, &n, err);
		if (!rc && !n)
			rc = jp_error(err, JPROF_E_IO, file, 0, "became shorter while it was read; try again");
		if (!rc)
			rc = jp_pack_put(w->pack, chunk, n, err);
		left -= n;
	}
	return end_file(w, size, rc, err);
}

int jprof_bundle_writer_fd(struct jprof_bundle_writer *w, const char *file, int fd, struct jprof_error *err)
{
	if (jp_null(err, w, file))
		return JPROF_E_ARGUMENT;
	struct stat st;
	if (fstat(fd, &st))
		return jp_error(err, JPROF_E_IO, file, 0, "cannot be read: %s", strerror(errno));
	if (S_ISREG(st.st_mode) && !strcmp(file, "dump.heap"))
		w->head.dump_mtime = st.st_mtime;
	off_t at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(fd, 0, SEEK_CUR) : -1;
	if (at < 0 || at >= st.st_size || !strcmp(file, "agent.json"))
		return read_descriptor(w, file, fd, err);
	return read_through(w, file, fd, (uint64_t)(st.st_size - at), err);
}

int jprof_bundle_writer_symbols(struct jprof_bundle_writer *w, const struct jprof_profile *profile, bool names,
                                struct jprof_error *err)
{
	if (jp_null(err, w, profile))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) proto = { 0 }, jp_cleanup(jp_strbuf_release) rest = { 0 };
	if (!profile->named)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "the profile has no names to be put in a bundle: call jprof_profile_symbolize first");
	if (profile->lean)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s", jp_too_lean);
	jp_symbols_build_ids(profile, &w->build_ids);
	int rc = w->build_ids.failed ? jp_error_nomem(err) : 0;
	if (rc || !names)
		return rc;
	rc = jp_symbols_render(profile, &proto, &rest, err);
	if (!rc)
		rc = jprof_bundle_writer_file(w, "symbols.pb.gz", proto.text, proto.len, err);
	return rc ? rc : jprof_bundle_writer_file(w, "symbols.json", rest.text, rest.len, err);
}

/* ---- the whole -------------------------------------------------------------------------------------- */

int jprof_bundle_writer_new(const struct jprof_bundle_writer_opts *given, jprof_write_fn *write, void *context,
                            struct jprof_bundle_writer **out, struct jprof_error *err)
{
	if (jp_null(err, out) || (!write && jp_null(err, NULL)))
		return JPROF_E_ARGUMENT;
	struct jprof_bundle_writer *w = calloc(1, sizeof *w);
	if (!w)
		return jp_error_nomem(err);
	w->write = write;
	w->context = context;
	int rc = jp_opts_take(&w->opts, sizeof w->opts, given, err);
	if (!rc && !copy(&w->label, w->opts.label))
		rc = jp_error_nomem(err);
	if (!rc)
		rc = jp_pack_open(w->opts.compression, &w->body, &w->pack, err);
	if (rc)
		jprof_bundle_writer_free(w);
	else
		*out = w;
	return rc;
}

/* bundle.json as a stream of its own. */
static int pack_list(struct jprof_bundle_writer *w, struct jp_strbuf *out, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) json = { 0 };
	struct jp_pack *pack;
	jp_strbuf_printf(&json, "{\"jprof_bundle\": %d, \"tool\": \"jprof %s\"", version, jprof_version());
	put_member_text(&json, "label", w->label);
	put_member_number(&json, "time", w->opts.time > 0 ? (uint64_t)w->opts.time : 0);
	jp_strbuf_str(&json, ",\n  \"members\": [\n    ");
	jp_strbuf_add(&json, w->list.text, w->list.len);
	jp_strbuf_str(&json, "]}\n");
	if (json.failed)
		return jp_error_nomem(err);
	int rc = jp_pack_open(w->opts.compression, out, &pack, err);
	if (rc)
		return rc;
	rc = jp_pack_header(pack, "bundle.json", json.len, err);
	if (!rc)
		rc = jp_pack_put(pack, json.text, json.len, err);
	if (!rc)
		rc = jp_pack_pad(pack, json.len, err);
	if (!rc)
		return jp_pack_close(pack, err);
	jp_pack_drop(pack);
	return rc;
}

static int end_body(struct jprof_bundle_writer *w, struct jprof_error *err)
{
	struct jp_pack *pack = w->pack;
	int rc = jp_pack_end(pack, err);
	w->pack = NULL;
	if (!rc)
		return jp_pack_close(pack, err);
	jp_pack_drop(pack);
	return rc;
}

int jprof_bundle_writer_finish(struct jprof_bundle_writer *w, struct jprof_error *err)
{
	if (jp_null(err, w))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) head = { 0 };
	int rc = check_open(w, err);
	if (!rc)
		rc = end_member(w, err);
	if (!rc && !w->names.count)
		rc = jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "a bundle without members is none");
	if (!rc)
		rc = end_body(w, err);
	if (!rc)
		rc = pack_list(w, &head, err);
	if (!rc && (w->write(w->context, head.text, head.len) || w->write(w->context, w->body.text, w->body.len)))
		rc = jp_error(err, JPROF_E_WRITE, NULL, 0, "the bundle cannot be written");
	return rc;
}

void jprof_bundle_writer_free(struct jprof_bundle_writer *w)
{
	if (!w)
		return;
	jp_pack_drop(w->pack);
	jp_strbuf_release(&w->body);
	jp_strbuf_release(&w->list);
	jp_strbuf_release(&w->build_ids);
	jp_intern_release(&w->names);
	jp_intern_release(&w->files);
	release_head(&w->head);
	free(w->label);
	free(w);
}
