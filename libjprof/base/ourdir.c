#include "base/ourdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/search.h"

/* A file that is being written is called so, with a number behind. */
static const char unfinished[] = ".unfinished-";

enum { most_unfinished = 100, seconds_to_write = 3600, seconds_of_use = 3600, most_entries = 1 << 16 };

/* ---- the directory -------------------------------------------------------------------------------- */

static bool is_ours_alone(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Whether what this user makes there stays its own, and is no surprise to whom the directory belongs. */
static bool may_make_in(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode) && (st.st_uid == geteuid() || st.st_mode & S_ISVTX);
}

/* Makes the directory, and first those above it that are not there. */
static void make_directory(const char *path)
{
	char part[PATH_MAX];
	struct stat st;
	size_t len = strlen(path), there = len;
	if (*path != '/' || len >= sizeof part)
		return;
	memcpy(part, path, len + 1);
	while (there && stat(*part ? part : "/", &st)) {
		while (there && path[there - 1] != '/')
			there--;
		while (there && path[there - 1] == '/')
			there--;
		part[there] = '\0';
	}
	if (there == len || !may_make_in(*part ? part : "/"))
		return;
	for (bool made = true; made && there < len;) {
		there += strspn(path + there, "/");
		there += strcspn(path + there, "/");
		memcpy(part, path, there);
		part[there] = '\0';
		made = !mkdir(part, S_IRWXU) || errno == EEXIST;
	}
}

int jp_ourdir_open(const char *path, bool make)
{
	struct stat st;
	if (make)
		make_directory(path);
	int dir = jp_file_open_directory(path);
	if (dir >= 0 && (fstat(dir, &st) || !is_ours_alone(&st))) {
		jp_file_close(&dir);
		errno = EPERM;
	}
	return dir;
}

/* ---- one file ------------------------------------------------------------------------------------- */

static bool read_sized(int fd, size_t size, struct jp_strbuf *out)
{
	char *room = malloc(size + 1);
	size_t len = 0;
	ssize_t n = 1;
	while (room && len < size && n > 0) {
		n = read(fd, room + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	if (room && !out->text && len == size)
		*out = (struct jp_strbuf){ .text = room, .len = size, .cap = size + 1 };
	else
		free(room);
	out->failed = out->failed || !room;
	if (out->text)
		out->text[out->len] = '\0';
	return room && len == size;
}

/* The time of change is that of the last use, to the hour. */
static void touch_used(int fd, const struct stat *st)
{
	struct timespec now;
	if (!clock_gettime(CLOCK_REALTIME, &now) && now.tv_sec - st->st_mtime > seconds_of_use)
		(void)!futimens(fd, NULL);
}

bool jp_ourdir_read(int dir, const char *name, size_t most, struct jp_strbuf *out)
{
	struct stat st;
	int jp_cleanup(jp_file_close) fd = jp_file_open_in(dir, name);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_ours_alone(&st) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > most || !read_sized(fd, (size_t)st.st_size, out))
		return false;
	touch_used(fd, &st);
	return true;
}

static bool write_whole(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static bool is_unfinished_name(const char *name)
{
	static const char digits[] = "0123456789";
	if (strncmp(name, unfinished, sizeof unfinished - 1) != 0)
		return false;
	const char *pid = name + sizeof unfinished - 1, *number = pid + strspn(pid, digits);
	return number > pid && *number == '-' && number[1] && !number[1 + strspn(number + 1, digits)];
}

/* Whether a process that wrote it cannot be about to finish it. */
static bool is_left(const char *name, const struct stat *st)
{
	struct timespec now;
	return is_unfinished_name(name) && S_ISREG(st->st_mode) && !clock_gettime(CLOCK_REALTIME, &now) &&
	       (now.tv_sec - st->st_mtime > seconds_to_write || st->st_mtime - now.tv_sec > seconds_to_write);
}

static bool unlink_left(int dir, const char *name)
{
	struct stat st;
	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && is_left(name, &st) && !unlinkat(dir, name, 0);
}

/* A new file, whose name nobody else uses, or somebody has left. */
static int make_unfinished(int dir, char *name, size_t size)
{
	int fd = -1;
	for (int i = 0; fd < 0 && i < most_unfinished; i++) {
		snprintf(name, size, "%s%ld-%d", unfinished, (long)getpid(), i);
		fd = jp_file_make_in(dir, name);
		if (fd < 0 && errno != EEXIST)
			return -1;
		if (fd < 0 && unlink_left(dir, name))
			fd = jp_file_make_in(dir, name);
	}
	return fd;
}

enum { unfinished_name = sizeof unfinished + 40 };

/* For file systems where each file has a name. */
static bool write_unfinished(int dir, const char *name, const void *data, size_t len)
{
	char own[unfinished_name];
	int fd = make_unfinished(dir, own, sizeof own);
	if (fd < 0)
		return false;
	bool written = write_whole(fd, data, len);
	written = !close(fd) && written && !renameat(dir, own, dir, name);
	if (!written)
		unlinkat(dir, own, 0);
	return written;
}

/* Only a rename puts a file in place of another. */
static bool name_whole(int fd, int dir, const char *name)
{
	char own[unfinished_name];
	if (!jp_file_name_in(fd, dir, name))
		return true;
	if (errno != EEXIST)
		return false;
	snprintf(own, sizeof own, "%s%ld-0", unfinished, (long)getpid());
	unlink_left(dir, own);
	if (jp_file_name_in(fd, dir, own))
		return false;
	bool named = !renameat(dir, own, dir, name);
	if (!named)
		unlinkat(dir, own, 0);
	return named;
}

bool jp_ourdir_write(int dir, const char *name, const void *data, size_t len)
{
	int jp_cleanup(jp_file_close) fd = jp_file_make_nameless(dir);
	if (fd < 0)
		return write_unfinished(dir, name, data, len);
	return write_whole(fd, data, len) && (name_whole(fd, dir, name) || write_unfinished(dir, name, data, len));
}

/* ---- all of them ---------------------------------------------------------------------------------- */

struct dir_file {
	struct timespec used;
	uint64_t size;
	char name[NAME_MAX + 1];
};

struct dir_list {
	struct dir_file *items;
	size_t count, cap;
	uint64_t bytes;
};

static void release_list(struct dir_list *list)
{
	free(list->items);
}

static bool list_file(struct dir_list *list, const char *name, const struct stat *st)
{
	if (jp_array_push(list->items, list->count, list->cap))
		return false;
	struct dir_file *file = &list->items[list->count++];
	*file = (struct dir_file){ .used = st->st_mtim, .size = (uint64_t)st->st_size };
	snprintf(file->name, sizeof file->name, "%s", name);
	list->bytes += file->size;
	return true;
}

/* The caller's own files, and with `left` what was left unfinished. */
static bool list_files(int dir, jp_ourdir_own *is_own, struct dir_list *list, struct dir_list *left)
{
	struct stat st;
	struct dirent *entry;
	int again = jp_file_open_in(dir, ".");
	DIR *entries = again < 0 ? NULL : fdopendir(again);
	bool good = entries;
	if (!entries)
		jp_file_close(&again);
	while (good && (entry = readdir(entries)) && list->count < most_entries) {
		const char *name = entry->d_name;
		if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (*name != '.' && is_own(dir, name))
			good = list_file(list, name, &st);
		else if (left && is_left(name, &st))
			good = list_file(left, name, &st);
	}
	if (entries)
		closedir(entries);
	return good;
}

bool jp_ourdir_measure(int dir, jp_ourdir_own *is_own, struct jp_ourdir_sum *sum)
{
	struct dir_list jp_cleanup(release_list) list = { 0 };
	bool good = list_files(dir, is_own, &list, NULL);
	*sum = (struct jp_ourdir_sum){ list.count, list.bytes };
	return good;
}

static int by_use(const void *a, const void *b)
{
	const struct dir_file *x = a, *y = b;
	return jp_order_by(x->used.tv_sec, y->used.tv_sec,
	                   jp_order_by(x->used.tv_nsec, y->used.tv_nsec, strcmp(x->name, y->name)));
}

/* With `most` 0 all of them, those of no bytes too. */
static bool remove_until(int dir, struct dir_list *list, uint64_t most, struct jp_ourdir_sum *removed)
{
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, by_use);
	for (size_t i = 0; i < list->count && (!most || list->bytes > most); i++) {
		if (unlinkat(dir, list->items[i].name, 0) && errno != ENOENT)
			return false;
		list->bytes -= list->items[i].size;
		removed->files++;
		removed->bytes += list->items[i].size;
	}
	return true;
}

bool jp_ourdir_trim(int dir, jp_ourdir_own *is_own, uint64_t most, struct jp_ourdir_sum *removed)
{
	struct dir_list jp_cleanup(release_list) list = { 0 };
	struct dir_list jp_cleanup(release_list) left = { 0 };
	struct jp_ourdir_sum dropped = { 0 };
	*removed = (struct jp_ourdir_sum){ 0 };
	return list_files(dir, is_own, &list, &left) && remove_until(dir, &left, 0, &dropped) &&
	       remove_until(dir, &list, most, removed);
}
