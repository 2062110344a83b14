#include "answers/strings_text.h"

#include "answers/measure.h"
#include "cli/answer.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "jprof.h"

enum { string_blocks = 3, shown_characters = 60 };

struct strings_screen {
	const struct strings_choice *choice;
	const struct jprof_rubystrings *strings;
	const struct jprof_rubystrings_info *info;
	struct measure unit;
};

static void add_strings_amount(struct jp_strbuf *text, const struct strings_screen *s, uint64_t bytes)
{
	measure_add(text, measure_fit(s->unit, (double)bytes), (double)bytes);
}

static void add_strings_head(struct answer *a, const struct strings_screen *s, const char *path)
{
	const struct jprof_rubystrings_info *info = s->info;
	struct jp_strbuf *text = answer_add(a, ANSWER_HEAD);
	jp_strbuf_visible(text, path);
	jp_strbuf_str(text, ": ");
	add_strings_amount(text, s, info->bytes);
	jp_strbuf_str(text, " in ");
	jp_strbuf_grouped(text, info->strings, 0);
	jp_strbuf_str(text, " Strings.");
	text = answer_add(a, ANSWER_MORE);
	if (!info->spare) {
		jp_strbuf_str(text, info->strings ? "No two of a line are equal." : "");
		return;
	}
	jp_strbuf_str(text, "If only one were left of the equal ones of each line, ");
	add_strings_amount(text, s, info->spare);
	jp_strbuf_printf(text, " (%.0f %%) would be free.", 100 * (double)info->spare / (double)info->bytes);
}

/* ---- the table ----------------------------------------------------------------------------------------------------
 */

static void add_strings_numbers(struct jp_strbuf *lines, const struct strings_screen *s, uint64_t bytes, uint64_t spare,
                                uint64_t strings)
{
	jp_strbuf_printf(lines, "%8s  %8s  ", measure_number(s->unit, (double)bytes).text,
	                 measure_number(s->unit, (double)spare).text);
	jp_strbuf_grouped(lines, strings, 11);
}

static void add_strings_table(struct answer *a, const struct strings_screen *s)
{
	const struct jprof_rubystrings_info *info = s->info;
	size_t count = jprof_rubystrings_count(s->strings), top = s->choice->top;
	size_t shown = top && top < count ? top : count;
	uint64_t bytes = info->bytes, spare = info->spare, strings = info->strings;
	jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "%8s  %8s  %11s  %11s  made at  (%s)", "bytes", "spare",
	                 "Strings", "different", s->unit.name);
	struct jp_strbuf *lines = answer_add(a, ANSWER_LINES);
	for (size_t i = 0; i < shown; i++) {
		const struct jprof_string_line *line = jprof_rubystrings_at(s->strings, i);
		add_strings_numbers(lines, s, line->bytes, line->spare, line->strings);
		jp_strbuf_str(lines, "  ");
		jp_strbuf_grouped(lines, line->different, 11);
		jp_strbuf_str(lines, "  ");
		jp_strbuf_visible(lines, *line->site ? line->site : "line not known");
		jp_strbuf_str(lines, "\n");
		bytes -= line->bytes;
		spare -= line->spare;
		strings -= line->strings;
	}
	if (count > shown) {
		add_strings_numbers(lines, s, bytes, spare, strings);
		jp_strbuf_printf(lines, "  %11s  %zu other lines (--top=0)\n", "", count - shown);
	}
	add_strings_numbers(lines, s, info->bytes, info->spare, info->strings);
	jp_strbuf_printf(lines, "  %11s  all\n", "");
}

/* ---- what they say ------------------------------------------------------------------------------------------------
 */

/* The first characters of a text, in quotes. */
static void add_beginning(struct jp_strbuf *to, const struct jprof_equal_strings *equal)
{
	size_t len = 0;
	for (unsigned characters = 0; len < equal->length; len++)
		if (((unsigned char)equal->text[len] & 0xc0) != 0x80 && ++characters > shown_characters)
			break;
	jp_strbuf_str(to, ": \"");
	jp_strbuf_visible_bytes(to, equal->text, len);
	jp_strbuf_str(to, len < equal->length ? "...\"" : "\"");
}

static void add_string_block(struct answer *a, const struct strings_screen *s, size_t i)
{
	const struct jprof_string_line *line = jprof_rubystrings_at(s->strings, i);
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "%zu  ", i + 1);
	jp_strbuf_visible(text, *line->site ? line->site : "line not known");
	jp_strbuf_str(text, ": ");
	add_strings_amount(text, s, line->bytes);
	for (size_t k = 0; k < JPROF_COMMON_STRINGS && line->common[k].text; k++) {
		const struct jprof_equal_strings *equal = &line->common[k];
		text = answer_add_detail(a, k ? "" : "most");
		jp_strbuf_grouped(text, equal->count, 0);
		jp_strbuf_str(text, equal->count == 1 ? " of " : " equal ones of ");
		jp_strbuf_grouped(text, equal->length, 0);
		jp_strbuf_str(text, equal->length == 1 ? " byte" : " bytes");
		if (s->choice->show)
			add_beginning(text, equal);
	}
}

static void add_strings_notes(struct answer *a, const struct strings_screen *s)
{
	const struct jprof_rubystrings_info *info = s->info;
	if (info->silent) {
		struct jp_strbuf *text = answer_add(a, ANSWER_NOTE);
		jp_strbuf_str(text, "Not among them: ");
		jp_strbuf_grouped(text, info->silent, 0);
		jp_strbuf_str(text, info->silent == 1 ? " String of " : " Strings of ");
		add_strings_amount(text, s, info->silent_bytes);
		jp_strbuf_str(text, " that the file has without their text, such as binary data.");
	}
	if (info->cut)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE), "The file ends within a line: it is not whole.");
	if (info->strings && !info->has_lines)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE),
		              "No String says where it was allocated: trace_object_allocations_start was not called "
		              "before they were made (jprof keepers --help).");
	if (info->strings && !s->choice->show)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE), "--strings=show prints how these texts begin.");
}

bool strings_put(const char *path, const struct strings_choice *choice)
{
	struct jprof_rubystrings *strings = NULL;
	struct jprof_error err;
	struct sink sink = { 0 };
	struct sink_text text;
	struct answer a = { 0 };
	if (jprof_rubystrings_open(path, choice->line, &strings, &err)) {
		say_error(&err);
		return false;
	}
	struct strings_screen s = { .choice = choice, .strings = strings, .info = jprof_rubystrings_info(strings) };
	s.unit = measure_for((double)s.info->bytes);
	add_strings_head(&a, &s, path);
	add_strings_table(&a, &s);
	for (size_t i = 0; i < string_blocks && i < jprof_rubystrings_count(strings); i++)
		add_string_block(&a, &s, i);
	add_strings_notes(&a, &s);
	sink_text_open(&text);
	if (text.file)
		answer_put_text(text.file, &a, terminal_size().columns);
	answer_release(&a);
	jprof_rubystrings_free(strings);
	return sink_text_write(&text, &sink);
}
