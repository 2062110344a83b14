#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "entries.h"
#include "handle.h"
#include "jemalloc.h"

static const char *prefix; /* jemalloc's own text, which does not change */

void place_init(void)
{
	prefix = jemalloc_string("opt.prof_prefix");
	if (!prefix || !*prefix)
		prefix = "jeprof";
}

int place_find(struct dump_place *place)
{
	const char *slash = strrchr(prefix, '/'), *base = slash ? slash + 1 : prefix;
	size_t dir_len = slash ? (size_t)(slash - prefix) : 0, used = 0;
	if (strlen(base) >= sizeof place->base)
		return ENAMETOOLONG;
	strcpy(place->base, base);
	if (*prefix != '/') {
		if (!getcwd(place->dir, sizeof place->dir))
			return errno;
		used = strlen(place->dir);
	}
	int len = snprintf(place->dir + used, sizeof place->dir - used, "%s%.*s", dir_len && used > 1 ? "/" : "",
	                   (int)dir_len, prefix);
	if (len < 0 || (size_t)len >= sizeof place->dir - used)
		return ENAMETOOLONG;
	if (!*place->dir)
		strcpy(place->dir, "/");
	return 0;
}

int place_entries(const char *dir, bool (*each)(const char *name, void *arg), void *arg)
{
	int fd = handle_open(HANDLE_BRIEF, dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return errno;
	int error = entries_read(fd, each, arg);
	handle_close(HANDLE_BRIEF);
	return error;
}

struct seq_search {
	char start[NAME_MAX + 32]; /* BASE.PID. */
	unsigned next;
};

static bool note_seq(const char *name, void *arg)
{
	struct seq_search *search = arg;
	size_t len = strlen(search->start);
	char *end;
	if (strncmp(name, search->start, len) != 0 || name[len] < '0' || name[len] > '9')
		return true;
	unsigned long seq = strtoul(name + len, &end, 10);
	if (*end == '.' && seq < UINT32_MAX && seq >= search->next)
		search->next = (unsigned)seq + 1;
	return true;
}

unsigned place_next_seq(const struct dump_place *place)
{
	struct seq_search search = { .next = 0 };
	snprintf(search.start, sizeof search.start, "%s.%d.", place->base, (int)getpid());
	place_entries(place->dir, note_seq, &search);
	return search.next;
}
