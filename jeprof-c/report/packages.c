/* dpkg: /var/lib/dpkg/info/PACKAGE[:ARCHITECTURE].list has a path a line. Images without dpkg ("distroless") have
 * /var/lib/dpkg/status.d/NAME, with the line "Package: PACKAGE", and NAME.md5sums, lines of a sum and a path. apk:
 * lib/apk/db/installed has records of lines, "P:PACKAGE", "o:ORIGIN", then for each directory "F:usr/lib" and for each
 * file there "R:libz.so.1". */
#include "report/packages.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/rootpath.h"

/* The files that are looked for, and whose the lines that are read are. */
struct package_search {
	struct packaged *files;
	size_t count, left;
	const char *tool;
	char package[NAME_MAX + 1]; /* whose files are looked at */
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

static void consider_packaged(struct package_search *s, const char *path)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->files[i].path && !s->files[i].tool && is_package_name(s->package) &&
		    !strcmp(without_usr(s->files[i].path), without_usr(path))) {
			note_package(s, &s->files[i]);
			s->left--;
		}
}

static void cut_line(char *line)
{
	line[strcspn(line, "\n")] = '\0';
}

static void read_dpkg_list(struct package_search *s, int fd)
{
	FILE *file = fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	if (!file) {
		close(fd);
		return;
	}
	while (s->left && getline(&line, &cap, file) > 0) {
		cut_line(line);
		consider_packaged(s, line);
	}
	free(line);
	fclose(file);
}

static void search_dpkg(struct package_search *s, int root)
{
	int folder = rootpath_open(root, "/var/lib/dpkg/info");
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	struct dirent *entry;
	if (!dir) {
		if (folder >= 0)
			close(folder);
		return;
	}
	s->tool = "apt install";
	while (s->left && (entry = readdir(dir))) {
		char path[sizeof "/var/lib/dpkg/info/" + NAME_MAX];
		size_t len = strlen(entry->d_name);
		if (len < 6 || strcmp(entry->d_name + len - 5, ".list") != 0)
			continue;
		snprintf(s->package, sizeof s->package, "%.*s", (int)strcspn(entry->d_name, ":"), entry->d_name);
		if (strlen(s->package) == len)
			s->package[len - 5] = '\0';
		snprintf(path, sizeof path, "/var/lib/dpkg/info/%s", entry->d_name);
		int fd = rootpath_open(root, path);
		if (fd >= 0)
			read_dpkg_list(s, fd);
	}
	closedir(dir);
}

/* Takes the value of the line "Package: " in a file of status.d; "" where there is none. */
static void read_package_name(struct package_search *s, int root, const char *path)
{
	static const char field[] = "Package: ";
	int fd = rootpath_open(root, path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t cap = 0;
	*s->package = '\0';
	while (file && !*s->package && getline(&line, &cap, file) > 0) {
		cut_line(line);
		if (!strncmp(line, field, strlen(field)))
			snprintf(s->package, sizeof s->package, "%s", line + strlen(field));
	}
	free(line);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
}

static void read_sums(struct package_search *s, int fd)
{
	FILE *file = fdopen(fd, "r");
	char *line = NULL, path[PATH_MAX];
	size_t cap = 0;
	while (file && s->left && getline(&line, &cap, file) > 0) {
		cut_line(line);
		const char *name = strchr(line, ' ');
		name = name ? name + strspn(name, " *") : "";
		name += !strncmp(name, "./", 2) ? 2 : *name == '/';
		if (*name && snprintf(path, sizeof path, "/%s", name) < PATH_MAX)
			consider_packaged(s, path);
	}
	free(line);
	if (file)
		fclose(file);
	else
		close(fd);
}

static void search_status_d(struct package_search *s, int root)
{
	static const char place[] = "/var/lib/dpkg/status.d", ending[] = ".md5sums";
	int folder = rootpath_open(root, place);
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);
	struct dirent *entry;
	if (!dir && folder >= 0)
		close(folder);
	s->tool = "apt install";
	while (dir && s->left && (entry = readdir(dir))) {
		char path[sizeof place + 1 + NAME_MAX];
		size_t len = strlen(entry->d_name), stem = len - strlen(ending);
		if (len <= strlen(ending) || strcmp(entry->d_name + stem, ending) != 0)
			continue;
		snprintf(path, sizeof path, "%s/%.*s", place, (int)stem, entry->d_name);
		read_package_name(s, root, path);
		snprintf(path, sizeof path, "%s/%s", place, entry->d_name);
		int fd = *s->package ? rootpath_open(root, path) : -1;
		if (fd >= 0)
			read_sums(s, fd);
	}
	if (dir)
		closedir(dir);
}

static void read_installed(struct package_search *s, FILE *file)
{
	char *line = NULL, folder[1024] = "", path[2048];
	size_t cap = 0;
	s->tool = "apk add";
	*s->package = '\0';
	while (s->left && getline(&line, &cap, file) > 0) {
		cut_line(line);
		const char *value = *line && line[1] == ':' ? line + 2 : "";
		if (*line == 'P' || *line == 'o')
			snprintf(s->package, sizeof s->package, "%s", value);
		else if (*line == 'F')
			snprintf(folder, sizeof folder, "/%s", value);
		else if (*line == 'R') {
			snprintf(path, sizeof path, "%s/%s", folder, value);
			consider_packaged(s, path);
		}
	}
	free(line);
}

static void search_apk(struct package_search *s, int root)
{
	static const char *const places[] = { "/lib/apk/db/installed", "/usr/lib/apk/db/installed" };
	for (size_t i = 0; s->left && i < sizeof places / sizeof *places; i++) {
		int fd = rootpath_open(root, places[i]);
		FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
		if (file) {
			read_installed(s, file);
			fclose(file);
			return;
		}
		if (fd >= 0)
			close(fd);
	}
}

void packages_find(const char *where, struct packaged *files, size_t count)
{
	struct package_search s = { .files = files, .count = count };
	for (size_t i = 0; i < count; i++) {
		files[i].tool = NULL;
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
