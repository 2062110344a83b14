#include "ops/findfile.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "input/callsite.h"
#include "model/code.h"

/* A search under way. */
struct search {
	struct jprof_profile *profile;
	uint32_t object;
	const struct jp_sites *sites;
	const struct jprof_symbolize_opts *opts;
	struct jp_found *found;
	struct jp_unread *unread; /* NULL: nobody asks */
	bool failed;              /* memory was short */
};

static struct jp_root host_root(const struct search *s)
{
	return (struct jp_root){ .notice = s->opts->notice, .unread = s->unread };
}

static struct jp_root given_sysroot(const struct search *s)
{
	struct jp_root root = host_root(s);
	root.path = s->opts->sysroot;
	root.opener = s->opts->opener;
	return root;
}

/* ---- evidence --------------------------------------------------------------------------------------- */

/* Whether the file was changed after the first dump was made, in any way. Where it is not known when that was, it may
 * have been. */
static bool is_changed_since(const struct jprof_profile *p, const struct stat *st)
{
	return !p->first_mtime || st->st_ctime > p->first_mtime;
}

static bool is_same_inode(const struct jp_object *object, const struct stat *st)
{
	return object->inode && object->inode == st->st_ino && object->dev_major == major(st->st_dev) &&
	       object->dev_minor == minor(st->st_dev);
}

/* Mappings of one file that follow each other in memory and in the file count as one: mprotect splits them. */
static size_t run_of(const struct jprof_profile *p, size_t i, struct jprof_map *whole)
{
	*whole = p->mappings[i].map;
	size_t next = i + 1;
	for (; next < p->mapping_count; next++) {
		const struct jp_mapping *m = &p->mappings[next];
		if (m->object != p->mappings[i].object || !m->map.executable || m->map.start != whole->limit ||
		    m->map.offset != whole->offset + (whole->limit - whole->start))
			break;
		whole->limit = m->map.limit;
	}
	return next;
}

/* Whether the mappings with the distance of `piece` from their offsets reach from the beginning of a segment to its
 * end: the program may have mapped something else over pages between. */
static bool is_whole_with_holes(const struct search *s, const struct jp_objfile *file, const struct jprof_map *piece)
{
	const struct jprof_profile *p = s->profile;
	struct jp_range whole, hull = { UINT64_MAX, 0 };
	if (!jp_objfile_holds(file, piece->offset, piece->limit - piece->start, &whole))
		return false;
	for (size_t i = 0; i < p->mapping_count; i++) {
		const struct jprof_map *m = &p->mappings[i].map;
		if (p->mappings[i].object != s->object || !m->executable || m->offset < whole.start ||
		    m->offset >= whole.end || m->start - m->offset != piece->start - piece->offset)
			continue;
		uint64_t end = m->offset + (m->limit - m->start);
		hull.start = m->offset < hull.start ? m->offset : hull.start;
		hull.end = end > hull.end ? end : hull.end;
	}
	return hull.start == whole.start && hull.end == whole.end;
}

/* Each executable mapping is that of a segment. Where one is, others may be aliases: a part of a segment mapped once
 * more, elsewhere, as V8 does with its own code. */
static bool headers_fit(const struct search *s, const struct jp_objfile *file)
{
	const struct jprof_profile *p = s->profile;
	bool aliases = false, segments = false;
	for (size_t i = 0; i < p->mapping_count;) {
		struct jprof_map whole;
		struct jp_range segment;
		if (p->mappings[i].object != s->object || !p->mappings[i].map.executable) {
			i++;
			continue;
		}
		i = run_of(p, i, &whole);
		if (jp_objfile_fits(file, whole.start, whole.offset, whole.limit - whole.start) ||
		    is_whole_with_holes(s, file, &whole))
			segments = true;
		else if (jp_objfile_holds(file, whole.offset, whole.limit - whole.start, &segment))
			aliases = true;
		else
			return false;
	}
	return segments || !aliases;
}

bool jp_site_vaddr(const struct jprof_profile *profile, const struct jp_location *location,
                   const struct jp_objfile *file, uint64_t *vaddr)
{
	*vaddr = location->offset;
	return profile->objects[location->object].image || jp_objfile_vaddr(file, location->offset, vaddr);
}

/* What the input's build-ids say of the file. One with a build-id ran with it: a file without is another. */
static enum jprof_proof check_build_id(const struct search *s, const struct jp_objfile *file)
{
	const struct jp_object *o = &s->profile->objects[s->object];
	const char *wanted = jp_string(s->profile, o->build_id), *refused = jp_string(s->profile, o->refused_id);
	if (*wanted)
		return strcmp(wanted, file->build_id) ? JPROF_PROOF_CONTRADICTED : JPROF_PROOF_BUILD_ID;
	return *refused && !strcmp(refused, file->build_id) ? JPROF_PROOF_CONTRADICTED : JPROF_PROOF_UNVERIFIED;
}

/* Before how many addresses of the object the file has a call, and before how many it has none. Only where a
 * call returned there must be one; with `all`, innermost frames are asked for, too. */
static void count_calls(const struct search *s, const struct jp_objfile *file, bool all, size_t *calls, size_t *others)
{
	*calls = *others = 0;
	for (uint32_t i = 0; i < s->sites->count; i++) {
		const struct jp_location *l = &s->profile->locations[s->sites->locations[i]];
		uint64_t vaddr;
		if ((!all && !l->returned_to) || !jp_site_vaddr(s->profile, l, file, &vaddr))
			continue;
		enum jp_callsite site = jp_callsite_check(file, vaddr + 1);
		*calls += site == JP_CALLSITE_CALL;
		*others += site == JP_CALLSITE_OTHER;
	}
}

/* Less prove nothing: they may be in other code by chance. */
enum { fewest_calls = 5 };

/* Frames that a signal interrupted need no call before them, hence the allowance. */
static bool calls_fit(size_t calls, size_t others)
{
	return others * 4 <= calls + others;
}

/* What speaks against a file whose build-id neither proves nor contradicts; NULL: nothing. */
static const char *what_contradicts(const struct search *s, const struct jp_objfile *file)
{
	size_t calls, others;
	if (!headers_fit(s, file))
		return "its program headers do not fit what was mapped";
	count_calls(s, file, false, &calls, &others);
	return calls_fit(calls, others) ? NULL : "there are no calls where the dump has return addresses";
}

/* ---- candidates --------------------------------------------------------------------------------------- */

static const char *own_path(const struct search *s)
{
	return jp_string(s->profile, s->profile->objects[s->object].path);
}

/* The object's path without what the kernel adds to it; cut if it is too long. */
static void plain_path(const struct search *s, char path[static PATH_MAX])
{
	static const char suffix[] = " (deleted)";
	snprintf(path, PATH_MAX, "%s", own_path(s));
	size_t len = strlen(path);
	if (s->profile->objects[s->object].kind == JP_MAP_DELETED && len >= sizeof suffix - 1)
		path[len - (sizeof suffix - 1)] = '\0';
}

/* Says why a file is not taken, and closes it. */
static void refuse_candidate(struct search *s, struct jp_objfile *file, const char *against)
{
	struct jp_found *found = s->found;
	found->proof = JPROF_PROOF_CONTRADICTED;
	snprintf(found->reason, sizeof found->reason, "the file there is another one: %s", against);
	snprintf(found->refused_id, sizeof found->refused_id, "%s", file->build_id);
	jp_objfile_close(file);
}

/* The same of one that is as good as any other. */
static void pass_candidate(struct search *s, struct jp_objfile *file)
{
	struct jp_found *found = s->found;
	if (found->proof == JPROF_PROOF_NO_FILE && !*found->reason)
		snprintf(found->reason, sizeof found->reason,
		         "the profile came with names of its own, and no build-id proves the file there");
	jp_objfile_close(file);
}

/* What proves it, and whether its names are in doubt. */
static void take_candidate(struct search *s, struct jp_objfile *file, enum jprof_proof build)
{
	struct jp_found *found = s->found;
	const struct jprof_profile *p = s->profile;
	bool proven = build == JPROF_PROOF_BUILD_ID, same = is_same_inode(&p->objects[s->object], &file->st);
	bool changed = is_changed_since(p, &file->st);
	found->file = file;
	found->proof = proven || !same || changed ? build : JPROF_PROOF_INODE;
	bool newer = p->first_mtime && (file->st.st_mtime > p->first_mtime || (same && changed));
	found->doubt = found->proof != JPROF_PROOF_UNVERIFIED ? JP_DOUBT_NONE
	               : newer                                ? JP_DOUBT_CHANGED
	                                                      : JP_DOUBT_UNPROVEN;
	*found->reason = '\0';
}

/* Takes the file if nothing speaks against it; else says why not. */
static bool consider_path(struct search *s, struct jp_root root, const char *path)
{
	struct jp_objfile *file;
	struct jprof_error err = { 0 };
	int rc = jp_objfile_open(root, path, &file, &err);
	if (rc) {
		struct jp_found *found = s->found;
		s->failed = s->failed || rc == JPROF_E_NOMEM;
		if (found->proof == JPROF_PROOF_NO_FILE && !*found->reason)
			snprintf(found->reason, sizeof found->reason, "%.*s", (int)sizeof found->reason - 1, err.text);
		return false;
	}
	enum jprof_proof build = check_build_id(s, file);
	bool unasked = build == JPROF_PROOF_UNVERIFIED && s->profile->objects[s->object].by_id_only;
	const char *against = build == JPROF_PROOF_CONTRADICTED          ? "its build-id is not the profile's"
	                      : build == JPROF_PROOF_BUILD_ID || unasked ? NULL
	                                                                 : what_contradicts(s, file);
	if (against)
		refuse_candidate(s, file, against);
	else if (unasked)
		pass_candidate(s, file);
	else
		take_candidate(s, file, build);
	return !against && !unasked;
}

/* P/a/b/c.so, P/b/c.so, P/c.so for one directory P of --lib_prefix, as jeprof does. */
static bool consider_below(struct search *s, const char *prefix)
{
	char path[PATH_MAX], plain[PATH_MAX];
	plain_path(s, plain);
	for (const char *rest = plain; rest; rest = strchr(rest + 1, '/')) {
		int n = snprintf(path, sizeof path, "%s/%s", prefix, rest + (*rest == '/'));
		if ((size_t)n < sizeof path && consider_path(s, host_root(s), path))
			return true;
	}
	return false;
}

static bool consider_prefixes(struct search *s)
{
	char prefix[PATH_MAX];
	for (const char *list = s->opts->lib_prefix; jp_path_next(&list, prefix);)
		if (consider_below(s, prefix))
			return true;
	return false;
}

/* ---- --add_lib ------------------------------------------------------------------------------------------ */

static bool has_code(const struct search *s)
{
	for (size_t i = 0; i < s->profile->mapping_count; i++)
		if (s->profile->mappings[i].object == s->object && s->profile->mappings[i].map.executable)
			return true;
	return false;
}

/* Takes a file of another name. It only fits by its layout, which is weak: calls must stand where the dump has return
 * addresses. */
static bool consider_stranger(struct search *s, const char *path)
{
	struct jp_objfile *file;
	size_t calls, others;
	int rc = has_code(s) ? jp_objfile_open(host_root(s), path, &file, NULL) : -1;
	s->failed = s->failed || rc == JPROF_E_NOMEM;
	if (rc)
		return false;
	count_calls(s, file, true, &calls, &others);
	bool fits = headers_fit(s, file) && calls + others >= fewest_calls && calls_fit(calls, others);
	jp_objfile_close(file);
	if (!fits || !consider_path(s, host_root(s), path))
		return false;
	s->failed = s->failed || jp_note(s->profile, "%s stands in for %s, which its layout fits", path, own_path(s));
	return true;
}

/* Files of the object's name, or all others. */
static bool consider_added(struct search *s, bool same_name)
{
	char path[PATH_MAX], plain[PATH_MAX];
	plain_path(s, plain);
	for (const char *list = s->opts->add_lib; jp_path_next(&list, path);)
		if (!strcmp(jp_basename(path), jp_basename(plain)) == same_name &&
		    (same_name ? consider_path(s, host_root(s), path) : consider_stranger(s, path)))
			return true;
	return false;
}

static uint32_t main_object(const struct jprof_profile *p)
{
	const struct jp_code code = jp_code_of(p);
	return jp_code_program(&code);
}

/* A file that was deleted is still mapped, and the kernel has a link to it. */
static bool consider_mapped(struct search *s)
{
	char path[96];
	struct jp_root root = host_root(s);
	if (s->opts->opener) {
		root = given_sysroot(s);
		root.mapped = true;
	}
	for (size_t i = 0; s->opts->live_pid && i < s->profile->mapping_count; i++) {
		const struct jp_mapping *m = &s->profile->mappings[i];
		if (m->object != s->object || !m->map.executable)
			continue;
		snprintf(path, sizeof path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, s->opts->live_pid, m->map.start,
		         m->map.limit);
		return consider_path(s, root, path);
	}
	return false;
}

static void search_places(struct search *s)
{
	const struct jp_object *object = &s->profile->objects[s->object];
	bool has_file = object->kind == JP_MAP_FILE || object->kind == JP_MAP_DELETED;
	if (!has_file || object->unmapped || consider_prefixes(s))
		return;
	if (object->kind == JP_MAP_FILE && consider_path(s, given_sysroot(s), own_path(s)))
		return;
	if (object->kind == JP_MAP_DELETED && consider_mapped(s))
		return;
	if (s->opts->program && s->object == main_object(s->profile) &&
	    consider_path(s, host_root(s), s->opts->program))
		return;
	if (!consider_added(s, true))
		consider_added(s, false);
}

/* ---- words --------------------------------------------------------------------------------------------- */

static const char *why_without_file(const struct jp_object *object)
{
	if (object->unmapped)
		return "outside every mapping";
	switch (object->kind) {
	case JP_MAP_FILE: return "not found";
	case JP_MAP_DELETED: return "deleted or replaced while it ran";
	case JP_MAP_MEMFD: return "in memory only (memfd)";
	case JP_MAP_SPECIAL: return "the kernel's, not a file";
	case JP_MAP_ANON: return "no file: code made at run time (JIT)";
	}
	return "";
}

static void explain_found(struct search *s)
{
	const struct jp_object *object = &s->profile->objects[s->object];
	struct jp_found *found = s->found;
	if (found->file) {
		snprintf(found->build_id, sizeof found->build_id, "%s", found->file->build_id);
		return;
	}
	if (!*found->reason || (object->kind == JP_MAP_DELETED && found->proof == JPROF_PROOF_NO_FILE))
		snprintf(found->reason, sizeof found->reason, "%s", why_without_file(object));
	if (object->kind == JP_MAP_FILE || object->kind == JP_MAP_DELETED)
		found->advice = JPROF_ADVICE_FILE;
	else if (object->kind == JP_MAP_ANON || object->kind == JP_MAP_MEMFD)
		found->advice = JPROF_ADVICE_PERF_MAP;
	else if (object->unmapped)
		found->advice = JPROF_ADVICE_MAPS;
}

int jp_find_file(struct jprof_profile *profile, uint32_t object, const struct jp_sites *sites,
                 const struct jprof_symbolize_opts *opts, struct jp_unread *unread, struct jp_found *found)
{
	struct search s = {
		.profile = profile, .object = object, .sites = sites, .opts = opts, .found = found, .unread = unread
	};
	search_places(&s);
	explain_found(&s);
	return s.failed ? -1 : 0;
}

/* ---- the program operand ----------------------------------------------------------------------------------- */

static bool is_mapped(const struct jprof_profile *p, const char *path, const struct stat *st)
{
	for (uint32_t i = 0; i < jp_object_count(p); i++)
		if (!strcmp(jp_string(p, p->objects[i].path), path) || is_same_inode(&p->objects[i], st))
			return true;
	return false;
}

/* Whether the object was named from opts->program: its own path led to no file that could be used. */
static bool is_program_file(struct jprof_profile *p, uint32_t object, const struct jprof_symbolize_opts *opts)
{
	struct jp_found found = { 0 };
	const struct jp_sites none = { .profile = p };
	struct search own = { .profile = p, .object = object, .sites = &none, .opts = opts, .found = &found };
	bool usable =
	    p->objects[object].kind == JP_MAP_FILE && consider_path(&own, given_sysroot(&own), own_path(&own));
	jp_objfile_close(found.file);
	return !usable;
}

int jp_note_program(struct jprof_profile *p, const struct jprof_symbolize_opts *opts)
{
	if (!opts->program || !p->mapping_count)
		return 0;
	uint32_t object = main_object(p);
	const char *ran = object == JP_NONE ? "nothing" : jp_string(p, p->objects[object].path);
	struct jp_objfile *file;
	struct jprof_error err = { 0 };
	const struct jp_root host = { .notice = opts->notice };
	int rc = jp_objfile_open(host, opts->program, &file, &err);
	if (rc == JPROF_E_NOMEM)
		return -1;
	if (rc)
		return jp_note(p, "%s %s: what ran is taken from the dump's maps: %s", opts->program, err.text, ran);
	char *real = realpath(opts->program, NULL);
	bool fits = is_mapped(p, real ? real : opts->program, &file->st);
	struct jp_found none = { 0 };
	struct search s = { .profile = p, .object = object, .opts = opts, .found = &none };
	bool stands_in = !fits && object != JP_NONE && headers_fit(&s, file) && is_program_file(p, object, opts);
	free(real);
	jp_objfile_close(file);
	if (fits)
		return 0;
	if (stands_in)
		return jp_note(p, "%s is not mapped in the dump; it fits %s, which is", opts->program, ran);
	return jp_note(p, "%s is not what ran by the dump's maps: that is %s, and is used", opts->program, ran);
}

/* It does not say that they had names: nobody knows. */
int jp_note_unread(struct jprof_profile *profile, const struct jp_unread *u)
{
	char more[48] = "", text[1024];
	if (!u->count)
		return 0;
	if (u->count > 1)
		snprintf(more, sizeof more, "; nor can %zu more file%s", u->count - 1, u->count > 2 ? "s" : "");
	snprintf(text, sizeof text, "%s cannot be read: %s%s; names may be missing", u->path, u->why, more);
	return jp_note_advised(profile, text, JPROF_ADVICE_AGAIN);
}

bool jp_is_made_at_run_time(const struct jprof_profile *p, const struct jp_object *object)
{
	switch (object->kind) {
	case JP_MAP_ANON:
	case JP_MAP_MEMFD:
	case JP_MAP_SPECIAL: return true;
	case JP_MAP_DELETED: return !strcmp(jp_string(p, object->path), "/dev/zero (deleted)");
	case JP_MAP_FILE: break;
	}
	return object->unmapped;
}
