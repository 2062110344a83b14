#include "answers/linekeepers.h"

#include <stdio.h>
#include <string.h>

#include "answers/heapsource.h"
#include "cli/jsonprint.h"
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
	jp_strbuf_printf(text, ", %.0f %% of them, by %llu sample%s%s%s", 100 * (double)k->keeps / (double)info->bytes,
	                 (unsigned long long)k->made_samples, k->made_samples == 1 ? "" : "s",
	                 *l->process ? ", in " : "", l->process);
	jp_strbuf_visible(answer_add_detail(a, "path"), k->path);
}

/* Who keeps the objects of a line, most first; to be freed. NULL: nothing is known. */
static struct jprof_keepers *keepers_of_line(const struct line_keepers *l, const char *file, unsigned line)
{
	struct jp_strbuf site = { 0 };
	struct jprof_keepers *keepers = NULL;
	jp_strbuf_printf(&site, "%s:%u", file, line);
	const struct jprof_keepers_opts opts = { .size = sizeof opts, .site = shortage_text(&site) };
	if (l->heap)
		shortage_note_code(jprof_keepers_new(l->heap, &opts, &keepers, NULL));
	jp_strbuf_release(&site);
	return keepers;
}

/* "Shop::CACHE" of "Shop::CACHE (constant) > Hash > String" */
static void put_root(struct jp_strbuf *to, const char *path)
{
	static const char constant[] = " (constant)";
	size_t len = strcspn(path, " ");
	if (*path == '@' || *path == '$' || !strncmp(path + len, constant, sizeof constant - 1))
		jp_strbuf_visible_bytes(to, path, len);
}

bool line_keepers_add(struct answer *a, const struct line_keepers *l, const char *file, unsigned line,
                      struct jp_strbuf *root)
{
	struct jprof_keepers *keepers = keepers_of_line(l, file, line);
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0);
	if (first) {
		add_keeper_of_line(a, l, first, jprof_keepers_info(keepers));
		put_root(root, first->path);
	}
	jprof_keepers_free(keepers);
	return first;
}

void line_keepers_json(FILE *out, const struct line_keepers *l, const char *file, unsigned line)
{
	struct jprof_keepers *keepers = keepers_of_line(l, file, line);
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0);
	if (first)
		json_print(
		    out,
		    "{\"what\": %s, \"holder\": %s, \"path\": %s, \"share\": %.3f, \"samples\": %f, \"process\": %s}",
		    first->what, *first->holder ? first->holder : NULL, first->path,
		    (double)first->keeps / (double)jprof_keepers_info(keepers)->bytes, (double)first->made_samples,
		    *l->process ? l->process : NULL);
	else
		fputs("null", out);
	jprof_keepers_free(keepers);
}

void line_keepers_release(struct line_keepers *k)
{
	jprof_rubyheap_free(k->heap);
	*k = (struct line_keepers){ 0 };
}
