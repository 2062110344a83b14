#include "cli/answer.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "jprof.h"

/* ---- filling ------------------------------------------------------------------------------------------------ */

struct jp_strbuf *answer_add_value(struct answer *a, enum answer_role role, double value)
{
	if (jp_array_push(a->parts, a->count, a->cap)) {
		a->text.failed = true;
		return &a->text;
	}
	jp_strbuf_add(&a->text, "", a->count > 0);
	a->parts[a->count++] =
	    (struct answer_part){ .role = role, .at = a->text.len, .value = value, .gives = a->gives };
	return &a->text;
}

struct jp_strbuf *answer_add(struct answer *a, enum answer_role role)
{
	return answer_add_value(a, role, NAN);
}

struct jp_strbuf *answer_add_labelled(struct answer *a, enum answer_role role, const char *label)
{
	struct jp_strbuf *text = answer_add(a, role);
	if (!text->failed)
		a->parts[a->count - 1].label = label;
	return text;
}

struct jp_strbuf *answer_add_detail(struct answer *a, const char *label)
{
	return answer_add_labelled(a, ANSWER_DETAIL, label);
}

void answer_release(struct answer *a)
{
	shortage_note_code(a->text.failed ? JPROF_E_NOMEM : 0);
	jp_strbuf_release(&a->text);
	free(a->parts);
	*a = (struct answer){ 0 };
}

const char *answer_text(const struct answer *a, size_t part)
{
	return a->text.text ? a->text.text + a->parts[part].at : "";
}

char *answer_joined(const struct answer *a, enum answer_role role)
{
	struct jp_strbuf all = { .failed = a->text.failed };
	jp_strbuf_str(&all, "");
	for (size_t i = 0; i < a->count; i++)
		if (a->parts[i].role == role) {
			jp_strbuf_str(&all, all.len ? " " : "");
			jp_strbuf_str(&all, answer_text(a, i));
		}
	shortage_note_code(all.failed ? JPROF_E_NOMEM : 0);
	return all.text;
}

enum {
	detail_wide = 12, /* columns of its word, with blanks */
	aside_wide = 10
};

/* ---- the walker for a terminal ------------------------------------------------------------------------------ */

struct answer_walk {
	const struct answer *answer;
	FILE *out;
	size_t columns, used; /* of a line */
	unsigned thrift;
	bool cuts; /* no line is longer, whatever stands in it */
};

static void __attribute__((format(printf, 2, 3))) put_in_line(struct answer_walk *w, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int len = vfprintf(w->out, fmt, args);
	va_end(args);
	w->used += len > 0 ? (size_t)len : 0;
}

static void end_line(struct answer_walk *w)
{
	if (w->used)
		fputc('\n', w->out);
	w->used = 0;
}

/* A line behind so many columns, or where it is too long its words on lines. */
static void put_paragraph(const struct answer_walk *w, unsigned used, const char *text)
{
	if (used + strlen(text) <= w->columns)
		fprintf(w->out, "%s%s", text, *text ? "\n" : "");
	else
		terminal_wrap_after(w->out, used, text, (unsigned)w->columns);
}

/* What rounds to 0 has no sign: it is none. */
static double rounded(double value, double least)
{
	return fabs(value) <= least ? 0 : value;
}

static void put_cell_number(struct answer_walk *w, enum answer_role role, double value)
{
	static const int wide[] = { [ANSWER_AMOUNT] = 7, [ANSWER_SHARE] = 7, [ANSWER_GROWTH] = 8 };
	if (isnan(value))
		put_in_line(w, "%*s", wide[role], "");
	else if (role == ANSWER_SHARE)
		put_in_line(w, "%*.0f %%", wide[role] - 2, rounded(value, 0.5));
	else
		put_in_line(w, role == ANSWER_GROWTH ? "%+*.1f" : "%*.1f", wide[role], rounded(value / mb, 0.05));
}

static bool is_entry(const struct answer *a, size_t part)
{
	return part < a->count && a->parts[part].role == ANSWER_ENTRY;
}

/* The entries from `first` on behind what stands in the row or, where not one would fit there, below it: those that
 * fit, the first one in any case, and how many more there are. Returns the part behind them. */
static size_t put_list(struct answer_walk *w, size_t first)
{
	static const char others[] = ", 9 others 99.9";
	size_t i = first, named = 0;
	double rest = 0;
	const char *name = answer_text(w->answer, first);
	if (w->used + terminal_columns(name) + strlen(" 99.9") + strlen(others) > w->columns) {
		end_line(w);
		put_in_line(w, "%28s", "");
	}
	put_in_line(w, "  ");
	for (; is_entry(w->answer, i); i++) {
		char bytes[32];
		double value = w->answer->parts[i].value;
		snprintf(bytes, sizeof bytes, " %.1f", value / mb);
		name = answer_text(w->answer, i);
		bool last = named == i - first && !is_entry(w->answer, i + 1);
		size_t used = w->used + strlen(bytes) + (named ? 2 : 0) + (last ? 0 : strlen(others)),
		       room = w->columns > used ? w->columns - used : 1, wide = terminal_columns(name);
		if (rest != 0 || (i > first && wide > room)) {
			rest += value;
			continue;
		}
		put_in_line(w, named++ ? ", " : "");
		terminal_put_cut(w->out, name, room);
		w->used += wide < room ? wide : room;
		put_in_line(w, "%s", bytes);
	}
	size_t left = i - first - named;
	if (left)
		put_in_line(w, "%s%zu other%s %.1f", named ? ", " : "", left, left > 1 ? "s" : "", rest / mb);
	return i;
}

static void put_answer_line(struct answer_walk *w, const char *text, size_t len)
{
	char *line = w->cuts && len > w->columns ? strndup(text, len) : NULL;
	if (line)
		terminal_wrap(w->out, line, (unsigned)w->columns);
	else
		fprintf(w->out, "%.*s\n", (int)len, text);
	free(line);
}

static void put_answer_lines(struct answer_walk *w, const char *text)
{
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		put_answer_line(w, text, len);
	}
}

static void put_cell_words(struct answer_walk *w, const char *text, double half)
{
	char error[32] = "";
	if (!isnan(half))
		snprintf(error, sizeof error, " (%s%.1f)", terminal_plus_minus(), half / mb);
	size_t wide = terminal_columns(text) + strlen(error), room = w->columns > w->used ? w->columns - w->used : 1;
	if (!w->cuts || wide <= room) {
		put_in_line(w, "%s%s", text, error);
		return;
	}
	if (!*error && terminal_put_short_lines(w->out, w->used, text, w->columns)) {
		w->used = 0;
		return;
	}
	terminal_put_cut(w->out, text, room > strlen(error) ? room - strlen(error) : 1);
	w->used += room > strlen(error) ? room - strlen(error) : 1;
	put_in_line(w, "%s", error);
}

/* Returns the part behind it. */
static size_t put_answer_part(struct answer_walk *w, size_t at)
{
	const struct answer_part *part = &w->answer->parts[at];
	const char *text = answer_text(w->answer, at);
	if (part->role < ANSWER_AMOUNT)
		end_line(w);
	if (part->role == ANSWER_SENTENCE || part->role == ANSWER_NOTE || part->role == ANSWER_TABLE)
		fputc('\n', w->out);
	switch (part->role) {
	case ANSWER_HEAD:
	case ANSWER_SENTENCE:
	case ANSWER_NOTE:
	case ANSWER_MORE: put_paragraph(w, 0, text); break;
	case ANSWER_LINES: put_answer_lines(w, text); break;
	case ANSWER_DETAIL:
		fprintf(w->out, "   %-8s ", part->label);
		terminal_wrap_after(w->out, detail_wide, text, (unsigned)w->columns);
		break;
	case ANSWER_ASIDE:
		fprintf(w->out, "%-*s", aside_wide, part->label);
		put_paragraph(w, aside_wide, text);
		break;
	case ANSWER_TABLE: put_answer_line(w, text, strlen(text)); break;
	case ANSWER_ROW: break;
	case ANSWER_AMOUNT:
	case ANSWER_SHARE:
	case ANSWER_GROWTH: put_cell_number(w, part->role, part->value); break;
	case ANSWER_ENTRY: return put_list(w, at);
	case ANSWER_WORDS: put_cell_words(w, text, part->value);
	}
	return at + 1;
}

static bool part_gives(const struct answer *a, size_t part, unsigned thrift)
{
	return a->parts[part].gives + thrift > answer_gives_most;
}

bool answer_gives(const struct answer *a, unsigned thrift)
{
	bool any = false;
	for (size_t i = 0; i < a->count; i++)
		any = any || part_gives(a, i, thrift);
	return any;
}

static void walk_answer(struct answer_walk *w)
{
	for (size_t i = 0; i < w->answer->count;)
		i = part_gives(w->answer, i, w->thrift) ? i + 1 : put_answer_part(w, i);
	end_line(w);
}

void answer_put_text(FILE *out, const struct answer *a, unsigned columns)
{
	walk_answer(&(struct answer_walk){ .answer = a, .out = out, .columns = columns });
}

void answer_put_paragraph(FILE *out, struct jp_strbuf *text, unsigned columns)
{
	terminal_wrap(out, shortage_text(text), columns);
	jp_strbuf_release(text);
}

void answer_put_some(FILE *out, const struct answer *a, unsigned columns, unsigned thrift)
{
	walk_answer(
	    &(struct answer_walk){ .answer = a, .out = out, .columns = columns, .thrift = thrift, .cuts = true });
}
