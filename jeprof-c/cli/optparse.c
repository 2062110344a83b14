#include "cli/optparse.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/nearest.h"
#include "cli/say.h"

enum { help_column = 25, help_width = 80 };

/* The work on one command line. */
struct parse {
	const struct opt_table *table;
	char *options;
	const struct opt_row **chosen; /* by row: which of its group was chosen last, or NULL */
};

/* Letters of an option: case does not count, and a dash is an underscore. */
static int option_letter(char c)
{
	return c == '-' ? '_' : tolower((unsigned char)c);
}

static bool option_begins(const char *name, const char *start, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (option_letter(name[i]) != option_letter(start[i]))
			return false;
	return true;
}

static bool is_first_row(const struct opt_table *table, const struct opt_row *row)
{
	for (const char *const *name = table->first; name && *name; name++)
		if (!strcmp(*name, row->name))
			return true;
	return false;
}

/* What a word may mean: the rows that begin so, of those that are looked at. */
struct meanings {
	const struct opt_row *row; /* the one that it means, or NULL */
	size_t count;
	char names[128]; /* of several: "--line, --list" */
};

/* Which rows are looked at, one set after the other. */
enum option_rank { RANK_FIRST, RANK_FIRST_TAKEN, RANK_TAKEN, RANK_REFUSED, RANKS };

static bool is_of_rank(const struct opt_table *table, const struct opt_row *row, enum option_rank rank)
{
	bool taken = row->kind != OPT_REFUSED;
	switch (rank) {
	case RANK_FIRST: return is_first_row(table, row);
	case RANK_FIRST_TAKEN: return taken && is_first_row(table, row);
	case RANK_TAKEN: return taken;
	default: return !taken;
	}
}

static struct meanings meanings_of_rank(const struct opt_table *table, enum option_rank rank, const char *name,
                                        size_t len)
{
	struct meanings m = { 0 };
	for (const struct opt_row *row = table->rows; row < table->rows + table->count; row++)
		if (row->kind != OPT_HEADING && option_begins(row->name, name, len) && is_of_rank(table, row, rank)) {
			size_t used = strlen(m.names);
			snprintf(m.names + used, sizeof m.names - used, "%s--%s", m.count ? ", " : "", row->name);
			m.row = m.count++ ? NULL : row;
		}
	return m;
}

/* What a word means: the option of that very name, or else the only one of the first rank that begins so. What is
 * refused anyway makes nothing ambiguous. -h is help. */
static struct meanings meanings_of(const struct opt_table *table, const char *name, size_t len)
{
	struct meanings m = { 0 };
	if (len == 1 && *name == 'h')
		name = "help", len = 4;
	for (const struct opt_row *row = table->rows; row < table->rows + table->count; row++)
		if (row->kind != OPT_HEADING && strlen(row->name) == len && option_begins(row->name, name, len))
			return (struct meanings){ .row = row, .count = 1 };
	for (int rank = 0; rank < RANKS && !m.row && (!m.count || rank == RANK_FIRST_TAKEN); rank++)
		m = meanings_of_rank(table, rank, name, len);
	return m;
}

/* Says that there is no such option, as it was typed, and which one was meant. */
static void say_unknown_option(const struct opt_table *table, const char *typed, const char *name, size_t len)
{
	struct nearest nearest = nearest_to(name, len);
	int typed_len = (int)(name - typed) + (int)len;
	for (const struct opt_row *row = table->rows; row < table->rows + table->count; row++)
		if (row->kind != OPT_HEADING && row->kind != OPT_REFUSED && row->help)
			nearest_try(&nearest, row->name);
	if (nearest.best)
		say("unknown option %.*s; is it --%s? %s lists all", typed_len, typed, nearest.best, table->help);
	else
		say("unknown option %.*s; %s lists all", typed_len, typed, table->help);
}

/* The row of a word such as "--lines", "--lin" or "--nolines", whose name begins at `name`; *on is false for the last.
 */
static const struct opt_row *find_option_word(const struct opt_table *table, const char *typed, const char *name,
                                              size_t len, bool *on)
{
	struct meanings m = meanings_of(table, name, len);
	*on = m.count;
	if (!m.count && len > 2 && option_begins(name, "no", 2)) {
		size_t skip = 2 + (name[2] == '-' || name[2] == '_');
		m = meanings_of(table, name + skip, len - skip);
	}
	if (!m.count)
		say_unknown_option(table, typed, name, len);
	else if (!m.row)
		say("ambiguous option %.*s: %s", (int)(name - typed) + (int)len, typed, m.names);
	return m.row;
}

static bool set_number(size_t *to, const struct opt_row *row, const char *text)
{
	char *end;
	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	bool zero = row->kind == OPT_COUNT;
	if (errno || *end || end == text || strchr(text, '-') || (!n && !zero)) {
		say("--%s=%s: give a whole number%s", row->name, text, zero ? "" : " above 0");
		return false;
	}
	*to = n;
	return true;
}

static bool set_share(double *to, const struct opt_row *row, const char *text)
{
	char *end;
	double share = strtod(text, &end);
	if (*end || end == text || !(share >= 0 && share <= 1)) {
		say("--%s=%s: give a share from 0 to 1", row->name, text);
		return false;
	}
	*to = share;
	return true;
}

int opt_word(const char *words, const char *text)
{
	size_t len = strlen(text);
	int place = 0;
	for (const char *word = words; *word; place++) {
		size_t n = strcspn(word, "|");
		if (n == len && !strncasecmp(word, text, n))
			return place;
		word += n + (word[n] == '|');
	}
	return -1;
}

static bool set_word(int *to, const struct opt_row *row, const char *text)
{
	int place = opt_word(row->argument, text);
	if (place < 0) {
		say("--%s=%s: give one of %s", row->name, text, row->argument);
		return false;
	}
	*to = place;
	return true;
}

static bool is_choice(const struct opt_row *row)
{
	return row->kind == OPT_CHOICE || row->kind == OPT_NAME;
}

static void store_choice(struct parse *p, const struct opt_row *row)
{
	if (row->kind == OPT_NAME)
		*(const char **)(p->options + row->at) = row->name;
	else
		*(int *)(p->options + row->at) = row->value;
}

/* One of a group at most: two that differ are a mistake. */
static bool set_choice(struct parse *p, const struct opt_row *row, const char *argument)
{
	const struct opt_row *before = p->chosen[row - p->table->rows];
	for (size_t i = 0; i < p->table->count; i++) {
		const char *group = p->table->rows[i].group;
		if (group && !strcmp(group, row->group)) {
			if (p->chosen[i])
				before = p->chosen[i];
			p->chosen[i] = row;
		}
	}
	if (before && before != row) {
		say("--%s and --%s exclude each other", before->name, row->name);
		return false;
	}
	store_choice(p, row);
	if (argument)
		*(const char **)(p->options + row->value) = argument;
	return true;
}

/* --nolines takes --lines back: the first of the group holds again. */
static bool unset_choice(struct parse *p, const struct opt_row *row)
{
	const struct opt_row *first = NULL;
	for (size_t i = 0; i < p->table->count; i++) {
		const struct opt_row *other = &p->table->rows[i];
		if (!other->group || strcmp(other->group, row->group))
			continue;
		first = first ? first : other;
		if (p->chosen[i] != row)
			continue;
		p->chosen[i] = NULL;
		store_choice(p, first);
	}
	return true;
}

static bool apply_option(struct parse *p, const struct opt_row *row, bool on, const char *argument)
{
	void *member = p->options + row->at;
	switch (row->kind) {
	case OPT_SWITCH: *(bool *)member = on; return true;
	case OPT_CHOICE:
	case OPT_NAME: return set_choice(p, row, argument);
	case OPT_TEXT: *(const char **)member = argument; return true;
	case OPT_MAYBE: *(const char **)member = argument ? argument : ""; return true;
	case OPT_NUMBER:
	case OPT_COUNT: return set_number(member, row, argument);
	case OPT_SHARE: return set_share(member, row, argument);
	case OPT_WORD: return set_word(member, row, argument);
	case OPT_HEADING:
	case OPT_NOTHING: return true;
	case OPT_REFUSED: say("--%s is not taken: %s", row->name, row->help); return false;
	}
	return false;
}

/* argv[*i] is an option; its argument may be the next word. */
static bool parse_one(struct parse *p, int argc, char **argv, int *i)
{
	const char *name = argv[*i] + 1 + (argv[*i][1] == '-'), *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	bool on;
	const struct opt_row *row = find_option_word(p->table, argv[*i], name, len, &on);
	if (!row)
		return false;
	if (!on && is_choice(row))
		return unset_choice(p, row);
	const char *argument = equals ? equals + 1 : NULL;
	bool may_lack = row->kind == OPT_MAYBE || row->kind == OPT_REFUSED;
	if (row->argument && !argument && row->kind != OPT_MAYBE)
		argument = *i + 1 < argc ? argv[++*i] : NULL;
	if ((row->argument != NULL) != (argument != NULL) && !may_lack) {
		const char *dash = strlen(row->name) > 1 ? "--" : "-";
		if (argument)
			say("%s%s takes no value", dash, row->name);
		else
			say("%s%s needs a value; see %s", dash, row->name, p->table->help);
		return false;
	}
	if (!on && row->kind != OPT_SWITCH) {
		say("--no%s: --%s cannot be negated", row->name, row->name);
		return false;
	}
	return apply_option(p, row, on, argument);
}

static bool parse_all(struct parse *p, int argc, char **argv, int *operand_count)
{
	bool only_operands = false;
	*operand_count = 0;
	for (int i = 1; i < argc; i++) {
		if (!only_operands && !strcmp(argv[i], "--")) {
			only_operands = true;
		} else if (only_operands || argv[i][0] != '-' || !argv[i][1]) {
			argv[1 + (*operand_count)++] = argv[i];
			only_operands = only_operands || p->table->command;
		} else if (!parse_one(p, argc, argv, &i)) {
			return false;
		}
	}
	return true;
}

bool opt_parse(const struct opt_table *table, void *options, int argc, char **argv, int *operand_count)
{
	struct parse p = { .table = table, .options = options };
	p.chosen = calloc(table->count, sizeof *p.chosen);
	if (!p.chosen) {
		say("memory is short");
		return false;
	}
	bool good = parse_all(&p, argc, argv, operand_count);
	free(p.chosen);
	return good;
}

/* One paragraph, broken at blanks so that no line is longer than a terminal is wide; `column` is where it begins. */
static void put_filled(const char *text, size_t column)
{
	size_t at = column;
	for (size_t len; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		bool breaks = at > column && at + 1 + len > help_width;
		if (breaks)
			printf("\n%*s", (int)column, "");
		else if (at > column)
			putchar(' ');
		at = breaks ? column + len : at + len + (at > column);
		printf("%.*s", (int)len, text);
	}
	putchar('\n');
}

static void help_row(const struct opt_row *row)
{
	char left[64];
	const char *form = !row->argument ? "  --%s%s" : row->kind == OPT_MAYBE ? "  --%s[=%s]" : "  --%s=%s";
	int width = snprintf(left, sizeof left, form, row->name, row->argument ? row->argument : "");
	if (width <= help_column - 1)
		printf("%-*s", help_column, left);
	else
		printf("%s\n%*s", left, help_column, "");
	put_filled(row->help, help_column);
}

void opt_help(const struct opt_table *table, int commands)
{
	bool shown = true;
	for (const struct opt_row *row = table->rows; row < table->rows + table->count; row++) {
		if (row->kind == OPT_HEADING && (shown = row->value & commands))
			printf("\n%s\n", row->help);
		else if (row->kind != OPT_HEADING && row->kind != OPT_REFUSED && shown && row->help)
			help_row(row);
	}
}
