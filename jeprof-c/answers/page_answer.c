#include "answers/page_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_json.h"
#include "answers/explain_json.h"
#include "answers/explain_text.h"
#include "cli/jsonprint.h"
#include "cli/names.h"
#include "cli/shortage.h"
#include "report/headline.h"
#include "report/outside.h"
#include "report/remedies.h"

enum { suspect_amount_most = 160 };

/* ---- suspects ---------------------------------------------------------------------------------------------- */

static void put_page_details(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	struct answer details = { 0 };
	diff_add_details(&details, r, row);
	fputs("\"details\": [", out);
	for (size_t i = 0; i < details.count; i++)
		json_print_at(out, i, "[%s, %s]", details.parts[i].label, answer_text(&details, i));
	fputs("]", out);
	answer_release(&details);
}

static void put_grown_suspect(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	json_print(out, "{\"name\": %s, \"place\": %s, \"verdict\": %s, \"amount\": %s, \"shown\": %i, ",
	           name_of_grown(row), source_place(row->name, row->file, row->line).text,
	           jprof_verdict_words(row->verdict)->key, diff_growth_words(r, row).text,
	           row->part == JPROF_PART_LIVE);
	put_page_details(out, r, row);
	fputs("}", out);
}

/* The row that holds most. */
static void put_largest(FILE *out, const struct page *page, const struct jprof_view *view)
{
	const struct jprof_table_opts opts = { .size = sizeof opts, .top = 1, .by_change = true };
	const struct jprof_view_info *info = jprof_view_info(view);
	char text[headline_amount_most];
	struct jprof_table *table;
	if (shortage_note_code(jprof_table_new(view, &opts, &table, NULL)))
		return;
	const struct jprof_row *row = jprof_table_at(table, 0);
	if (row) {
		double whole = info->percent_of != 0 ? info->percent_of : info->flat;
		char amount[suspect_amount_most], share[headline_share_most];
		headline_part(text, view, page->options, row->flat, whole);
		headline_share(share, row->flat, whole);
		snprintf(amount, sizeof amount, "%s%s, %s", info->difference ? row->flat < 0 ? "-" : "+" : "", text,
		         share);
		json_print(out, "{\"name\": %s, \"place\": %s, \"verdict\": null, \"amount\": %s, \"details\": [",
		           row->name, source_place(row->name, row->file, row->line).text, amount);
		if (row->from)
			json_print(out, "[\"from\", %s]", row->from);
		fputs("]}", out);
	}
	jprof_table_free(table);
}

static void put_suspects(FILE *out, const struct page *page, const struct jprof_view *view)
{
	const struct jprof_grown *row;
	fputs("\"suspects\": [", out);
	for (size_t i = 0; page->diff && (row = diff_suspect(page->diff->loaded->series, i)); i++) {
		fputs(i ? ", " : "", out);
		put_grown_suspect(out, page->diff, row);
	}
	if (!page->diff)
		put_largest(out, page, view);
	fputs("]", out);
}

/* ---- sentences --------------------------------------------------------------------------------------------- */

/* The head of the commands is "WHOSE: what it has": the title of the page, and its first sentence. */
static void put_page_head(FILE *out, char *head, const char *whose)
{
	size_t len = strlen(whose);
	char *colon = head && !strncmp(head, whose, len) ? strstr(head + len, ": ") : NULL;
	if (colon)
		*colon = '\0';
	json_print(out, "\"title\": %s,\n\"sentences\": [%s", colon ? head : whose, colon ? colon + 2 : head);
}

static void put_explained_sentences(FILE *out, const struct explained *what)
{
	struct answer answer = { 0 };
	explain_answer(&answer, what);
	char *head = answer_joined(&answer, ANSWER_HEAD), *sentence = answer_joined(&answer, ANSWER_SENTENCE);
	put_page_head(out, head, what->live ? what->path : what->whose);
	json_print(out, ", %s]", sentence);
	free(head);
	free(sentence);
	answer_release(&answer);
}

static void put_report_sentences(FILE *out, const struct page *page, const struct jprof_view *view)
{
	struct jp_strbuf whose = { 0 };
	headline_add_whose(&whose, page->loaded, view, page->inputs);
	char *head = headline(page->loaded, view, page->options, page->inputs);
	put_page_head(out, head, shortage_text(&whose));
	fputs("]", out);
	free(head);
	jp_strbuf_release(&whose);
}

static void put_page_sentences(FILE *out, const struct page *page, const struct jprof_view *view)
{
	if (page->diff) {
		struct jp_strbuf title = { 0 }, answer = { 0 };
		diff_add_head(&title, page->diff);
		diff_add_answer(&answer, page->diff);
		json_print(out, "\"title\": %s,\n\"sentences\": [%s]", shortage_text(&title), shortage_text(&answer));
		jp_strbuf_release(&title);
		jp_strbuf_release(&answer);
	} else if (page->explains) {
		put_explained_sentences(out, page->explained);
	} else {
		put_report_sentences(out, page, view);
	}
}

/* ---- how sure ---------------------------------------------------------------------------------------------- */

static void put_install(FILE *out, const struct page *page, const struct jprof_view *view)
{
	struct jprof_coverage *coverage;
	fputs("\"install\": [", out);
	if (!jprof_coverage_new(view, &coverage, NULL)) {
		struct remedies *remedies = remedies_new(coverage, page->options);
		if (remedies && *remedy_command(remedies))
			json_print(out, "{\"what\": \"Better names:\", \"command\": %s}", remedy_command(remedies));
		remedies_free(remedies);
		jprof_coverage_free(coverage);
	}
	fputs("]", out);
}

static void put_page_sure(FILE *out, const struct page *page, const struct jprof_view *view)
{
	struct jp_strbuf outside = { 0 }, text = { 0 };
	fputs("\"sure\": [", out);
	/* One number for one thing: the answer of a diff, and the parts of explain, have all of the memory. */
	outside_line(page->loaded, page->diff || page->explained, &outside);
	const char *line = shortage_text(&outside);
	if (*line) {
		jp_strbuf_printf(&text, "Beside the profile: %s.", line);
		json_print(out, "%s", shortage_text(&text));
	}
	jp_strbuf_release(&outside);
	jp_strbuf_release(&text);
	fputs("],\n", out);
	put_install(out, page, view);
}

static void put_part_words(FILE *out)
{
	fputs("\"parts\": {", out);
	for (int part = 0; part < JPROF_PARTS; part++) {
		const struct part_words *words = words_of_part((enum jprof_part)part);
		json_print_at(out, (size_t)part, "%s: %s", words->key, words->words);
	}
	fputs("}", out);
}

/* The words for verdicts and parts, so that no script has them a second time. */
static void put_page_words(FILE *out)
{
	fputs("\"verdicts\": [", out);
	for (size_t i = 0; i < JPROF_VERDICTS; i++) {
		const struct jprof_verdict_words *words = jprof_verdict_words((enum jprof_verdict)i);
		json_print_at(out, i, "[%s, %s, %s]", words->key, words->shown, words->means);
	}
	fputs("],\n", out);
	put_part_words(out);
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

static int write_to_file(void *file, const void *data, size_t len)
{
	return fwrite(data, 1, len, file) == len ? 0 : -1;
}

/* What --json says of the same. */
static bool put_page_json(FILE *out, const struct page *page, const struct jprof_view *view)
{
	enum { rows_most = 500 };
	struct jprof_report_opts opts = options_report(page->options);
	opts.top = rows_most;
	fputs("\"report\": ", out);
	return !jprof_render(view, "json", &opts, write_to_file, out, NULL);
}

bool page_offers_ruby(const struct options *o)
{
	return o->ruby == JPROF_RUBY_MERGED || !(o->focus || o->ignore || o->retain || o->exclude);
}

static bool put_page_answer(FILE *out, const struct page *page, const struct jprof_view *view, const char *processes)
{
	fputs("{", out);
	put_page_sentences(out, page, view);
	fputs(",\n", out);
	put_suspects(out, page, view);
	fprintf(out, ",\n\"fold\": %d, \"ruby\": %d, \"offers_ruby\": %s,\n", (int)page->options->fold,
	        (int)page->options->ruby, page_offers_ruby(page->options) ? "true" : "false");
	put_page_sure(out, page, view);
	fputs(",\n", out);
	fprintf(out, "\"processes\": %s,\n", processes);
	put_page_words(out);
	fputs(",\n\"explain\": ", out);
	if (page->explained)
		explain_put_json(out, page->explained);
	else
		fputs("null", out);
	fputs(",\n\"diff\": ", out);
	if (page->diff)
		diff_put_json(out, page->diff);
	else
		fputs("null", out);
	fputs(",\n", out);
	bool good = put_page_json(out, page, view);
	fputs("}", out);
	return good;
}

char *page_answer(const struct page *page, const struct jprof_view *view, const char *processes)
{
	char *text = NULL;
	size_t len;
	FILE *file = shortage_note(textstream_open(&text, &len));
	bool good = file && put_page_answer(file, page, view, processes);
	good = (!file || shortage_close(file, &text)) && good;
	if (good)
		return text;
	free(text);
	return NULL;
}
