#include "input/splitunit.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macros.h"

enum place { NOTHING, REGULAR, FORBIDDEN };

enum { beside, compiled, package, candidate_count };

/* The paths that libdw will open, as the kernel sees them; "": none. */
struct candidates {
	char path[candidate_count][PATH_MAX];
	const char *name; /* of the .dwo, as written */
};

static const char *skeleton_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* DIR/NAME, or NAME if that is absolute; "" if it gets too long. */
static void join_path(char *path, const char *dir, const char *name)
{
	int n = *name == '/' ? snprintf(path, PATH_MAX, "%s", name) : snprintf(path, PATH_MAX, "%s/%s", dir, name);
	if (n < 0 || n >= PATH_MAX)
		*path = '\0';
}

static bool list_candidate_paths(const struct jp_objfile *holder, Dwarf_Die *skeleton, struct candidates *c)
{
	char dir[PATH_MAX], compiled_in[PATH_MAX];
	const char *comp_dir = skeleton_string(skeleton, DW_AT_comp_dir);
	c->name = skeleton_string(skeleton, DW_AT_dwo_name);
	if (!c->name)
		c->name = skeleton_string(skeleton, DW_AT_GNU_dwo_name);
	if (!c->name || !jp_file_real_path(holder->fd, (struct jp_root){ 0 }, dir))
		return false;
	if (snprintf(c->path[package], PATH_MAX, "%s.dwp", dir) >= PATH_MAX)
		*c->path[package] = '\0';
	*strrchr(dir, '/') = '\0';
	join_path(c->path[beside], dir, c->name);
	join_path(compiled_in, dir, comp_dir ? comp_dir : "");
	join_path(c->path[compiled], compiled_in, c->name);
	return true;
}

/* What libdw would find at a path of the host. */
static enum place kind_of_path(const struct jp_objfile *holder, const char *path)
{
	struct stat host, below;
	char inside[PATH_MAX];
	int jp_cleanup(jp_file_close) fd = *path ? jp_file_open_untrusted((struct jp_root){ 0 }, path, &host) : -1;
	if (fd < 0)
		return *path && errno == EINVAL ? FORBIDDEN : NOTHING;
	if (!holder->root.path)
		return REGULAR;
	int jp_cleanup(jp_file_close) same = -1;
	if (jp_file_real_path(fd, holder->root, inside))
		same = jp_file_open_untrusted(holder->root, inside, &below);
	return same >= 0 && below.st_dev == host.st_dev && below.st_ino == host.st_ino ? REGULAR : FORBIDDEN;
}

static void lose(struct jp_split_losses *losses, const char *path, const char *why)
{
	if (!losses->count++)
		snprintf(losses->first, sizeof losses->first, "%.380s %s", path, why);
}

static bool may_open(const struct jp_objfile *holder, const struct candidates *c, struct jp_split_losses *losses)
{
	enum place found = NOTHING;
	for (int i = 0; i < candidate_count; i++) {
		enum place place = kind_of_path(holder, c->path[i]);
		if (place == FORBIDDEN) {
			lose(losses, c->path[i],
			     holder->root.path ? "lies outside the sysroot, or is no regular file"
			                       : "is no regular file");
			return false;
		}
		if (place == REGULAR)
			found = REGULAR;
	}
	if (found == NOTHING)
		lose(losses, *c->path[compiled] ? c->path[compiled] : c->name, "is missing");
	return found == REGULAR;
}

/* A .dwo that names a file of shared parts would have libdw open that, whatever it is. */
static bool shares(const Dwarf_Die *split)
{
	const char *path;
	const void *id;
	return dwelf_dwarf_gnu_debugaltlink(dwarf_cu_getdwarf(split->cu), &path, &id) > 0;
}

bool jp_split_find(const struct jp_objfile *holder, Dwarf_Die *skeleton, Dwarf_Die *split,
                   struct jp_split_losses *losses)
{
	struct candidates c;
	if (holder->root.opener) { /* libdw would open them with the caller's rights */
		lose(losses, "a .dwo file",
		     "is not read of a live process; leave its names to the reader of the bundle");
		return false;
	}
	if (!list_candidate_paths(holder, skeleton, &c)) {
		lose(losses, "a .dwo file", "has no name");
		return false;
	}
	if (!may_open(holder, &c, losses))
		return false;
	if (!dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, split, NULL, NULL, NULL) && split->addr) {
		if (!shares(split))
			return true;
		lose(losses, c.name, "shares parts with another file (dwz)");
		return false;
	}
	if (kind_of_path(holder, c.path[beside]) == REGULAR || kind_of_path(holder, c.path[compiled]) == REGULAR)
		lose(losses, c.name, "is of another build, or damaged");
	else
		lose(losses, c.path[package], "is a DWARF package, which this libdw cannot read");
	return false;
}
