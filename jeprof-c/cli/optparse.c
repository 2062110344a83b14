#include "cli/optparse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/say.h"

/* The work on one command line. */
struct parse {
	const struct opt_table *table;
	char *options;
	const struct opt_row **chosen; /* by row: which of its group was chosen last, or NULL */
};

/* The row that `name` means: that very name, or the only one that begins so; words that are refused
 * anyway make nothing ambiguous. *hits counts what it may mean. */
static const struct opt_row *find_option(const struct opt_table *table, const char *name, size_t len, int *hits)
{
	const struct opt_row *found = NULL, *refused = NULL;
	*hits = 0;
	for (const struct opt_row *row = table->rows; row < table->rows + table->count; row++) {
		if (strncasecmp(row->name, name, len))
			continue;
		if (strlen(row->name) == len) {
			*hits = 1;
			return row;
		}
		if (row->kind == OPT_REFUSED) {
			refused = row;
			continue;
		}
		found = row;
		++*hits;
	}
	if (!*hits && refused) {
		*hits = 1;
		return refused;
	}
	return *hits == 1 ? found : NULL;
}

/* The row of a word such as "lines", "lin" or "nolines"; *on is false for the last. */
static const struct opt_row *find_option_word(const struct opt_table *table, const char *name, size_t len, bool *on)
{
	int hits, unused;
	const struct opt_row *row = find_option(table, name, len, &hits);
	*on = true;
	if (!hits && len > 2 && !strncasecmp(name, "no", 2)) {
		size_t skip = 2 + (name[2] == '-');
		row = find_option(table, name + skip, len - skip, &unused);
		*on = false;
	}
	if (!row)
		say("%s option --%.*s; see %s", hits ? "ambiguous" : "unknown", (int)len, name, table->help);
	return row;
}

static bool set_number(size_t *to, const struct opt_row *row, const char *text)
{
	char *end;
	errno = 0;
	unsigned long n = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || !n) {
		say("--%s=%s: give a whole number above 0", row->name, text);
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
	case OPT_NUMBER: return set_number(member, row, argument);
	case OPT_SHARE: return set_share(member, row, argument);
	case OPT_WORD: return set_word(member, row, argument);
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
	const struct opt_row *row = find_option_word(p->table, name, len, &on);
	if (!row)
		return false;
	if (!on && is_choice(row))
		return unset_choice(p, row);
	const char *argument = equals ? equals + 1 : NULL;
	bool may_lack = row->kind == OPT_MAYBE || row->kind == OPT_REFUSED;
	if (row->argument && !argument && row->kind != OPT_MAYBE)
		argument = *i + 1 < argc ? argv[++*i] : NULL;
	if ((row->argument != NULL) != (argument != NULL) && !may_lack) {
		if (argument)
			say("--%s takes no value", row->name);
		else
			say("--%s needs a value; see %s", row->name, p->table->help);
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

static void help_row(const struct opt_row *row)
{
	char left[64];
	const char *form = !row->argument ? "--%s%s" : row->kind == OPT_MAYBE ? "--%s[=%s]" : "--%s=%s";
	snprintf(left, sizeof left, form, row->name, row->argument ? row->argument : "");
	printf("  %-22s ", left);
	if (strlen(left) > 22)
		printf("\n  %-22s ", "");
	for (const char *p = row->help; *p; p++) {
		putchar(*p);
		if (*p == '\n')
			printf("  %-22s ", "");
	}
	putchar('\n');
}

void opt_help(const struct opt_table *table)
{
	for (const struct opt_row *row = table->rows; row < table->rows + table->count; row++)
		if (row->help && row->kind != OPT_REFUSED)
			help_row(row);
}
