/* pagemap: Documentation/admin-guide/mm/pagemap.rst of the kernel. */
#include "outside/livesource.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "collect/procfs.h"
#include "collect/target.h"
#include "input/maps.h"
#include "outside/refusal.h"

/* Leaves room for a process of 100 GB: its tables are 200 MB, its records some 500 MB. */
static const uint64_t most_reading = 4ULL << 30;

enum { most_maps_of_process = 32 << 20 };

struct livesource {
	struct jp_memsource base;
	int mem, pagemap;
};

static size_t live_read(struct jp_memsource *source, uint64_t address, void *to, size_t size)
{
	const struct livesource *s = (const struct livesource *)source;
	ssize_t n = address > INT64_MAX ? -1 : pread(s->mem, to, size, (off_t)address);
	return n < 0 ? 0 : (size_t)n;
}

static void live_look(struct jp_memsource *source, struct jp_memory_pages *unit)
{
	enum { pages = jp_memory_unit / jp_memory_page, present = 63, swapped = 62, alone = 56 };
	const struct livesource *s = (const struct livesource *)source;
	uint64_t words[pages] = { 0 };
	if (unit->number > INT64_MAX / sizeof words ||
	    pread(s->pagemap, words, sizeof words, (off_t)(unit->number * sizeof words)) < 0)
		return;
	for (size_t i = 0; i < pages; i++) {
		unit->there[i / 64] |= (words[i] >> present) << i % 64;
		unit->alone[i / 64] |= (words[i] >> alone & 1) << i % 64;
		unit->swapped[i / 64] |= (words[i] >> swapped & 1) << i % 64;
	}
}

static void live_close(struct jp_memsource *source)
{
	struct livesource *s = (struct livesource *)source;
	jp_file_close(&s->mem);
	jp_file_close(&s->pagemap);
	free(s);
}

static int read_live_maps(struct livesource *s, const struct jprof_target *t, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_reader reader;
	int error = jp_proc_read(t->proc, t->pid, "maps", most_maps_of_process, &text);
	if (error)
		return jp_proc_error(err, t->pid, error);
	jp_reader_init(&reader, text.text, text.len);
	(void)jp_maps_read(&reader, "maps", &s->base.maps, NULL);
	return s->base.maps ? 0 : jp_error_nomem(err);
}

/* A thread that waits in a system call says where its stack ends: the last number but one. One that runs does not. */
static int read_stack_pointer(struct livesource *s, const struct jprof_target *t, const char *thread)
{
	char name[64];
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	snprintf(name, sizeof name, "task/%.20s/syscall", thread);
	const char *at = jp_proc_read(t->proc, t->pid, name, 512, &text) || !text.len ? NULL : strstr(text.text, " 0x");
	for (const char *next; at && (next = strstr(at + 1, " 0x")) && strstr(next + 1, " 0x");)
		at = next;
	uint64_t pointer = at ? strtoull(at + 1, NULL, 16) : 0;
	if (!pointer)
		return 0;
	if (jp_array_push(s->base.stacks, s->base.stack_count, s->base.stack_cap))
		return -1;
	s->base.stacks[s->base.stack_count++] = pointer;
	return 0;
}

static int read_stack_pointers(struct livesource *s, const struct jprof_target *t)
{
	enum { most_stacks = 1 << 16 };
	DIR *dir = opendir(jp_target_path(t, "task"));
	int rc = 0;
	for (struct dirent *e; dir && !rc && s->base.stack_count < most_stacks && (e = readdir(dir));)
		rc = isdigit((unsigned char)*e->d_name) ? read_stack_pointer(s, t, e->d_name) : 0;
	if (dir)
		closedir(dir);
	return rc;
}

int jp_livesource_open(const struct jprof_target *t, struct jp_memsource **out, struct jprof_error *err)
{
	struct livesource *s = calloc(1, sizeof *s);
	if (!s)
		return jp_error_nomem(err);
	s->base = (struct jp_memsource){ live_read, live_look, live_close, .left = most_reading };
	s->mem = open(jp_target_path(t, "mem"), O_RDONLY | O_CLOEXEC);
	s->pagemap = s->mem < 0 ? -1 : open(jp_target_path(t, "pagemap"), O_RDONLY | O_CLOEXEC);
	int rc = s->pagemap < 0 ? jp_refusal(t, errno, err) : read_live_maps(s, t, err);
	if (!rc && read_stack_pointers(s, t))
		rc = jp_error_nomem(err);
	rc = rc ? rc : jprof_target_check(t, err);
	if (rc)
		jp_memsource_close(&s->base);
	else
		*out = &s->base;
	return rc;
}
