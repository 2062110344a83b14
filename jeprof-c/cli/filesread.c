#include "cli/filesread.h"

#include <stdlib.h>

struct read_file {
	dev_t device;
	ino_t inode;
};

static struct read_file *files_read;
static size_t read_count, read_cap;
static bool lacks_some; /* memory was short */

void filesread_add(const struct stat *st)
{
	if (read_count == read_cap) {
		size_t cap = read_cap ? 2 * read_cap : 64;
		struct read_file *grown = reallocarray(files_read, cap, sizeof *grown);
		if (!grown) {
			lacks_some = true;
			return;
		}
		files_read = grown;
		read_cap = cap;
	}
	files_read[read_count++] = (struct read_file){ st->st_dev, st->st_ino };
}

static void keep_opened(void *context, const struct stat *st)
{
	(void)context;
	filesread_add(st);
}

const struct jprof_notice *filesread_notice(void)
{
	static const struct jprof_notice notice = { .opened = keep_opened };
	return &notice;
}

const char *filesread_refusal(const struct stat *st)
{
	for (size_t i = 0; i < read_count; i++)
		if (files_read[i].device == st->st_dev && files_read[i].inode == st->st_ino)
			return "it is read for this report; give another name with -o";
	return lacks_some ? "memory is short" : NULL;
}
