#include "bundle/member_figures.h"

#include <stdio.h>
#include <string.h>

/* The number of KiB behind "KEY:" at the beginning of a line of a file of /proc; false: there is none. */
static bool proc_number(const struct jp_bundle_file *file, const char *key, double *bytes)
{
	size_t len = strlen(key);
	unsigned long long number;
	for (const char *line = file ? file->data : NULL; line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, len) && line[len] == ':' && sscanf(line + len + 1, "%20llu", &number) == 1) {
			*bytes = (double)number * 1024;
			return true;
		}
	return false;
}

void jp_figures_of_member(struct jp_outside *to, const struct jp_bundle_member *member)
{
	double bytes;
	to->now.processes++;
	if (proc_number(jp_bundle_file(member, "status"), "RssAnon", &bytes))
		jp_known_add(&to->now.rss_anon, bytes);
	if (proc_number(jp_bundle_file(member, "smaps_rollup"), "Pss", &bytes))
		jp_known_add(&to->now.pss, bytes);
}

void jp_figures_of_sidecar(struct jp_outside *to, jp_json *sidecar)
{
	jp_json *ruby = jp_json_get(sidecar, "ruby"), *stat = jp_json_get(ruby, "gc_stat");
	uint64_t pages = jp_json_number(stat, "heap_allocated_pages");
	double size =
	    jp_gc_page_size(jp_json_text(ruby, "version"), pages, jp_json_number(stat, "heap_available_slots"));
	if (pages && size > 0)
		jp_known_add(&to->now.gc_heap, (double)pages * size);
	jp_json *malloc_stats = jp_json_get(jp_json_get(sidecar, "malloc_stats"), "jemalloc");
	jp_json *sums = jp_json_get(malloc_stats, "stats");
	uint64_t resident = jp_json_number(sums, "resident"), allocated = jp_json_number(sums, "allocated");
	if (allocated && resident >= allocated)
		jp_known_add(&to->now.kept, (double)(resident - allocated));
}
