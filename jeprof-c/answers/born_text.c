#include "answers/born_text.h"

#include "answers/measure.h"
#include "cli/answer.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "cli/thrift.h"
#include "jprof.h"

/* Two dumps of one Ruby have most addresses in common; those of two processes next to none. */
static const double least_in_common = 0.2;

/* Of samples: who keeps less of a line's objects is not called its keeper. */
static const double worth_saying = 0.1;

enum { born_blocks = 2, most_dumps = 3 };

/* ---- words ----------------------------------------------------------------------------------------------------------
 */

const char *born_site(const struct jprof_born_line *line)
{
	return *line->site ? line->site : "line not known";
}

/* That of the table, if the number is not too small for it. */
static struct measure born_unit(const struct jprof_born *born, uint64_t bytes)
{
	return measure_fit(measure_for((double)jprof_born_info(born)->bytes), (double)bytes);
}

static void add_born_head(struct answer *a, const struct jprof_born *born, size_t dumps)
{
	const struct jprof_born_info *info = jprof_born_info(born);
	const struct jprof_born_line *first = jprof_born_at(born, 0);
	struct jp_strbuf *text = answer_add(a, ANSWER_HEAD);
	jp_strbuf_printf(text, "%s dumps of one Ruby; what was born after the first and lives in the %s: ",
	                 dumps == most_dumps ? "Three" : "Two",
	                 dumps == most_dumps ? "second and the third" : "second");
	measure_add(text, born_unit(born, info->bytes), (double)info->bytes);
	jp_strbuf_str(text, " in ");
	jp_strbuf_grouped(text, info->objects, 0);
	jp_strbuf_str(text, " objects.");
	if (first && info->bytes)
		jp_strbuf_printf(text, " %s makes %.0f %% of it.", *first->site ? "One line" : "What has no line",
		                 100 * (double)first->bytes / (double)info->bytes);
}

/* Of a line's objects those that one keeps; of samples their bytes, which know more. */
static double kept_part(const struct jprof_born_line *line, const struct jprof_keeper *k,
                        const struct jprof_keepers_info *info)
{
	return line->samples ? (double)k->keeps / (double)info->bytes : (double)k->objects / (double)info->objects;
}

/* Who keeps the objects of a line, as far as one does. */
static bool add_born_keeper(struct answer *a, const struct jprof_rubyheap *heap, const struct jprof_born_line *line,
                            struct jprof_error *err)
{
	const struct jprof_keepers_opts opts = { .size = sizeof opts, .site = line->site, .born = true };
	struct jprof_keepers *keepers;
	if (jprof_keepers_new(heap, &opts, &keepers, err))
		return false;
	const struct jprof_keeper *k = jprof_keepers_at(keepers, 0);
	const struct jprof_keepers_info *info = jprof_keepers_info(keepers);
	if (k && (!line->samples || kept_part(line, k, info) >= worth_saying)) {
		struct jp_strbuf *text = answer_add_detail(a, "kept by");
		jp_strbuf_visible(text, k->what);
		jp_strbuf_str(text, *k->holder ? " in " : "");
		jp_strbuf_visible(text, k->holder);
		jp_strbuf_str(text, *k->site ? "  " : "");
		jp_strbuf_visible(text, k->site);
		if (kept_part(line, k, info) < 1)
			jp_strbuf_printf(text, " (%.0f %% of them)", 100 * kept_part(line, k, info));
		jp_strbuf_visible(answer_add_detail(a, "path"), k->path);
	}
	jprof_keepers_free(keepers);
	return true;
}

bool born_add_block(struct answer *a, const struct jprof_rubyheap *heap, const struct jprof_born *born, size_t i,
                    struct jprof_error *err)
{
	const struct jprof_born_line *line = jprof_born_at(born, i);
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "%zu  +", i + 1);
	measure_add(text, born_unit(born, line->bytes), (double)line->bytes);
	if (line->samples)
		jp_strbuf_printf(text, " (%s%s)", terminal_plus_minus(),
		                 measure_number(born_unit(born, line->bytes), line->error).text);
	jp_strbuf_str(text, "  ");
	jp_strbuf_visible(text, born_site(line));
	jp_strbuf_visible(answer_add_detail(a, "what"), line->classes);
	if (*line->site && !add_born_keeper(a, heap, line, err))
		return false;
	if (line->generations[1]) {
		text = answer_add_detail(a, "since");
		jp_strbuf_printf(text, "generation %u", line->generations[0]);
		if (line->generations[1] > line->generations[0])
			jp_strbuf_printf(text, " to %u", line->generations[1]);
		jp_strbuf_str(text, " of the garbage collector");
	}
	return true;
}

static void add_born_numbers(struct jp_strbuf *lines, struct measure m, uint64_t bytes, uint64_t objects)
{
	jp_strbuf_printf(lines, "%8s  ", measure_number(m, (double)bytes).text);
	jp_strbuf_grouped(lines, objects, 11);
	jp_strbuf_str(lines, "  ");
}

static void add_born_table(struct answer *a, const struct jprof_born *born, size_t top)
{
	const struct jprof_born_info *info = jprof_born_info(born);
	size_t count = jprof_born_count(born), shown = top && top < count ? top : count;
	struct measure m = measure_for((double)info->bytes);
	uint64_t bytes = info->bytes, objects = info->objects;
	jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "%8s  %11s  made at  (%s)", "born", "objects", m.name);
	struct jp_strbuf *lines = answer_add(a, ANSWER_LINES);
	for (size_t i = 0; i < shown; i++) {
		const struct jprof_born_line *line = jprof_born_at(born, i);
		add_born_numbers(lines, m, line->bytes, line->objects);
		jp_strbuf_visible(lines, born_site(line));
		jp_strbuf_str(lines, "\n");
		bytes -= line->bytes;
		objects -= line->objects;
	}
	if (count > shown) {
		add_born_numbers(lines, m, bytes, objects);
		jp_strbuf_printf(lines, "%zu other lines (--top=0)\n", count - shown);
	}
	add_born_numbers(lines, m, info->bytes, info->objects);
	jp_strbuf_str(lines, "all\n");
}

static bool fill_born(struct answer *a, const struct jprof_rubyheap *heap, const struct jprof_born *born, size_t dumps,
                      size_t top, struct jprof_error *err)
{
	bool good = true;
	add_born_head(a, born, dumps);
	for (size_t i = 0; good && i < born_blocks && i < jprof_born_count(born); i++) {
		a->gives = i ? answer_gives_most : 0;
		good = born_add_block(a, heap, born, i, err);
	}
	a->gives = 0;
	add_born_table(a, born, top);
	if (!jprof_rubyheap_info(heap)->has_lines)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE),
		              "No object says where it was allocated: call trace_object_allocations_start before they "
		              "are made (jprof keepers --help).");
	return good;
}

/* ---- the answer -------------------------------------------------------------------------------------------------- */

bool born_is_wanted(char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!jprof_is_rubyheap(paths[i]))
			return false;
	return count > 0;
}

static void put_born_with_thrift(FILE *to, const void *answer, unsigned thrift)
{
	answer_put_some(to, answer, terminal_size().columns, thrift);
	fputs(answer_gives(answer, thrift) ? "... more: --top=0\n" : "", to);
}

bool born_put_text(const struct answer *answer, bool fits, struct sink *sink)
{
	struct sink_text text;
	sink_text_open(&text);
	if (text.file && fits)
		thrift_put(text.file, thrift_lines(terminal_size().lines), answer_gives_most, put_born_with_thrift,
		           answer);
	else if (text.file)
		answer_put_text(text.file, answer, terminal_size().columns);
	return sink_text_write(&text, sink);
}

static bool put_born_answer(struct jprof_rubyheap *const *heaps, size_t count, char *const *paths, size_t top,
                            bool fits, struct sink *sink)
{
	struct jprof_rubyheap *last = heaps[count - 1];
	struct jprof_born *born;
	struct jprof_error err;
	struct answer a = { 0 };
	if (jprof_born_new(last, heaps[0], count == most_dumps ? heaps[1] : NULL, &born, &err)) {
		say_error(&err);
		return false;
	}
	bool good = jprof_born_info(born)->in_common >= least_in_common;
	if (!good)
		say("%s and %s have next to no object in common: they are of two processes", paths[0],
		    paths[count - 1]);
	else if (!(good = fill_born(&a, last, born, count, top, &err)))
		say_error(&err);
	good = good && born_put_text(&a, fits, sink);
	answer_release(&a);
	jprof_born_free(born);
	return good;
}

bool born_put(char *const *paths, size_t count, size_t top, bool fits, struct sink *sink)
{
	struct jprof_rubyheap *heaps[most_dumps] = { NULL };
	struct jprof_error err;
	bool good = count >= 2 && count <= most_dumps;
	if (!good)
		say("give two or three dumps of ObjectSpace, in their order; jprof keepers FILE looks at one");
	for (size_t i = 0; good && i < count; i++)
		if (jprof_rubyheap_open(paths[i], &heaps[i], &err)) {
			say_error(&err);
			good = false;
		}
	good = good && put_born_answer(heaps, count, paths, top, fits, sink);
	for (size_t i = 0; i < most_dumps; i++)
		jprof_rubyheap_free(heaps[i]);
	return good;
}
