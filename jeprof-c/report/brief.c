#include "report/brief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/names.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "cli/thrift.h"
#include "report/remedies.h"

static const char *const proof_words[] = {
	"no file", "another", "unverified", "same inode", "same build", "not needed"
};

enum { least_files = 3, most_others = 2, little_room = 16 };

struct brief {
	const struct jprof_coverage *coverage;
	const struct remedies *remedies;
	unsigned columns;
	double all, unverified;
};

static double bytes_of(const struct jprof_coverage_file *f, bool named)
{
	double sum = 0;
	for (int s = 0; s < JPROF_SOURCES; s++)
		sum += named && (s == JPROF_SOURCE_NONE || s == JPROF_SOURCE_FDE) ? 0 : f->bytes[s];
	return sum;
}

static const char *shown_path(const struct jprof_coverage_file *f)
{
	return *f->path ? f->path : "(outside all mappings)";
}

/* A path from its end, as far as the line goes. */
static void put_path_end(const char *path, size_t room)
{
	size_t len = strlen(path);
	if (len > room && room > 3) {
		fputs("...", stdout);
		path += len - (room - 3);
	}
	put_name(path);
}

static void put_file(const struct brief *b, const struct jprof_coverage_file *f)
{
	enum { before = 37 };
	double bytes = bytes_of(f, false);
	printf("%8.1f %5.1f%% %6.1f%%  %-10s  ", bytes / mb, b->all != 0 ? bytes * 100 / b->all : 0,
	       bytes != 0 ? bytes_of(f, true) * 100 / bytes : 100, proof_words[f->proof]);
	put_path_end(shown_path(f), b->columns > before + 20 ? b->columns - before : 20);
	putchar('\n');
}

static void put_files(const struct brief *b, size_t most)
{
	size_t count = jprof_coverage_count(b->coverage), shown = count > most ? most : count;
	double rest = 0;
	printf("\n%8s %6s %7s  %-10s  %s\n", "MB", "share", "named", "file is", "innermost frame lies in");
	for (size_t i = 0; i < count; i++)
		if (i < shown)
			put_file(b, jprof_coverage_at(b->coverage, i));
		else
			rest += bytes_of(jprof_coverage_at(b->coverage, i), false);
	if (shown < count)
		printf("%8.1f %5.1f%% %20s  %zu more file%s: jprof info --all\n", rest / mb,
		       b->all != 0 ? rest * 100 / b->all : 0, "", count - shown, count - shown > 1 ? "s" : "");
}

/* How much is named, and how sure the files are. */
static void write_sentence(const struct brief *b, FILE *to)
{
	char text[256];
	int n = snprintf(text, sizeof text, "%.1f %% of the bytes have a function's name",
	                 jprof_coverage_named(b->coverage) * 100);
	if (b->unverified >= mb / 20)
		snprintf(text + n, sizeof text - (size_t)n, "; %.1f MB lie in unverified files", b->unverified / mb);
	terminal_wrap(to, text, b->columns);
}

/* Whether the i-th file is the first of those that one sentence speaks of. */
static bool is_first_of_kind(const struct brief *b, size_t i)
{
	bool first = *remedy_of(b->remedies, i) && remedy_kind(b->remedies, i) != REMEDY_PACKAGE;
	for (size_t k = 0; first && k < i; k++)
		first = !remedies_alike(b->remedies, k, i);
	return first;
}

/* "libstdc++.so.6 and 3 more: No such file ...": what helps several files stands once. */
static void write_other(const struct brief *b, size_t i, FILE *to)
{
	struct jp_strbuf text = { 0 };
	size_t alike = 0;
	for (size_t k = i + 1; k < jprof_coverage_count(b->coverage); k++)
		alike += remedies_alike(b->remedies, k, i);
	jp_strbuf_printf(&text, "%s", jp_basename(shown_path(jprof_coverage_at(b->coverage, i))));
	if (alike)
		jp_strbuf_printf(&text, " and %zu more", alike);
	jp_strbuf_printf(&text, ": %s", remedy_of(b->remedies, i));
	answer_put_paragraph(to, &text, b->columns);
}

static void write_remedies(const struct brief *b, FILE *to, size_t most)
{
	size_t others = 0;
	const char *command = remedy_command(b->remedies);
	for (size_t i = 0; i < jprof_coverage_count(b->coverage); i++)
		others += is_first_of_kind(b, i);
	if (*command || others)
		fputs("what would name the rest:\n", to);
	if (*command)
		terminal_wrap_command(to, command, b->columns);
	for (size_t i = 0, written = 0; i < jprof_coverage_count(b->coverage) && written < most; i++)
		if (is_first_of_kind(b, i)) {
			write_other(b, i, to);
			written++;
		}
	if (others > most)
		fprintf(to, "more of it: jprof info --all\n");
}

bool put_brief(const struct jprof_coverage *coverage, const struct options *o, size_t lines)
{
	struct brief b = { .coverage = coverage, .columns = terminal_size().columns };
	struct remedies *remedies = remedies_new(coverage, o);
	char *end = NULL;
	size_t size;
	FILE *to = remedies ? textstream_open(&end, &size) : NULL;
	b.remedies = remedies;
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(coverage, i);
		b.all += bytes_of(f, false);
		b.unverified += f->proof == JPROF_PROOF_UNVERIFIED ? bytes_of(f, false) : 0;
	}
	if (to) {
		write_sentence(&b, to);
		write_remedies(&b, to, lines < little_room ? 1 : most_others);
	}
	if (!to || !textstream_closed(to, &end) || shortage_noted()) {
		say("memory is short");
		free(end);
		remedies_free(remedies);
		return false;
	}
	size_t taken = thrift_count(end) + 4; /* a blank line, the heads, what the rest has, a blank line */
	put_files(&b, lines > taken + least_files ? lines - taken : least_files);
	printf("\n%s", end);
	free(end);
	remedies_free(remedies);
	return true;
}
