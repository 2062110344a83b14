#include "input/debugfile.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/error.h"
#include "base/file.h"
#include "input/dwarf.h"

static const char system_dir[] = "/usr/lib/debug";
static const struct jp_root host;

/* A search under way. */
struct hunt {
	struct jp_objfile *file; /* whose debug information is wanted */
	struct jp_debugfiles *found;
	const struct jp_debug_where *where;
	struct jp_root root;
	const char *build_id; /* that the wanted file must have; "": not known */
	bool shared;          /* what dwz moved out is wanted, not a debug file */
	bool check_crc;       /* the candidate must have this CRC-32 */
	GElf_Word crc;
	bool failed; /* memory was short */
};

/* ---- candidates --------------------------------------------------------------------------------- */

static GElf_Word crc_of(int fd)
{
	unsigned char chunk[1 << 14];
	uLong crc = crc32(0, NULL, 0);
	off_t at = 0;
	ssize_t n;
	while ((n = pread(fd, chunk, sizeof chunk, at)) > 0) {
		crc = crc32(crc, chunk, (uInt)n);
		at += n;
	}
	return (GElf_Word)crc;
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
	GElf_Word crc = h->check_crc ? crc_of(candidate->fd) : 0;
	if (h->check_crc && crc != h->crc) {
		jp_objfile_remark(h->file, "%s is of another build: its CRC is %08x, .gnu_debuglink wants %08x",
		                  candidate->path, (unsigned)crc, (unsigned)h->crc);
		return false;
	}
	return true;
}

/* A debug file with DWARF ends the search; one with symbols alone stays until there is a better one. */
static bool take_debugfile(struct hunt *h, struct jp_objfile *candidate)
{
	struct jp_debugfiles *found = h->found;
	if (h->shared) {
		found->shared = candidate;
		return true;
	}
	h->failed = h->failed || jp_dwarf_new(h->file, candidate, &found->dwarf);
	if (found->dwarf || (!found->separate && jp_objfile_has_symtab(candidate))) {
		jp_objfile_close(found->separate);
		found->separate = candidate;
	} else {
		jp_objfile_close(candidate);
	}
	return found->dwarf;
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
	const char *list = h->where->dirs;
	while (list && *list) {
		size_t len = strcspn(list, ",");
		if (len && h->root.path && consider_in(h, h->root, list, len, name))
			return true;
		if (len && consider_in(h, host, list, len, name))
			return true;
		list += len + (list[len] == ',');
	}
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
	const char *path = h->file->path, *name = dwelf_elf_gnu_debuglink(h->file->elf, &h->crc);
	if (!name || !*name)
		return false;
	if (strchr(name, '/')) {
		jp_objfile_remark(h->file, "its .gnu_debuglink is no file name: %s", name);
		return false;
	}
	h->check_crc = true;
	bool known = jp_file_real_path(h->file->fd, h->file->root, real);
	bool found =
	    (known && consider_link(h, real, name)) || ((!known || strcmp(real, path)) && consider_link(h, path, name));
	h->check_crc = false;
	return found;
}

static bool among_given(struct hunt *h)
{
	const char *list = *h->build_id ? h->where->files : NULL;
	while (list && *list) {
		size_t len = strcspn(list, ",");
		char path[PATH_MAX];
		struct jp_objfile *candidate;
		int n = snprintf(path, sizeof path, "%.*s", (int)len, list);
		list += len + (list[len] == ',');
		if (n <= 0 || (size_t)n >= sizeof path || jp_objfile_open(host, path, &candidate, NULL))
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
	bool found = path && consider_debugfile(h, host, path);
	free(path);
	return found;
}

static int find_separate(struct jp_objfile *file, const struct jp_debug_where *where, struct jp_debugfiles *found)
{
	struct hunt h = { .file = file,
		          .found = found,
		          .where = where,
		          .root = where->root.path ? where->root : file->root,
		          .build_id = file->build_id };
	bool any = by_build_id(&h) || by_link(&h) || among_given(&h) || by_server(&h);
	(void)any;
	return h.failed ? -1 : 0;
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

static int find_shared(struct jp_objfile *file, const struct jp_debug_where *where, struct jp_debugfiles *found)
{
	const struct jp_objfile *holder = found->separate ? found->separate : file;
	const char *path;
	char build_id[sizeof file->build_id];
	if (!jp_dwarf_shares(found->dwarf, &path, build_id))
		return 0;
	struct hunt h = { .file = file,
		          .found = found,
		          .where = where,
		          .root = where->root.path ? where->root : file->root,
		          .build_id = build_id,
		          .shared = true };
	bool any = consider_written(&h, holder, path) || consider_moved(&h, path) || by_build_id(&h) ||
	           among_given(&h) || by_server(&h);
	if (any && !jp_dwarf_set_shared(found->dwarf, found->shared))
		return 0;
	jp_objfile_remark(file, "part of its debug information is in %s (dwz, build-id %s), which %s", path, build_id,
	                  any ? "cannot be read" : "is missing");
	/* Else libdw would open that path itself, whatever is there. */
	jp_dwarf_free(found->dwarf);
	found->dwarf = NULL;
	return h.failed ? -1 : 0;
}

int jp_debugfiles_find(struct jp_objfile *file, const struct jp_debug_where *where, struct jp_debugfiles *found)
{
	if (jp_dwarf_new(file, file, &found->dwarf) || (!found->dwarf && find_separate(file, where, found)))
		return -1;
	if (found->dwarf && find_shared(file, where, found))
		return -1;
	/* What was refused on the way is of no interest once the right thing is found. */
	if (found->dwarf)
		jp_strbuf_cut(&file->remarks, 0);
	return 0;
}

void jp_debugfiles_release(struct jp_debugfiles *found)
{
	jp_dwarf_free(found->dwarf);
	jp_objfile_close(found->shared);
	jp_objfile_close(found->separate);
	*found = (struct jp_debugfiles){ 0 };
}
