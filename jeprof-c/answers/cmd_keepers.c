/* jprof keepers SNAPSHOT|DUMP: which objects of a Ruby keep most of its heap. */
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "answers/heapsource.h"
#include "answers/keepers_page.h"
#include "answers/measure.h"
#include "answers/strings_text.h"
#include "cli/answer.h"
#include "cli/budget.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "cli/thrift.h"
#include "cli/typed.h"
#include "commands.h"
#include "jprof.h"

enum { usual_keepers = 5, keeper_blocks = 2, keeper_numbers_width = 31, least_room = 20 };

/* What gives way on a screen of few lines, in this order. */
enum {
	thrift_of_blocks = 1,
	thrift_of_others,
	thrift_of_words,
	thrift_of_keepers,
	most_thrift = thrift_of_keepers + usual_keepers - 2
};

/* A keeper of so much is said in the first sentence. */
static const double worth_saying = 10; /* percent */

struct keepers_options {
	const char *line, *class_name, *strings, *member, *max_memory, *file;
	size_t top;
	bool html, help, fits; /* fits: no number of rows was asked for */
};

#define KEEPERS_AT(member) offsetof(struct keepers_options, member)

static const struct opt_row keepers_rows[] = {
	{ "line", OPT_TEXT, KEEPERS_AT(line), 0, NULL, "RE",
	  "objects that were allocated at a line which RE matches, and who keeps them" },
	{ "class", OPT_TEXT, KEEPERS_AT(class_name), 0, NULL, "RE", "objects of classes that RE matches" },
	{ "strings", OPT_MAYBE, KEEPERS_AT(strings), 0, NULL, "show",
	  "Strings alone, by the line that allocated them, and how many of these are equal; =show: how they begin" },
	{ "member", OPT_TEXT, KEEPERS_AT(member), 0, NULL, "NAME|PID|ROLE",
	  "of a snapshot: this process; else the one with most objects" },
	{ "top", OPT_COUNT, KEEPERS_AT(top), 0, NULL, "N", "so many rows; 0: all that keep half a percent" },
	{ "html", OPT_SWITCH, KEEPERS_AT(html), 0, NULL, NULL, "a page for a browser: give -o FILE" },
	{ "output", OPT_TEXT, KEEPERS_AT(file), 0, NULL, "FILE", "with --html: the page" },
	{ "o", OPT_TEXT, KEEPERS_AT(file), 0, NULL, "FILE", NULL },
	{ "max-memory", OPT_TEXT, KEEPERS_AT(max_memory), 0, NULL, "SIZE",
	  "may take so much memory, such as 2G; else half of what is free" },
	{ "help", OPT_SWITCH, KEEPERS_AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table keepers_table = { .rows = keepers_rows,
	                                        .count = sizeof keepers_rows / sizeof *keepers_rows,
	                                        .help = "jprof keepers --help" };

static int keepers_help(void)
{
	printf("usage: jprof keepers [OPTIONS] SNAPSHOT.jprof | DUMP.ndjson[.gz] | PID | CORE\n"
	       "\n"
	       "Says who keeps a Ruby's objects: which Hash, Array, object or class, how much of\n"
	       "the heap would be freed without it, and the way to it from a root. SNAPSHOT is\n"
	       "what jprof snap --objects made; nothing stops for it, and samples say the lines.\n"
	       "PID is a Ruby with jemalloc that needs no agent, and CORE one of its cores: then\n"
	       "classes have names, and constants and variables have none.\n"
	       "DUMP is what ObjectSpace.dump_all wrote, of this machine or another. In a Ruby:\n"
	       "\n"
	       "  require \"objspace\"\n"
	       "  ObjectSpace.trace_object_allocations_start   # as early as possible, for lines\n"
	       "  GC.start\n"
	       "  File.open(\"heap.ndjson\", \"w\") { |f| ObjectSpace.dump_all(output: f) }\n"
	       "\n"
	       "keeps is what would be freed without the object (other tools: retained size).\n"
	       "Contents of Strings are in such a file. They are read for --strings alone.\n"
	       "\n");
	opt_help(&keepers_table, 0);
	return 0;
}

/* What is printed, and in which unit. */
struct keepers_screen {
	const struct keepers_options *o;
	const char *file;
	const struct heap_source *source;
	const struct jprof_rubyheap_info *heap;
	const struct jprof_keepers *keepers;
	const struct jprof_keepers_info *info;
	struct measure unit;
	unsigned columns;
	size_t room; /* columns of a name in the table: of what no terminal shows nothing is cut */
	unsigned thrift;
};

static size_t shown_keepers(const struct keepers_screen *s)
{
	size_t count = jprof_keepers_count(s->keepers), top = s->o->top;
	if (s->thrift >= thrift_of_keepers)
		top -= s->thrift - thrift_of_keepers + 1;
	return top && top < count ? top : count;
}

/* "a Hash of 54,107 in Shop::Cache" */
static void add_keeper_name(struct jp_strbuf *text, const struct jprof_keeper *k)
{
	jp_strbuf_visible(text, k->what);
	jp_strbuf_str(text, *k->holder ? " in " : "");
	jp_strbuf_visible(text, k->holder);
}

/* ---- the table ------------------------------------------------------------------------------------------------------
 */

static void put_keeper_numbers(FILE *out, const struct keepers_screen *s, uint64_t bytes, double share,
                               uint64_t objects)
{
	struct jp_strbuf text = { 0 };
	jp_strbuf_printf(&text, "%8s  ", measure_number(s->unit, (double)bytes).text);
	if (isnan(share))
		jp_strbuf_right(&text, "", 6);
	else
		jp_strbuf_printf(&text, "%4.0f %%", share);
	jp_strbuf_str(&text, "  ");
	jp_strbuf_grouped(&text, objects, 11);
	fprintf(out, "%s  ", shortage_text(&text));
	jp_strbuf_release(&text);
}

static double share_of_all(const struct keepers_screen *s, uint64_t bytes)
{
	return s->info->bytes ? 100.0 * (double)bytes / (double)s->info->bytes : 0;
}

static void put_keeper_row(FILE *out, const struct keepers_screen *s, const struct jprof_keeper *k)
{
	struct jp_strbuf name = { 0 };
	add_keeper_name(&name, k);
	size_t room = s->room, taken = terminal_columns(shortage_text(&name)), place = terminal_columns(k->site);
	put_keeper_numbers(out, s, k->keeps, share_of_all(s, k->keeps), k->objects);
	if (taken > room && terminal_put_short_lines(out, keeper_numbers_width, shortage_text(&name), s->columns)) {
		jp_strbuf_release(&name);
		return;
	}
	if (*k->site && taken + 2 + place > room)
		taken = room > place + 12 ? room - place - 2 : taken;
	terminal_put_cut(out, shortage_text(&name), taken < room ? taken : room);
	if (*k->site && taken + 12 < room) {
		fputs("  ", out);
		terminal_put_place(out, k->site, room - taken - 2);
	}
	putc('\n', out);
	jp_strbuf_release(&name);
}

static void put_rest_row(FILE *out, const struct keepers_screen *s, const char *words)
{
	if (s->room == SIZE_MAX)
		fprintf(out, "%s\n", words);
	else
		terminal_wrap_after(out, keeper_numbers_width, words, s->columns);
}

static void put_keepers_table(FILE *out, const struct keepers_screen *s)
{
	const struct jprof_keepers_info *info = s->info;
	size_t rows = shown_keepers(s), others = jprof_keepers_count(s->keepers) - rows;
	uint64_t bytes = info->bytes, objects = info->objects;
	fprintf(out, "\n%8s  %6s  %11s  %-*s%4s\n", "keeps", "share", "objects",
	        (int)s->columns - keeper_numbers_width - 4, "kept by", s->unit.name);
	for (size_t i = 0; i < rows; i++) {
		const struct jprof_keeper *k = jprof_keepers_at(s->keepers, i);
		put_keeper_row(out, s, k);
		bytes -= k->keeps;
		objects -= k->objects;
	}
	if (others || objects)
		put_keeper_numbers(out, s, bytes, share_of_all(s, bytes), objects);
	char some[64];
	snprintf(some, sizeof some, "others, %zu of half a percent or more (--top=0)", others);
	if (others || objects)
		put_rest_row(out, s, others ? some : "others, each less than half a percent");
	put_keeper_numbers(out, s, info->bytes, share_of_all(s, info->bytes), info->objects);
	fputs("all\n", out);
	if (info->unrooted_objects) {
		put_keeper_numbers(out, s, info->unrooted_bytes, NAN, info->unrooted_objects);
		put_rest_row(out, s, "no root leads to them: garbage, most of it");
	}
}

/* ---- the answer -----------------------------------------------------------------------------------------------------
 */

static void add_keepers_head(struct answer *a, const struct keepers_screen *s)
{
	const struct jprof_keeper *first = jprof_keepers_at(s->keepers, 0);
	struct jp_strbuf *text = answer_add(a, ANSWER_HEAD);
	bool choice = s->o->line || s->o->class_name;
	jp_strbuf_visible(text, s->source->label);
	jp_strbuf_str(text, ": ");
	measure_add(text, measure_fit(s->unit, (double)s->info->bytes), (double)s->info->bytes);
	jp_strbuf_str(text, " in ");
	jp_strbuf_grouped(text, s->info->objects, 0);
	jp_strbuf_str(text, !choice                          ? " Ruby objects and their buffers"
	                    : s->heap->sampled && s->o->line ? " Ruby objects, by samples"
	                                                     : " Ruby objects, with what they keep");
	double share = first ? share_of_all(s, first->keeps) : 0;
	if (share < worth_saying) {
		jp_strbuf_str(answer_add(a, ANSWER_MORE), s->info->bytes ? "No object keeps a tenth of it." : "");
		return;
	}
	text = answer_add(a, ANSWER_MORE);
	size_t begin = text->len;
	add_keeper_name(text, first);
	if (!text->failed && (!strncmp(text->text + begin, "a ", 2) || !strncmp(text->text + begin, "an ", 3)))
		text->text[begin] = 'A';
	jp_strbuf_printf(text, " keeps %.0f %% of it (", share);
	measure_add(text, measure_fit(s->unit, (double)first->keeps), (double)first->keeps);
	jp_strbuf_str(text, ").");
}

static void add_keeper_block(struct answer *a, const struct keepers_screen *s, size_t i)
{
	const struct jprof_keeper *k = jprof_keepers_at(s->keepers, i);
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "%zu  ", i + 1);
	add_keeper_name(text, k);
	jp_strbuf_str(text, ": ");
	measure_add(text, measure_fit(s->unit, (double)k->keeps), (double)k->keeps);
	jp_strbuf_visible(answer_add_detail(a, "path"), k->path);
	if (!*k->made_at)
		return;
	text = answer_add_detail(a, "made at");
	jp_strbuf_visible(text, k->made_at);
	bool method = isalpha((unsigned char)*k->method) || *k->method == '_'; /* no operator */
	jp_strbuf_str(text, method ? " in " : "");
	jp_strbuf_visible(text, method ? k->method : "");
	jp_strbuf_printf(text, "  %.0f %%", 100 * k->made_share);
	if (k->made_samples)
		jp_strbuf_printf(text, " (of %llu sample%s)", (unsigned long long)k->made_samples,
		                 k->made_samples == 1 ? "" : "s");
}

static void add_keepers_notes(struct answer *a, const struct keepers_screen *s)
{
	if (s->heap->cut)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE),
		              "The file ends within a line: it is not whole, and what is missing may keep more.");
	a->gives = answer_gives_most + 1 - thrift_of_others;
	if (s->source->others)
		jp_strbuf_printf(answer_add(a, ANSWER_NOTE),
		                 "It is the largest of %zu processes with a graph: --member=PID shows another.",
		                 s->source->others + 1);
	a->gives = answer_gives_most + 1 - thrift_of_words;
	if (s->source->in_memory && !s->heap->named_edges)
		jp_strbuf_str(
		    answer_add(a, ANSWER_NOTE),
		    "Read from outside: what a stack had before counts as a reference, so that some of what a keeper "
		    "keeps is in \"others\". With jprof's agent constants and variables have names.");
	if (!s->heap->has_lines && !s->source->snapshot)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE),
		              "No object says where it was allocated: trace_object_allocations_start was not called "
		              "before they were made (jprof keepers --help).");
	jp_strbuf_str(answer_add(a, ANSWER_NOTE),
	              s->heap->sampled && s->o->line
	                  ? "keeps: bytes of these objects, by samples; what several keep counts for the nearest."
	                  : "keeps: what would be freed without it; what two share counts for \"others\".");
	a->gives = 0;
}

/* The same as a page. */
static void put_next_of_keepers(FILE *out, const struct keepers_screen *s)
{
	struct typed next = { 0 };
	typed_add(&next, "jprof keepers --html -o keepers.html");
	typed_option(&next, "line", s->o->line);
	typed_option(&next, "class", s->o->class_name);
	typed_option(&next, "member", s->o->member);
	typed_word(&next, s->file);
	if (!next.failed && strcmp(s->file, "-") != 0)
		fprintf(out, "\nNext:  %s\n", next.text);
}

static void put_keepers(FILE *out, const void *screen, unsigned thrift)
{
	struct keepers_screen thrifty = *(const struct keepers_screen *)screen;
	const struct keepers_screen *s = &thrifty;
	struct answer head = { 0 }, end = { 0 };
	thrifty.thrift = thrift;
	add_keepers_head(&head, s);
	for (size_t i = 0; !s->o->html && i < keeper_blocks && i < shown_keepers(s); i++) {
		end.gives = i ? answer_gives_most + 1 - thrift_of_blocks : 0;
		add_keeper_block(&end, s, i);
	}
	end.gives = 0;
	add_keepers_notes(&end, s);
	if (s->o->html) {
		keepers_put_page(out, &(struct keepers_page){ .title = s->source->label,
		                                              .head = &head,
		                                              .end = &end,
		                                              .keepers = s->keepers,
		                                              .shown = shown_keepers(s),
		                                              .unit = s->unit });
	} else {
		answer_put_text(out, &head, s->columns);
		put_keepers_table(out, s);
		if (thrift)
			answer_put_some(out, &end, s->columns, thrift);
		else
			answer_put_text(out, &end, s->columns);
		put_next_of_keepers(out, s);
	}
	answer_release(&head);
	answer_release(&end);
}

static bool put_keepers_of(const struct keepers_options *o, const char *file, const struct heap_source *source,
                           const struct jprof_rubyheap *heap, const struct jprof_keepers *keepers)
{
	struct sink sink = { .path = o->file };
	struct sink_text text;
	struct keepers_screen s = {
		.o = o, .file = file, .source = source, .heap = jprof_rubyheap_info(heap), .keepers = keepers
	};
	bool screen = isatty(STDOUT_FILENO);
	s.info = jprof_keepers_info(keepers);
	s.unit = measure_for((double)s.info->bytes);
	s.columns = terminal_size().columns;
	s.room = !screen                                         ? SIZE_MAX
	         : s.columns > keeper_numbers_width + least_room ? s.columns - keeper_numbers_width
	                                                         : least_room;
	sink_text_open(&text);
	if (text.file)
		thrift_put(text.file, screen && o->fits ? thrift_lines(terminal_size().lines) : 0, most_thrift,
		           put_keepers, &s);
	bool good = sink_text_write(&text, &sink) && sink_close(&sink);
	if (sink.why)
		say("%s: %s", o->file, sink.why);
	return good;
}

/* Of a snapshot the lines are those of samples. */
static bool has_lines_for(const struct keepers_options *o, const struct jprof_rubyheap_info *info, const char *file)
{
	bool good = !o->line || info->has_lines || !heap_source_is_snapshot(file);
	if (!good)
		say("%s: no object in it says its line, for its Ruby took no samples of objects (jprof doctor says why); --class=RE chooses by class",
		    file);
	return good;
}

static int show_keepers(const struct keepers_options *o, const char *file)
{
	struct heap_source source = { 0 };
	struct jprof_rubyheap *heap = heap_source_open(&source, file, o->member);
	struct jprof_keepers *keepers = NULL;
	struct jprof_keepers_opts opts = { .size = sizeof opts, .line = o->line, .class_name = o->class_name };
	struct jprof_error err;
	bool good = heap && has_lines_for(o, jprof_rubyheap_info(heap), file);
	if (good && jprof_keepers_new(heap, &opts, &keepers, &err)) {
		say_error(&err);
		good = false;
	}
	good = good && put_keepers_of(o, file, &source, heap, keepers);
	jprof_keepers_free(keepers);
	jprof_rubyheap_free(heap);
	return good ? 0 : 1;
}

static bool choices_fit(const struct keepers_options *o, const char *file)
{
	if (o->strings && *o->strings && strcmp(o->strings, "show") != 0)
		say("--strings=%s: give --strings, or --strings=show", o->strings);
	else if (o->html && (o->strings || !o->file))
		say(o->strings ? "--strings has no page" : "--html makes a page for a browser: give -o FILE.html");
	else if (o->file && !o->html)
		say("-o %s: the text goes to standard output; with --html the file is a page", o->file);
	else if (o->strings && o->class_name)
		say("--strings is about Strings alone: --line=RE chooses among them, --class does not");
	else if (o->strings && heap_source_is_snapshot(file))
		say("%s: a snapshot has no contents of Strings; --strings is about dumps of ObjectSpace", file);
	else
		return true;
	return false;
}

int cmd_keepers(int argc, char **argv)
{
	struct keepers_options o = { .top = SIZE_MAX };
	int count;
	if (!opt_parse(&keepers_table, &o, argc, argv, &count))
		return 1;
	if (o.help)
		return keepers_help();
	if (count != 1) {
		say("give one snapshot of jprof snap --objects, one file that ObjectSpace.dump_all wrote, or a pid: jprof "
		    "keepers heap.ndjson");
		return 1;
	}
	o.fits = o.top == SIZE_MAX && !o.html;
	if (o.top == SIZE_MAX)
		o.top = o.html ? 0 : usual_keepers;
	if (!choices_fit(&o, argv[1]))
		return 1;
	if (!budget_watch(o.max_memory))
		return 1;
	const struct strings_choice choice = { .line = o.line, .top = o.top, .show = o.strings && *o.strings };
	return o.strings ? !strings_put(argv[1], &choice) : show_keepers(&o, argv[1]);
}
