#include "ops/findgems.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/reader.h"
#include "base/strbuf.h"
#include "model/gems.h"

enum { max_list = 1 << 20 };

struct gem_search {
	struct jprof_profile *profile;
	struct jp_root root;
	struct jp_intern tried; /* names */
	struct jp_strbuf list;  /* of the package at hand */
};

/* Reads a list of files; false if there is none, or none of a reasonable size. */
static bool read_file_list(struct gem_search *g, const char *path)
{
	struct stat st;
	int jp_cleanup(jp_file_close) fd = jp_file_open_untrusted(g->root, path, &st);
	char buffer[16384];
	ssize_t n;
	jp_strbuf_cut(&g->list, 0);
	if (fd < 0 || st.st_size > max_list)
		return false;
	while ((n = read(fd, buffer, sizeof buffer)) > 0 && g->list.len <= max_list)
		jp_strbuf_add(&g->list, buffer, (size_t)n);
	return !n && g->list.len && !g->list.failed;
}

/* The package has the file; then the version in the name of its specification of that gem is stored in *version. */
static bool is_packaged(const struct gem_search *g, const char *file, struct jp_span name, struct jp_span *version)
{
	static const char folder[] = "/specifications/", ending[] = ".gemspec";
	struct jp_reader reader;
	struct jp_span line;
	bool has_file = false;
	jp_reader_init(&reader, g->list.text, g->list.len);
	while (jp_reader_line(&reader, &line)) {
		const char *at = memmem(line.ptr, line.len, folder, strlen(folder));
		has_file = has_file || (line.len == strlen(file) && !memcmp(line.ptr, file, line.len));
		if (!at || !jp_span_ends(line, ending))
			continue;
		at += strlen(folder);
		struct jp_span spec = { at, (size_t)(line.ptr + line.len - strlen(ending) - at) };
		if (spec.len <= name.len + 1 || memcmp(spec.ptr, name.ptr, name.len) != 0 || spec.ptr[name.len] != '-')
			continue;
		struct jp_span found = { spec.ptr + name.len + 1, spec.len - name.len - 1 };
		if (found.ptr[0] >= '0' && found.ptr[0] <= '9' && !memchr(found.ptr, '-', found.len))
			*version = found;
	}
	return has_file && version->len;
}

/* Packages are called ruby-NAME or NAME; of a name that several architectures share, with that of theirs. */
static int find_gem(struct gem_search *g, const char *file, struct jp_span name)
{
	static const char *const before[] = { "ruby-", "" };
	static const char *const after[] = { "", ":amd64", ":arm64" };
	char path[PATH_MAX];
	for (size_t i = 0; i < jp_count(before) * jp_count(after); i++) {
		struct jp_span version = { 0 };
		size_t n =
		    (size_t)snprintf(path, sizeof path, "/var/lib/dpkg/info/%s%.*s%s.list", before[i / jp_count(after)],
		                     (int)name.len, name.ptr, after[i % jp_count(after)]);
		if (n >= sizeof path)
			return 0;
		for (char *c = path; *c; c++)
			*c = *c == '_' ? '-' : *c;
		if (!read_file_list(g, path) || !is_packaged(g, file, name, &version))
			continue;
		snprintf(path, sizeof path, "%.*s %.*s", (int)name.len, name.ptr, (int)version.len, version.ptr);
		return jp_intern_str(&g->profile->gems, path) == JP_NONE ? -1 : 0;
	}
	return g->list.failed ? -1 : 0;
}

static int look_at(struct gem_search *g, const char *path)
{
	struct jp_span name = *path == '/' ? jp_vendored_gem(path) : (struct jp_span){ 0 };
	uint32_t known = g->tried.count;
	if (!name.len || known >= jp_most_gems || jp_gem_version(&g->profile->gems, name))
		return 0;
	uint32_t id = jp_intern(&g->tried, name.ptr, name.len);
	if (id == JP_NONE)
		return -1;
	return id < known ? 0 : find_gem(g, path, name);
}

/* Whether the profile is of this machine, or of the sysroot: its Ruby is here. */
static bool has_ruby_here(const struct jprof_profile *p)
{
	bool found = false;
	for (uint32_t i = 0; i < jp_object_count(p); i++) {
		if (p->objects[i].bundled)
			return false;
		found = found || (p->objects[i].file != JP_NONE && jp_is_ruby_file(jp_string(p, p->objects[i].path)));
	}
	return found;
}

int jp_find_gems(struct jprof_profile *p, struct jp_root root)
{
	struct gem_search g = { .profile = p, .root = root };
	int rc = 0;
	bool here = has_ruby_here(p);
	for (uint32_t i = 0; !rc && here && i < jp_object_count(p); i++)
		rc = look_at(&g, jp_string(p, p->objects[i].path));
	for (uint32_t i = 0; !rc && here && i < jp_function_count(p); i++)
		if (p->functions[i].file != JP_NONE)
			rc = look_at(&g, jp_string(p, p->functions[i].file));
	jp_intern_release(&g.tried);
	jp_strbuf_release(&g.list);
	return rc;
}
