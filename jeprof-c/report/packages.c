/* dpkg: /var/lib/dpkg/info/PACKAGE[:ARCHITECTURE].list has a path a line. Images without dpkg ("distroless") have
 * /var/lib/dpkg/status.d/NAME, with the line "Package: PACKAGE", and NAME.md5sums, lines of a sum and a path. apk:
 * lib/apk/db/installed has records of lines, "P:PACKAGE", "o:ORIGIN", then for each directory "F:usr/lib" and for each
 * file there "R:libz.so.1". */
#include "report/packages.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "cli/names.h"
#include "cli/rootpath.h"
#include "cli/shortage.h"

/* The files that are looked for, and whose the lines that are read are. */
struct package_search {
	struct packaged *files;
	size_t count, left;
	bool ends[1024]; /* by place_of_end: a path that is looked for ends so */
	const char *tool;
	char package[NAME_MAX + 1]; /* whose files are looked at */
	char folder[1024];          /* of apk: where they lie */
};

/* Where /lib is a link to /usr/lib, a package may have its files under either name. */
static const char *without_usr(const char *path)
{
	static const char *const merged[] = { "/usr/lib", "/usr/bin/", "/usr/sbin/" };
	for (size_t i = 0; i < sizeof merged / sizeof *merged; i++)
		if (!strncmp(path, merged[i], strlen(merged[i])))
			return path + strlen("/usr");
	return path;
}

/* Whether it is a name as both distributions allow them: it goes into a command that people copy. */
static bool is_package_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+_-";
	size_t len = strlen(name);
	return len > 0 && len < package_most - 16 && *name != '-' && strspn(name, allowed) == len;
}

/* Debian has the symbols of its C library in a package of another kind; what Alpine has are of the whole source. */
static void note_package(const struct package_search *s, struct packaged *file)
{
	bool apt = !strcmp(s->tool, "apt install"), libc = apt && !strcmp(s->package, "libc6");
	file->tool = s->tool;
	snprintf(file->symbols, sizeof file->symbols, "%.*s-%s", package_most - 16, s->package,
	         apt && !libc ? "dbgsym" : "dbg");
}

/* The last bytes of a path, as a number: of many thousand paths few end as one that is looked for. */
static uint32_t end_of(const char *path)
{
	uint32_t end = 0;
	size_t len = strlen(path);
	if (len >= sizeof end)
		memcpy(&end, path + len - sizeof end, sizeof end);
	return end;
}

static uint32_t place_of_end(uint32_t end)
{
	return end * 2654435761u >> 22;
}

static void consider_packaged(struct package_search *s, const char *path)
{
	uint32_t end = end_of(path);
	for (size_t i = 0; s->ends[place_of_end(end)] && i < s->count; i++)
		if (s->files[i].end == end && s->files[i].path && !s->files[i].tool &&
		    !strcmp(without_usr(s->files[i].path), without_usr(path)) && is_package_name(s->package)) {
			note_package(s, &s->files[i]);
			s->left--;
		}
}

/* Gives each line of a file below the root to `take`, without its end, while files are looked for. False: there is no
 * such file, or memory is short. */
static bool take_lines(struct package_search *s, int root, const char *path,
                       void (*take)(struct package_search *s, const char *line))
{
	int fd = rootpath_open(root, path);
	FILE *file = fd < 0 ? NULL : shortage_note(fdopen(fd, "r"));
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	while (file && s->left && (len = shortage_line(&line, &cap, file)) > 0) {
		line[line[len - 1] == '\n' ? len - 1 : len] = '\0';
		take(s, line);
	}
	free(line);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	return file;
}

static DIR *open_folder(int root, const char *path)
{
	int fd = rootpath_open(root, path);
	DIR *dir = fd < 0 ? NULL : shortage_note(fdopendir(fd));
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* A list of dpkg, and how likely it is that it has a file that is looked for. */
struct dpkg_list {
	size_t likeness;
	char *name;
};

struct dpkg_lists {
	struct dpkg_list *items;
	size_t count;
};

/* How many letters and digits the file's name and the package's begin with alike: libruby-3.1.so.3.1 is in libruby3.1.
 */
static size_t likeness(const char *path, const char *package)
{
	const char *file = jp_basename(path);
	size_t same = 0;
	for (;;) {
		file += *file && !isalnum((unsigned char)*file);
		package += *package && !isalnum((unsigned char)*package);
		if (isalnum((unsigned char)*file) && *file == *package) {
			same++;
			file++;
			package++;
		} else if (!*file || (isalnum((unsigned char)*file) && *file != *package)) {
			return same;
		}
	}
}

static size_t best_likeness(const struct package_search *s, const char *package)
{
	size_t best = 0;
	for (size_t i = 0; i < s->count; i++) {
		size_t own = s->files[i].path ? likeness(s->files[i].path, package) : 0;
		best = own > best ? own : best;
	}
	return best;
}

static int by_likeness(const void *a, const void *b)
{
	const struct dpkg_list *x = a, *y = b;
	return jp_order_by(y->likeness, x->likeness, strcmp(x->name, y->name));
}

/* The lists, the likely ones first. What memory is too short for is left out. */
static void find_dpkg_lists(const struct package_search *s, DIR *dir, struct dpkg_lists *lists)
{
	struct dirent *entry;
	size_t cap = 0;
	while ((entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);
		if (len < 6 || strcmp(entry->d_name + len - 5, ".list") != 0)
			continue;
		if (lists->count == cap) {
			cap = cap ? 2 * cap : 1024;
			struct dpkg_list *more = shortage_note(realloc(lists->items, cap * sizeof *more));
			if (!more)
				break;
			lists->items = more;
		}
		char *name = shortage_note(strdup(entry->d_name));
		if (!name)
			break;
		lists->items[lists->count++] = (struct dpkg_list){ best_likeness(s, name), name };
	}
	if (lists->count)
		qsort(lists->items, lists->count, sizeof *lists->items, by_likeness);
}

/* A list's name is PACKAGE.list or PACKAGE:ARCHITECTURE.list. */
static void search_dpkg(struct package_search *s, int root)
{
	DIR *dir = open_folder(root, "/var/lib/dpkg/info");
	struct dpkg_lists lists = { 0 };
	if (!dir)
		return;
	s->tool = "apt install";
	find_dpkg_lists(s, dir, &lists);
	for (size_t i = 0; i < lists.count; i++) {
		char *name = lists.items[i].name;
		size_t len = strlen(name), package = strcspn(name, ":");
		snprintf(s->package, sizeof s->package, "%.*s", (int)(package < len ? package : len - 5), name);
		if (s->left)
			take_lines(s, dirfd(dir), name, consider_packaged);
		free(name);
	}
	free(lists.items);
	closedir(dir);
}

/* The value of the line "Package: " in a file of status.d. */
static void take_package_name(struct package_search *s, const char *line)
{
	static const char field[] = "Package: ";
	if (!*s->package && !strncmp(line, field, strlen(field)))
		snprintf(s->package, sizeof s->package, "%s", line + strlen(field));
}

static void take_sum(struct package_search *s, const char *line)
{
	char path[PATH_MAX];
	const char *name = strchr(line, ' ');
	name = name ? name + strspn(name, " *") : "";
	name += !strncmp(name, "./", 2) ? 2 : *name == '/';
	if (*name && snprintf(path, sizeof path, "/%s", name) < PATH_MAX)
		consider_packaged(s, path);
}

static void search_status_d(struct package_search *s, int root)
{
	static const char place[] = "/var/lib/dpkg/status.d", ending[] = ".md5sums";
	DIR *dir = open_folder(root, place);
	struct dirent *entry;
	s->tool = "apt install";
	while (dir && s->left && (entry = readdir(dir))) {
		char path[sizeof place + 1 + NAME_MAX];
		size_t len = strlen(entry->d_name), stem = len - strlen(ending);
		if (len <= strlen(ending) || strcmp(entry->d_name + stem, ending) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%.*s", place, (int)stem, entry->d_name);
		*s->package = '\0';
		take_lines(s, root, path, take_package_name);
		snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
		if (*s->package)
			take_lines(s, root, path, take_sum);
	}
	if (dir)
		closedir(dir);
}

static void take_installed(struct package_search *s, const char *line)
{
	char path[2048];
	const char *value = *line && line[1] == ':' ? line + 2 : "";
	if (*line == 'P' || *line == 'o')
		snprintf(s->package, sizeof s->package, "%s", value);
	else if (*line == 'F')
		snprintf(s->folder, sizeof s->folder, "/%s", value);
	else if (*line == 'R') {
		snprintf(path, sizeof path, "%s/%s", s->folder, value);
		consider_packaged(s, path);
	}
}

static void search_apk(struct package_search *s, int root)
{
	s->tool = "apk add";
	*s->package = '\0';
	if (!take_lines(s, root, "/lib/apk/db/installed", take_installed))
		take_lines(s, root, "/usr/lib/apk/db/installed", take_installed);
}

void packages_find(const char *where, struct packaged *files, size_t count)
{
	struct package_search s = { .files = files, .count = count };
	for (size_t i = 0; i < count; i++) {
		files[i].tool = NULL;
		files[i].end = files[i].path ? end_of(files[i].path) : 0;
		s.ends[place_of_end(files[i].end)] = true;
		s.left += files[i].path != NULL;
	}
	int root = s.left ? open(*where ? where : "/", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (root < 0)
		return;
	search_dpkg(&s, root);
	search_status_d(&s, root);
	search_apk(&s, root);
	close(root);
}
