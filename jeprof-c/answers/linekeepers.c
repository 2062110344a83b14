#include "answers/linekeepers.h"

#include <stdio.h>

#include "answers/heapsource.h"
#include "cli/say.h"
#include "cli/shortage.h"

void line_keepers_find(struct line_keepers *k, const char *path, const char *member)
{
	struct heap_source source = { .silent = true };
	*k = (struct line_keepers){ .heap = heap_source_open(&source, path, member) };
	if (k->heap && !jprof_rubyheap_info(k->heap)->has_lines)
		line_keepers_release(k);
	if (k->heap && source.others)
		snprintf(k->process, sizeof k->process, "%s", source.process);
}

/* "a Hash of 54,107 in Shop::Cache, 96 % of them, by 210 samples (in process 21)" */
static void add_keeper_of_line(struct answer *a, const struct line_keepers *l, const struct jprof_keeper *k,
                               const struct jprof_keepers_info *info)
{
	struct jp_strbuf *text = answer_add_detail(a, "kept by");
	jp_strbuf_visible(text, k->what);
	jp_strbuf_str(text, *k->holder ? " in " : "");
	jp_strbuf_visible(text, k->holder);
	jp_strbuf_printf(text, ", %.0f %% of them, by %llu sample%s%s%s",
	                 100 * (double)k->objects / (double)info->objects, (unsigned long long)k->made_samples,
	                 k->made_samples == 1 ? "" : "s", *l->process ? ", in " : "", l->process);
	jp_strbuf_visible(answer_add_detail(a, "path"), k->path);
}

bool line_keepers_add(struct answer *a, const struct line_keepers *l, const char *file, unsigned line)
{
	struct jp_strbuf site = { 0 };
	struct jprof_keepers *keepers = NULL;
	jp_strbuf_printf(&site, "%s:%u", file, line);
	const struct jprof_keepers_opts opts = { .size = sizeof opts, .site = shortage_text(&site) };
	if (l->heap)
		shortage_note_code(jprof_keepers_new(l->heap, &opts, &keepers, NULL));
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0);
	if (first)
		add_keeper_of_line(a, l, first, jprof_keepers_info(keepers));
	jprof_keepers_free(keepers);
	jp_strbuf_release(&site);
	return first;
}

void line_keepers_release(struct line_keepers *k)
{
	jprof_rubyheap_free(k->heap);
	*k = (struct line_keepers){ 0 };
}
