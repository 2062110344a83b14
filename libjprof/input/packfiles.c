#include "input/packfiles.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "input/builtinpacks.h"

enum { most_in_directory = 256, longest_pack_path = 4096 };

static const char pack_ending[] = ".jnames";

/* Calls `each` with every part of a comma-separated list, until it returns other than 0. */
static int each_part(struct jp_packfiles *packs, const char *list,
                     int (*each)(struct jp_packfiles *packs, const char *part, struct jprof_error *err),
                     struct jprof_error *err)
{
	char part[longest_pack_path];
	int rc = 0;
	while (!rc && list && *list) {
		size_t len = strcspn(list, ",");
		if (len && len < sizeof part) {
			memcpy(part, list, len);
			part[len] = '\0';
			rc = each(packs, part, err);
		} else if (len && err) {
			rc = jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "the path of a pack of names is too long");
		}
		list += len + (list[len] == ',');
	}
	return rc;
}

static int add_packfile(struct jp_packfiles *packs, const char *path, const void *data, size_t len,
                        struct jprof_error *err)
{
	struct jp_packfile file = { .path = jp_arena_dup(&packs->arena, path, strlen(path)) };
	if (!file.path || jp_array_push(packs->items, packs->count, packs->cap))
		return jp_error_nomem(err);
	int rc = jp_namepack_label_read(data, len, &packs->arena, &file.label, err);
	if (!rc)
		packs->items[packs->count++] = file;
	return rc;
}

/* ---- files that the user named ------------------------------------------------------------------- */

static int add_given(struct jp_packfiles *packs, const char *path, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) bytes = { 0 };
	struct jp_namepack pack = { 0 };
	struct jprof_error why = { 0 };
	int rc = jp_file_read_most(path, jp_namepack_most_bytes, &bytes, err);
	if (rc)
		return rc;
	rc = jp_namepack_read(bytes.text, bytes.len, &pack, &why);
	jp_namepack_release(&pack);
	if (!rc)
		rc = add_packfile(packs, path, bytes.text, bytes.len, &why);
	if (rc == JPROF_E_NOMEM)
		return jp_error_nomem(err);
	return rc ? jp_error(err, rc, path, 0, "%s", why.text) : 0;
}

int jp_packfiles_add(struct jp_packfiles *packs, const char *files, struct jprof_error *err)
{
	return each_part(packs, files, add_given, err);
}

/* ---- directories -------------------------------------------------------------------------------- */

static int is_pack_name(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name), ending = sizeof pack_ending - 1;
	return len > ending && !strcmp(entry->d_name + len - ending, pack_ending);
}

static int by_pack_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int add_found(struct jp_packfiles *packs, const char *path)
{
	char head[jp_namepack_label_bytes];
	struct jprof_error why = { 0 };
	struct stat st;
	int fd jp_cleanup(jp_file_close) =
	    jp_file_open_untrusted((struct jp_root){ .notice = packs->notice }, path, &st);
	ssize_t n = fd >= 0 ? pread(fd, head, sizeof head, 0) : -1;
	if (n < 0)
		snprintf(why.text, sizeof why.text, "cannot be read");
	else if (!add_packfile(packs, path, head, (size_t)n, &why))
		return 0;
	else if (why.code == JPROF_E_NOMEM)
		return -1;
	if (packs->refused.len)
		jp_strbuf_str(&packs->refused, "; ");
	jp_strbuf_visible(&packs->refused, path);
	jp_strbuf_printf(&packs->refused, " %s", why.text);
	return packs->refused.failed ? -1 : 0;
}

static int add_pack_directory(struct jp_packfiles *packs, const char *dir, struct jprof_error *err)
{
	struct dirent **entries;
	char path[longest_pack_path];
	int count = scandir(dir, &entries, is_pack_name, by_pack_name), rc = 0;
	(void)err;
	for (int i = 0; i < count; i++) {
		int n = snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
		if (!rc && i < most_in_directory && n > 0 && (size_t)n < sizeof path)
			rc = add_found(packs, path);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return rc;
}

/* ---- in the program ------------------------------------------------------------------------------ */

static int add_builtin(struct jp_packfiles *packs)
{
	const struct jp_builtin_pack *pack;
	struct jprof_error why;
	for (size_t i = 0; (pack = jp_builtin_pack_at(i)); i++) {
		if (add_packfile(packs, pack->name, pack->begin, (size_t)(pack->end - pack->begin), &why))
			return -1;
		packs->items[packs->count - 1].builtin = pack;
	}
	return 0;
}

/* A copy of it, as a file. */
static int open_builtin(const struct jp_builtin_pack *pack)
{
	int fd = jp_file_make_memory();
	size_t size = (size_t)(pack->end - pack->begin);
	if (fd >= 0 && write(fd, pack->begin, size) == (ssize_t)size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int jp_packfiles_scan(struct jp_packfiles *packs, const char *dirs)
{
	if (each_part(packs, dirs, add_pack_directory, NULL))
		return -1;
	return dirs ? add_builtin(packs) : 0;
}

/* ---- asking ------------------------------------------------------------------------------------- */

size_t jp_packfiles_open(const struct jp_packfiles *packs, unsigned machine, const char *soname,
                         struct jp_open_file files[static jp_most_packs])
{
	size_t count = 0;
	for (size_t i = 0; packs && i < packs->count && count < jp_most_packs; i++) {
		const struct jp_packfile *p = &packs->items[i];
		struct stat st;
		if (p->label.machine != machine || !*soname || strcmp(p->label.soname, soname) != 0)
			continue;
		int fd = p->builtin ? open_builtin(p->builtin)
		                    : jp_file_open_untrusted((struct jp_root){ .notice = packs->notice }, p->path, &st);
		if (fd >= 0)
			files[count++] = (struct jp_open_file){ fd, p->path };
	}
	return count;
}

void jp_packfiles_release(struct jp_packfiles *packs)
{
	free(packs->items);
	jp_strbuf_release(&packs->refused);
	jp_arena_release(&packs->arena);
	*packs = (struct jp_packfiles){ 0 };
}
