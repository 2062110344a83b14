#include "input/debugfile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file.h"
#include "input/filewants.h"

static const char system_dir[] = "/usr/lib/debug";
/* A search under way. */
struct hunt {
	struct jp_objfile *file; /* whose debug information is wanted */
	struct jp_debugfiles *found;
	const struct jp_debug_where *where;
	const struct jp_dwarf_judge *judge;
	struct jp_root root;
	const char *build_id; /* that the wanted file must have; "": not known */
	bool shared;          /* what dwz moved out is wanted, not a debug file */
	bool check_crc;       /* the candidate must have this CRC-32 */
	uint32_t crc;
	bool failed; /* memory was short */
};

/* ---- candidates --------------------------------------------------------------------------------- */

static uint32_t crc_of(int fd)
{
	unsigned char chunk[1 << 14];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;
	while ((n = pread(fd, chunk, sizeof chunk, at)) > 0) {
		crc = crc32(crc, chunk, (uInt)n);
		at += n;
	}
	return (uint32_t)crc;
}

static bool is_right(const struct hunt *h, const struct jp_objfile *candidate)
{
	bool both = *h->build_id && *candidate->build_id;
	if (h->check_crc ? both && strcmp(h->build_id, candidate->build_id)
	                 : !both || strcmp(h->build_id, candidate->build_id)) {
		jp_objfile_remark(h->file, "%s is of another build: its build-id is %s", candidate->path,
		                  *candidate->build_id ? candidate->build_id : "missing");
		return false;
	}
	uint32_t crc = h->check_crc ? crc_of(candidate->fd) : 0;
	if (h->check_crc && crc != h->crc) {
		jp_objfile_remark(h->file, "%s is of another build: its CRC is %08x, .gnu_debuglink wants %08x",
		                  candidate->path, (unsigned)crc, (unsigned)h->crc);
		return false;
	}
	return true;
}

static bool use_dwarf(struct hunt *h, enum jp_dwarf_in in, struct jp_objfile *candidate);

/* A debug file with DWARF ends the search; one with symbols alone stays until there is a better one. */
static bool take_debugfile(struct hunt *h, struct jp_objfile *candidate)
{
	struct jp_debugfiles *found = h->found;
	struct jp_objfile *earlier = found->debug;
	if (h->shared) {
		found->shared = candidate;
		return true;
	}
	bool done = use_dwarf(h, JP_DWARF_IN_DEBUG, candidate);
	bool keep = done || (!earlier && jp_objfile_has_symtab(candidate));
	found->debug = keep ? candidate : earlier;
	jp_objfile_close(keep ? earlier : candidate);
	return done;
}

/* For paths that are the user's. */
static struct jp_root host_of(const struct hunt *h)
{
	return (struct jp_root){ .notice = h->root.notice };
}

/* Whether the file at `path` ends the search. */
static bool consider_debugfile(struct hunt *h, struct jp_root root, const char *path)
{
	struct jp_objfile *candidate;
	struct jprof_error err = { 0 };
	int rc = h->failed ? -1 : jp_objfile_open(root, path, &candidate, &err);
	h->failed = h->failed || rc == JPROF_E_NOMEM;
	if (rc == JPROF_E_FORMAT)
		jp_objfile_remark(h->file, "%s %s", path, err.text);
	if (rc)
		return false;
	bool itself = candidate->st.st_dev == h->file->st.st_dev && candidate->st.st_ino == h->file->st.st_ino;
	if (!itself && is_right(h, candidate))
		return take_debugfile(h, candidate);
	jp_objfile_close(candidate);
	return false;
}

static bool consider_in(struct hunt *h, struct jp_root root, const char *dir, size_t dir_len, const char *name)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%.*s/%s", (int)dir_len, dir, name);
	return n > 0 && (size_t)n < sizeof path && consider_debugfile(h, root, path);
}

/* `name` below the debug directories, the user's first. */
static bool consider_dirs(struct hunt *h, const char *name)
{
	char dir[PATH_MAX];
	for (const char *list = h->where->dirs; jp_path_next(&list, dir);)
		if ((h->root.path && consider_in(h, h->root, dir, strlen(dir), name)) ||
		    consider_in(h, host_of(h), dir, strlen(dir), name))
			return true;
	return consider_in(h, h->root, system_dir, strlen(system_dir), name);
}

/* ---- ways to find one --------------------------------------------------------------------------- */

static bool by_build_id(struct hunt *h)
{
	char name[sizeof h->file->build_id + 32];
	if (strlen(h->build_id) < 4)
		return false;
	snprintf(name, sizeof name, ".build-id/%.2s/%s.debug", h->build_id, h->build_id + 2);
	return consider_dirs(h, name);
}

/* The directory of a file, without a slash at its end, and its length. */
static size_t dir_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

/* Beside the file, or where its path says that it is: a link may lead there. */
static bool consider_link(struct hunt *h, const char *path, const char *name)
{
	char below[PATH_MAX];
	size_t len = dir_of(path);
	const char *dir = strchr(path, '/') ? path : ".";
	size_t dir_len = strchr(path, '/') ? len : 1;
	if (consider_in(h, h->file->root, dir, dir_len, name))
		return true;
	int n = snprintf(below, sizeof below, ".debug/%s", name);
	if (n > 0 && (size_t)n < sizeof below && consider_in(h, h->file->root, dir, dir_len, below))
		return true;
	n = snprintf(below, sizeof below, "%.*s/%s", (int)len, path, name);
	return *path == '/' && n > 0 && (size_t)n < sizeof below && consider_dirs(h, below + 1);
}

static bool by_link(struct hunt *h)
{
	char real[PATH_MAX];
	const char *path = h->file->path;
	struct jp_file_wants wants = { 0 };
	h->failed = h->failed || jp_file_wants(h->file, &wants);
	const char *name = wants.link;
	if (!*name)
		return false;
	if (strchr(name, '/')) {
		jp_objfile_remark(h->file, "its .gnu_debuglink is no file name: %s", name);
		return false;
	}
	h->check_crc = true;
	h->crc = wants.crc;
	bool known = jp_file_real_path(h->file->fd, h->file->root, real);
	bool found =
	    (known && consider_link(h, real, name)) || ((!known || strcmp(real, path)) && consider_link(h, path, name));
	h->check_crc = false;
	return found;
}

static bool among_given(struct hunt *h)
{
	char path[PATH_MAX];
	struct jp_objfile *candidate;
	for (const char *list = *h->build_id ? h->where->files : NULL; jp_path_next(&list, path);) {
		if (jp_objfile_open(host_of(h), path, &candidate, NULL))
			continue;
		if (strcmp(candidate->build_id, h->build_id))
			jp_objfile_close(candidate);
		else if (take_debugfile(h, candidate))
			return true;
	}
	return false;
}

static bool by_server(struct hunt *h)
{
	if (!h->where->server || strlen(h->build_id) < 4)
		return false;
	char *path = jp_debuginfod_find(h->where->server, h->build_id);
	bool found = path && consider_debugfile(h, host_of(h), path);
	free(path);
	return found;
}

/* ---- what dwz moved out ------------------------------------------------------------------------- */

/* The path as written: absolute, or beginning at the directory of the file that it is written in. */
static bool consider_written(struct hunt *h, const struct jp_objfile *holder, const char *path)
{
	char real[PATH_MAX];
	if (*path == '/')
		return consider_debugfile(h, holder->root, path);
	return jp_file_real_path(holder->fd, holder->root, real) &&
	       consider_in(h, holder->root, real, dir_of(real), path);
}

/* Below the debug directories an absolute path, or what follows their usual place in it. */
static bool consider_moved(struct hunt *h, const char *path)
{
	const char *usual = strstr(path, "/.dwz/");
	return (*path == '/' && consider_dirs(h, path + 1)) || (usual && consider_dirs(h, usual + 1));
}

/* Whether they are needed, and missing. The search for them is one of its own, with the remarks of the other. */
static bool misses_shared(struct hunt *h, const struct jp_objfile *holder, const struct jp_file_wants *wants)
{
	if (!wants->shares)
		return false;
	struct hunt own = { .file = h->file,
		            .found = h->found,
		            .where = h->where,
		            .root = h->root,
		            .build_id = wants->shared_id,
		            .shared = true };
	bool any = (*wants->shared &&
	            (consider_written(&own, holder, wants->shared) || consider_moved(&own, wants->shared))) ||
	           by_build_id(&own) || among_given(&own) || by_server(&own);
	h->failed = h->failed || own.failed;
	return !any;
}

static void remark_shared(struct hunt *h, const struct jp_file_wants *wants, bool missing)
{
	jp_objfile_remark(h->file, "part of its debug information is in %s (dwz, build-id %s), which %s",
	                  *wants->shared ? wants->shared : "a file that is not named", wants->shared_id,
	                  missing ? "is missing" : "cannot be read");
}

/* With shared parts that cannot be read the search ends, with debug information that cannot be it goes on. */
static bool refuse_dwarf(struct hunt *h, const struct jp_file_wants *wants, enum jp_dwarf_state state)
{
	jp_objfile_close(h->found->shared);
	h->found->shared = NULL;
	if (state == JP_DWARF_SHARED_REFUSED)
		remark_shared(h, wants, false);
	return state == JP_DWARF_SHARED_REFUSED;
}

/* Whether the search ends with this file's debug information: because it can be used, or because it could but for what
 * dwz moved out. */
static bool use_dwarf(struct hunt *h, enum jp_dwarf_in in, struct jp_objfile *holder)
{
	struct jp_file_wants wants = { 0 };
	struct jp_debugfiles *found = h->found, try = { .dwarf = in };
	enum jp_dwarf_state state = JP_DWARF_REFUSED;
	h->failed = h->failed || jp_file_wants(holder, &wants);
	if (h->failed || !wants.dwarf)
		return false;
	bool missing = misses_shared(h, holder, &wants);
	if (missing) {
		remark_shared(h, &wants, true);
		return true;
	}
	try.debug = in == JP_DWARF_IN_DEBUG ? holder : NULL;
	try.shared = found->shared;
	h->failed = h->failed || h->judge->judge(h->judge->context, &try, &state);
	if (state == JP_DWARF_USED) {
		found->dwarf = in;
		/* What was refused on the way is of no interest once the right thing is found. */
		jp_strbuf_cut(&h->file->remarks, 0);
		return true;
	}
	return refuse_dwarf(h, &wants, state);
}

/* ---- all of it ---------------------------------------------------------------------------------- */

int jp_debugfiles_find(struct jp_objfile *file, const struct jp_debug_where *where, const struct jp_dwarf_judge *judge,
                       struct jp_debugfiles *found)
{
	struct hunt h = { .file = file,
		          .found = found,
		          .where = where,
		          .judge = judge,
		          .root = where->root.path ? where->root : file->root,
		          .build_id = file->build_id };
	bool any = use_dwarf(&h, JP_DWARF_IN_OBJECT, file) || by_build_id(&h) || by_link(&h) || among_given(&h) ||
	           by_server(&h);
	(void)any;
	return h.failed ? -1 : 0;
}

void jp_debugfiles_release(struct jp_debugfiles *found)
{
	jp_objfile_close(found->shared);
	jp_objfile_close(found->debug);
	*found = (struct jp_debugfiles){ 0 };
}
