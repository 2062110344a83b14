/* jprof keepers DUMP: which objects of a Ruby keep most of its heap. */
#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/measure.h"
#include "cli/budget.h"
#include "cli/names.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "commands.h"
#include "jprof.h"

/* Rows and blocks that a screen of 24 lines has room for. */
enum { usual_keepers = 5, keeper_numbers_width = 31 };

/* A keeper of this part is said in the first sentence. */
static const double worth_saying = 0.1;

struct keepers_options {
	const char *line, *class_name, *max_memory;
	size_t top;
	bool all, help;
};

#define KEEPERS_AT(member) offsetof(struct keepers_options, member)

static const struct opt_row keepers_rows[] = {
	{ "line", OPT_TEXT, KEEPERS_AT(line), 0, NULL, "RE",
	  "objects that were allocated at a line which RE matches, and who keeps them" },
	{ "class", OPT_TEXT, KEEPERS_AT(class_name), 0, NULL, "RE", "objects of classes that RE matches" },
	{ "top", OPT_COUNT, KEEPERS_AT(top), 0, NULL, "N", "so many rows; 0: all that keep half a percent" },
	{ "max-memory", OPT_TEXT, KEEPERS_AT(max_memory), 0, NULL, "SIZE",
	  "may take so much memory, such as 2G; else half of what is free" },
	{ "help", OPT_SWITCH, KEEPERS_AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table keepers_table = { .rows = keepers_rows,
	                                        .count = sizeof keepers_rows / sizeof *keepers_rows,
	                                        .help = "jprof keepers --help" };

static int keepers_help(void)
{
	printf("usage: jprof keepers [OPTIONS] DUMP.ndjson[.gz]\n"
	       "\n"
	       "Says who keeps a Ruby's objects: which Hash, Array, object or class, how much of\n"
	       "the heap would be freed without it, and the way to it from a root. DUMP is what\n"
	       "ObjectSpace.dump_all wrote, of this machine or another. In a Ruby:\n"
	       "\n"
	       "  require \"objspace\"\n"
	       "  ObjectSpace.trace_object_allocations_start   # as early as possible, for lines\n"
	       "  GC.start\n"
	       "  File.open(\"heap.ndjson\", \"w\") { |f| ObjectSpace.dump_all(output: f) }\n"
	       "\n"
	       "keeps is what would be freed without the object (other tools: retained size).\n"
	       "Contents of Strings are in such a file, and are not read.\n"
	       "\n");
	opt_help(&keepers_table, 0);
	return 0;
}

/* What is printed, and in which unit. */
struct keepers_screen {
	const struct keepers_options *o;
	const char *file;
	const struct jprof_rubyheap_info *heap;
	const struct jprof_keepers *keepers;
	const struct jprof_keepers_info *info;
	struct measure unit;
	unsigned columns;
	FILE *to;
};

static size_t shown_keepers(const struct keepers_screen *s)
{
	size_t count = jprof_keepers_count(s->keepers);
	return s->o->top && s->o->top < count ? s->o->top : count;
}

static void put_keeper_numbers(const struct keepers_screen *s, uint64_t bytes, uint64_t objects)
{
	char number[measure_most], count[measure_most];
	double share = s->info->bytes ? 100.0 * (double)bytes / (double)s->info->bytes : 0;
	fprintf(s->to, "%8s  %4.0f %%  %11s  ", measure_number(s->unit, (double)bytes, number), share,
	        grouped_count(objects, count));
}

/* "a Hash of 54,107 in Shop::Cache"; the caller frees it. NULL: memory is short. */
static char *name_of_keeper(const struct jprof_keeper *k)
{
	char *name = NULL;
	int len = *k->holder ? asprintf(&name, "%s in %s", k->what, k->holder) : asprintf(&name, "%s", k->what);
	return len < 0 ? NULL : name;
}

static void put_keeper_row(const struct keepers_screen *s, const struct jprof_keeper *k)
{
	char *name = name_of_keeper(k);
	size_t room = s->columns > keeper_numbers_width + 20 ? s->columns - keeper_numbers_width : 20;
	size_t taken = terminal_columns(name ? name : ""), place = terminal_columns(k->site);
	put_keeper_numbers(s, k->keeps, k->objects);
	if (*k->site && taken + 2 + place > room)
		taken = room > place + 12 ? room - place - 2 : taken;
	terminal_put_cut(s->to, name ? name : k->what, taken < room ? taken : room);
	if (*k->site && taken + 12 < room) {
		fputs("  ", s->to);
		terminal_put_place(s->to, k->site, room - taken - 2);
	}
	putc('\n', s->to);
	free(name);
}

static void put_keepers_table(const struct keepers_screen *s)
{
	size_t rows = shown_keepers(s);
	uint64_t bytes = s->info->bytes, objects = s->info->objects;
	fprintf(s->to, "\n%8s  %6s  %11s  %-*s%4s\n", "keeps", "share", "objects",
	        (int)s->columns - keeper_numbers_width - 4, "kept by", s->unit.name);
	for (size_t i = 0; i < rows; i++) {
		const struct jprof_keeper *k = jprof_keepers_at(s->keepers, i);
		put_keeper_row(s, k);
		bytes -= k->keeps;
		objects -= k->objects;
	}
	put_keeper_numbers(s, bytes, objects);
	size_t others = jprof_keepers_count(s->keepers) - rows;
	if (others)
		fprintf(s->to, "others, %zu of them of half a percent or more (--top=0)\n", others);
	else
		fputs("others, each less than half a percent\n", s->to);
	put_keeper_numbers(s, s->info->bytes, s->info->objects);
	fputs("all\n", s->to);
	if (s->info->unrooted_objects) {
		char number[measure_most], count[measure_most];
		fprintf(s->to, "%8s  %6s  %11s  no root leads to them: garbage, most of it\n",
		        measure_number(s->unit, (double)s->info->unrooted_bytes, number), "",
		        grouped_count(s->info->unrooted_objects, count));
	}
}

static void put_keeper_field(const struct keepers_screen *s, const char *name, const char *text)
{
	fprintf(s->to, "   %-9s", name);
	terminal_wrap_after(s->to, 12, text, s->columns);
}

static void put_keeper_block(const struct keepers_screen *s, size_t i)
{
	const struct jprof_keeper *k = jprof_keepers_at(s->keepers, i);
	char number[measure_most], *name = name_of_keeper(k), *made = NULL;
	struct measure unit = measure_fit(s->unit, (double)k->keeps);
	fprintf(s->to, "\n%zu  ", i + 1);
	char *title = NULL;
	if (asprintf(&title, "%s: %s %s", name ? name : k->what, measure_number(unit, (double)k->keeps, number),
	             unit.name) < 0)
		title = NULL;
	terminal_wrap_after(s->to, 3, title ? title : k->what, s->columns);
	put_keeper_field(s, "path", k->path);
	bool method = isalpha((unsigned char)*k->method) || *k->method == '_';
	if (*k->made_at && asprintf(&made, "%s%s%s  %.0f %%", k->made_at, method ? " in " : "", method ? k->method : "",
	                            100 * k->made_share) >= 0)
		put_keeper_field(s, "made at", made);
	free(made);
	free(title);
	free(name);
}

static void put_keepers_head(const struct keepers_screen *s)
{
	char number[measure_most], count[measure_most];
	const struct jprof_keeper *first = jprof_keepers_at(s->keepers, 0);
	char *chosen = NULL, *text = NULL, *name = first ? name_of_keeper(first) : NULL;
	bool choice = s->o->line || s->o->class_name;
	struct measure unit = measure_fit(s->unit, (double)s->info->bytes);
	if (asprintf(&text, "%s: %s %s in %s Ruby objects%s", s->file,
	             measure_number(unit, (double)s->info->bytes, number), unit.name,
	             grouped_count(s->info->objects, count),
	             choice ? ", with what they keep" : " and their buffers") >= 0)
		terminal_wrap(s->to, text, s->columns);
	free(text);
	double share = first && s->info->bytes ? (double)first->keeps / (double)s->info->bytes : 0;
	if (name && share >= worth_saying) {
		struct measure of = measure_fit(s->unit, (double)first->keeps);
		if (asprintf(&chosen, "%c%s keeps %.0f %% of it (%s %s).",
		             *name == 'a'   ? 'A'
		             : *name == 'c' ? 'C'
		                            : *name,
		             name + 1, 100 * share, measure_number(of, (double)first->keeps, number), of.name) >= 0)
			terminal_wrap(s->to, chosen, s->columns);
		free(chosen);
	} else if (s->info->bytes) {
		fputs("No object keeps a tenth of it.\n", s->to);
	}
	free(name);
}

static void put_keepers_notes(const struct keepers_screen *s)
{
	if (s->heap->cut)
		fputs("\nThe file ends within a line: it is not whole, and what is missing may keep more.\n", s->to);
	if (!s->heap->has_lines)
		fputs("\nNo object says where it was allocated: trace_object_allocations_start was not\n"
		      "called before they were made (jprof keepers --help).\n",
		      s->to);
	fputs("\nkeeps: what would be freed without it (retained size); what two of them share\n"
	      "counts for \"others\".\n",
	      s->to);
}

static void put_keepers(const struct keepers_screen *s)
{
	static const size_t most_blocks = 2;
	put_keepers_head(s);
	put_keepers_table(s);
	for (size_t i = 0; i < most_blocks && i < shown_keepers(s); i++)
		put_keeper_block(s, i);
	put_keepers_notes(s);
}

static int show_keepers(const struct keepers_options *o, const char *file)
{
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	struct jprof_keepers_opts opts = { .size = sizeof opts, .line = o->line, .class_name = o->class_name };
	struct jprof_error err;
	struct sink sink = { 0 };
	struct sink_text text;
	bool good = !jprof_rubyheap_open(file, &heap, &err) && !jprof_keepers_new(heap, &opts, &keepers, &err);
	if (good) {
		struct keepers_screen s = {
			.o = o, .file = file, .heap = jprof_rubyheap_info(heap), .keepers = keepers
		};
		s.info = jprof_keepers_info(keepers);
		s.unit = measure_for((double)s.info->bytes);
		s.columns = terminal_size().columns;
		sink_text_open(&text);
		s.to = text.file;
		if (s.to)
			put_keepers(&s);
		good = sink_text_write(&text, &sink);
	} else {
		say_error(&err);
	}
	jprof_keepers_free(keepers);
	jprof_rubyheap_free(heap);
	return good ? 0 : 1;
}

int cmd_keepers(int argc, char **argv)
{
	struct keepers_options o = { .top = usual_keepers };
	int count;
	if (!opt_parse(&keepers_table, &o, argc, argv, &count))
		return 1;
	if (o.help)
		return keepers_help();
	if (count != 1) {
		say("give the file that ObjectSpace.dump_all wrote: jprof keepers heap.ndjson");
		return 1;
	}
	return budget_watch(o.max_memory) ? show_keepers(&o, argv[1]) : 1;
}
