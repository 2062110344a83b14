#include "answers/born_snapshots.h"

#include <string.h>

#include "answers/born_text.h"
#include "answers/heapsource.h"
#include "answers/measure.h"
#include "cli/answer.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "jprof.h"

enum { born_keeper_blocks = 2, born_line_blocks = 2, most_snapshots = 3 };

/* What gives way on a screen of few lines, the higher first: where lines are known a block of one has its keeper. */
enum { gives_block = answer_gives_most, gives_words = 8, gives_keepers = 7, gives_line = 6 };

/* What is printed. */
struct born_screen {
	size_t snapshots, top;
	bool fits; /* the height of the terminal */
	const struct heap_source *source;
	const struct jprof_rubyheap *heap;
	const struct jprof_born *lines;
	const struct jprof_born_info *born;
	const struct jprof_keepers *keepers;
	const struct jprof_keepers_info *info;
};

static void add_bytes(struct jp_strbuf *text, const struct born_screen *s, double bytes)
{
	measure_add(text, measure_fit(measure_for((double)s->info->bytes), bytes), bytes);
}

/* "a Hash of 54,107 in Shop::CACHE" */
static void add_born_name(struct jp_strbuf *text, const struct jprof_keeper *k)
{
	jp_strbuf_visible(text, k->what);
	jp_strbuf_str(text, *k->holder ? " in " : "");
	jp_strbuf_visible(text, k->holder);
}

static void add_snapshots_head(struct answer *a, const struct born_screen *s)
{
	struct jp_strbuf *text = answer_add(a, ANSWER_HEAD);
	jp_strbuf_printf(text, "%s snapshots of %s; what was born after the first and lives in the %s: ",
	                 s->snapshots == most_snapshots ? "Three" : "Two", s->source->process,
	                 s->snapshots == most_snapshots ? "second and the third" : "second");
	add_bytes(text, s, (double)s->info->bytes);
	jp_strbuf_str(text, " in ");
	jp_strbuf_grouped(text, s->info->objects, 0);
	jp_strbuf_str(text, " objects at least.");
	if (!s->born->samples)
		return;
	jp_strbuf_printf(text, " By %llu samples it is ", (unsigned long long)s->born->samples);
	add_bytes(text, s, s->born->sampled_bytes);
	jp_strbuf_printf(text, " (%s", terminal_plus_minus());
	add_bytes(text, s, s->born->sampled_error);
	jp_strbuf_str(text, ").");
}

static void add_born_keeper_block(struct answer *a, const struct born_screen *s, size_t i)
{
	const struct jprof_keeper *k = jprof_keepers_at(s->keepers, i);
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "%zu  +", i + 1);
	add_bytes(text, s, (double)k->keeps);
	jp_strbuf_str(text, "  ");
	add_born_name(text, k);
	jp_strbuf_visible(answer_add_detail(a, "path"), k->path);
	if (!*k->made_at)
		return;
	text = answer_add_detail(a, "made at");
	jp_strbuf_visible(text, k->made_at);
	jp_strbuf_printf(text, "  %.0f %% (of %llu sample%s)", 100 * k->made_share, (unsigned long long)k->made_samples,
	                 k->made_samples == 1 ? "" : "s");
}

static void add_born_row(struct jp_strbuf *lines, struct measure m, uint64_t bytes, uint64_t objects)
{
	jp_strbuf_printf(lines, "%8s  ", measure_number(m, (double)bytes).text);
	jp_strbuf_grouped(lines, objects, 11);
	jp_strbuf_str(lines, "  ");
}

static void add_born_keepers(struct answer *a, const struct born_screen *s)
{
	size_t count = jprof_keepers_count(s->keepers), shown = s->top && s->top < count ? s->top : count;
	struct measure m = measure_for((double)s->info->bytes);
	uint64_t bytes = s->info->bytes, objects = s->info->objects;
	a->gives = s->born->samples ? gives_keepers : 0;
	jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "%8s  %11s  kept by  (%s)", "born", "objects", m.name);
	struct jp_strbuf *lines = answer_add(a, ANSWER_LINES);
	for (size_t i = 0; i < shown; i++) {
		const struct jprof_keeper *k = jprof_keepers_at(s->keepers, i);
		add_born_row(lines, m, k->keeps, k->objects);
		add_born_name(lines, k);
		jp_strbuf_str(lines, "\n");
		bytes -= k->keeps;
		objects -= k->objects;
	}
	add_born_row(lines, m, bytes, objects);
	jp_strbuf_str(lines, count > shown ? "others (--top=0)\n" : "others\n");
	add_born_row(lines, m, s->info->bytes, s->info->objects);
	jp_strbuf_str(lines, "all\n");
	if (s->info->unrooted_objects) {
		add_born_row(lines, m, s->info->unrooted_bytes, s->info->unrooted_objects);
		jp_strbuf_str(lines, "no root leads to them: garbage, most of it\n");
	}
	a->gives = s->born->samples ? gives_words : 0;
	jp_strbuf_str(answer_add(a, ANSWER_NOTE),
	              "at least: where an object died, another of its class may have got its place. Only samples tell "
	              "these two apart.");
}

static void add_sampled_row(struct jp_strbuf *lines, struct measure m, double bytes, double error, uint64_t samples)
{
	jp_strbuf_printf(lines, "%8s  %7s", measure_number(m, bytes).text, measure_number(m, error).text);
	jp_strbuf_grouped(lines, samples, 9);
	jp_strbuf_str(lines, "  ");
}

static void add_sampled_lines(struct answer *a, const struct born_screen *s)
{
	size_t count = jprof_born_count(s->lines), shown = s->top && s->top < count ? s->top : count;
	struct measure m = measure_for(s->born->sampled_bytes);
	jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "%8s  %*s95%%%9s  made at  (%s)", "born",
	                 4 + (int)strlen(terminal_plus_minus()) - (int)terminal_columns(terminal_plus_minus()),
	                 terminal_plus_minus(), "samples", m.name);
	struct jp_strbuf *lines = answer_add(a, ANSWER_LINES);
	for (size_t i = 0; i < shown; i++) {
		const struct jprof_born_line *line = jprof_born_at(s->lines, i);
		add_sampled_row(lines, m, (double)line->bytes, line->error, line->samples);
		jp_strbuf_visible(lines, born_site(line));
		jp_strbuf_str(lines, "\n");
	}
	add_sampled_row(lines, m, s->born->sampled_bytes, s->born->sampled_error, s->born->samples);
	jp_strbuf_str(lines, count > shown ? "all, with others (--top=0)\n" : "all\n");
}

/* Which lines made it, as far as samples say. */
static bool add_born_of_lines(struct answer *a, const struct born_screen *s, struct jprof_error *err)
{
	bool good = true;
	if (!s->born->samples)
		return true;
	for (size_t i = 0; good && i < born_line_blocks && i < jprof_born_count(s->lines); i++) {
		a->gives = i ? gives_line : 0;
		good = born_add_block(a, s->heap, s->lines, i, err);
	}
	a->gives = 0;
	add_sampled_lines(a, s);
	return good;
}

static bool put_born_keepers(struct born_screen *s, const struct jprof_rubyheap *last, struct sink *sink)
{
	const struct jprof_keepers_opts opts = { .size = sizeof opts, .born = true };
	struct jprof_keepers *keepers;
	struct jprof_error err;
	struct answer a = { 0 };
	if (jprof_keepers_new(last, &opts, &keepers, &err)) {
		say_error(&err);
		return false;
	}
	s->keepers = keepers;
	s->info = jprof_keepers_info(keepers);
	add_snapshots_head(&a, s);
	bool good = add_born_of_lines(&a, s, &err);
	if (!good)
		say_error(&err);
	for (size_t i = 0; i < born_keeper_blocks && i < jprof_keepers_count(keepers); i++) {
		a.gives = i || s->born->samples ? gives_block : 0;
		add_born_keeper_block(&a, s, i);
	}
	add_born_keepers(&a, s);
	good = good && born_put_text(&a, s->fits, sink);
	answer_release(&a);
	jprof_keepers_free(keepers);
	return good;
}

static bool put_born_of(struct jprof_rubyheap *const *heaps, size_t count, const struct heap_source *source, size_t top,
                        bool fits, struct sink *sink)
{
	struct born_screen s = { .snapshots = count, .top = top, .fits = fits, .source = source };
	struct jprof_born *born;
	struct jprof_error err;
	if (jprof_born_new(heaps[count - 1], heaps[0], count == most_snapshots ? heaps[1] : NULL, &born, &err)) {
		say_error(&err);
		return false;
	}
	s.heap = heaps[count - 1];
	s.lines = born;
	s.born = jprof_born_info(born);
	bool good = put_born_keepers(&s, heaps[count - 1], sink);
	jprof_born_free(born);
	return good;
}

bool born_snapshots_put(char *const *paths, size_t count, const char *member, size_t top, bool fits, struct sink *sink)
{
	struct jprof_rubyheap *heaps[most_snapshots] = { NULL };
	struct heap_source last = { .snapshot_alone = true }, source;
	bool good = count >= 2 && count <= most_snapshots;
	if (!good)
		say("give two or three snapshots of jprof snap --objects, in their order; jprof keepers FILE looks at one");
	else
		good = (heaps[count - 1] = heap_source_open(&last, paths[count - 1], member)) != NULL;
	for (size_t i = 0; good && i < count - 1; i++) {
		source = (struct heap_source){ .snapshot_alone = true, .as = &last };
		good = (heaps[i] = heap_source_open(&source, paths[i], NULL)) != NULL;
	}
	good = good && put_born_of(heaps, count, &last, top, fits, sink);
	for (size_t i = 0; i < most_snapshots; i++)
		jprof_rubyheap_free(heaps[i]);
	return good;
}
