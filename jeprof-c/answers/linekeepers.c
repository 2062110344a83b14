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
	bool graph = k->heap;
	if (graph && !jprof_rubyheap_info(k->heap)->has_lines)
		line_keepers_release(k);
	k->graph = graph;
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

static const char threads_end[] = "a thread stays, with all that it sees, until it ends: let them end, or use a pool";

/* What Ruby keeps until it ends, by the beginning of the path. */
static const struct {
	const char *root, *remedy;
	bool whole; /* that is all of the path */
} for_ever[] = {
	{ "Ruby's table of Symbols",
	  "Symbols that name methods, constants or variables are never freed: make fewer of such names", false },
	{ "at_exit", "a block of at_exit stays until the end: register it once", false },
	{ "Ruby > Ractor > Thread", threads_end, true },
	{ "Thread", threads_end, true },
	{ "a finalizer",
	  "a finalizer keeps what its block can see until its object is freed: let it see less, or free "
	  "that object",
	  false },
};

/* "[:store] > Hash" of "Thread[:store] > Hash", and of "Thread > Fiber[:store] > Hash", as Ruby 3.3 has it; else NULL.
 */
static const char *key_of_thread(const char *path)
{
	static const char *const holders[] = { "Thread[:", "Thread > Fiber[:" };
	for (size_t i = 0; i < sizeof holders / sizeof *holders; i++)
		if (!strncmp(path, holders[i], strlen(holders[i])))
			return strchr(path, ']') ? path + strlen(holders[i]) - strlen("[:") : NULL;
	return NULL;
}

/* "give Shop::CACHE a limit", of "Shop::CACHE (constant) > Hash > String" */
static void put_remedy(struct jp_strbuf *to, const char *path)
{
	static const char constant[] = " (constant)";
	const char *key = key_of_thread(path);
	size_t len = strcspn(path, " ");
	for (size_t i = 0; i < sizeof for_ever / sizeof *for_ever; i++) {
		size_t root = strlen(for_ever[i].root);
		if (!strncmp(path, for_ever[i].root, root) && !(for_ever[i].whole && path[root])) {
			jp_strbuf_str(to, for_ever[i].remedy);
			return;
		}
	}
	if (!key && *path != '@' && *path != '$' && strncmp(path + len, constant, sizeof constant - 1) != 0)
		return;
	jp_strbuf_str(to, key ? "give Thread.current" : "give ");
	jp_strbuf_visible_bytes(to, key ? key : path, key ? strcspn(key, "]") + 1 : len);
	jp_strbuf_str(to, " a limit, or take them out of there again. A cache that still fills looks the same");
}

bool line_keepers_add(struct answer *a, const struct line_keepers *l, const char *file, unsigned line,
                      struct jp_strbuf *remedy)
{
	static const double worth_saying = 0.1;
	struct jprof_keepers *keepers = keepers_of_line(l, file, line);
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0);
	bool kept = first && (double)first->keeps >= worth_saying * (double)jprof_keepers_info(keepers)->bytes;
	if (kept) {
		add_keeper_of_line(a, l, first, jprof_keepers_info(keepers));
		put_remedy(remedy, first->path);
	}
	jprof_keepers_free(keepers);
	return kept;
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
