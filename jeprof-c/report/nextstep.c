#include "report/nextstep.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "cli/terminal.h"

enum { command_most = 1024, most_entries = 10000 };

/* The number in a dump's name that counts its dumps, between what is before and behind it: the last but one of
 * PREFIX.PID.SEQ.KINDn.heap, the last of all others. What is behind a KIND differs. */
struct series_name {
	size_t before;
	unsigned long long number;
	const char *behind; /* NULL: anything */
};

/* The digits that end before `end`: where they begin; `end`: there are none. */
static size_t digits_before(const char *name, size_t end)
{
	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	return end;
}

static bool series_of(const char *name, struct series_name *series)
{
	const char *ending = strstr(name, ".heap");
	ending = ending ? ending : strstr(name, ".jprof");
	size_t end = ending ? (size_t)(ending - name) : 0, first = digits_before(name, end);
	bool by_jemalloc = pid_of_dump(name);
	if (by_jemalloc) { /* KIND and the point before it */
		end = first - 2;
		first = digits_before(name, end);
	}
	*series = (struct series_name){ first, strtoull(name + first, NULL, 10), by_jemalloc ? NULL : name + end };
	return first < end && end - first < 19;
}

/* Whether the name is of an earlier dump in the same series. */
static bool is_earlier(const char *name, const char *than, const struct series_name *now, struct series_name *series)
{
	if (!series_of(name, series) || series->before != now->before || strncmp(name, than, now->before) != 0)
		return false;
	return series->number < now->number && !series->behind == !now->behind &&
	       (!now->behind || !strcmp(series->behind, now->behind));
}

/* The first dump of the series that lies beside this one: its path; "": there is none. */
static void find_earlier(const char *path, char earlier[PATH_MAX])
{
	const char *name = base_name(path);
	struct series_name now, other;
	unsigned long long lowest = ULLONG_MAX;
	*earlier = '\0';
	char dir[PATH_MAX];
	snprintf(dir, sizeof dir, "%.*s", (int)(name - path), path);
	DIR *list = series_of(name, &now) ? opendir(*dir ? dir : ".") : NULL;
	struct dirent *entry;
	for (int i = 0; list && i < most_entries && (entry = readdir(list)); i++)
		if (is_earlier(entry->d_name, name, &now, &other) && other.number < lowest) {
			lowest = other.number;
			if (snprintf(earlier, PATH_MAX, "%s%s", dir, entry->d_name) >= PATH_MAX)
				*earlier = '\0';
		}
	if (list)
		closedir(list);
}

struct command {
	char text[command_most];
	bool failed; /* it does not fit, or cannot be shown */
};

static void add_to_command(struct command *c, const char *before, const char *text, const char *behind)
{
	size_t len = strlen(c->text), left = command_most - len;
	int n = snprintf(c->text + len, left, "%s%s%s", before, text, behind);
	c->failed = c->failed || n < 0 || (size_t)n >= left;
}

/* A word as a shell takes it. */
static void add_command_word(struct command *c, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+:,=@%";
	const char *quote = word[strspn(word, plain)] ? "'" : "";
	c->failed = c->failed || !is_visible(word) || strchr(word, '\'');
	add_to_command(c, quote, word, quote);
}

/* " [PROGRAM]" and a file. */
static void add_operands(struct command *c, const struct inputs *inputs, const char *file)
{
	if (inputs->program) {
		add_to_command(c, " ", "", "");
		add_command_word(c, inputs->program);
	}
	add_to_command(c, " ", "", "");
	add_command_word(c, file);
}

/* Files were given in whose light the dump is read: the next command would want them, too. */
static bool is_special(const struct options *o)
{
	return o->sysroot || o->lib_prefix || o->add_lib || o->debug_dir || o->perf_map || o->maps || o->debuginfod ||
	       o->member || o->thread;
}

/* Of a dump or snapshot the difference to an earlier one, of a snapshot alone where all memory is, of a dump alone the
 * difference to one that is still to be made. */
static const char *choose_step(const struct loaded *l, const struct inputs *inputs, struct command *c)
{
	struct jprof_outside now;
	char earlier[PATH_MAX];
	jprof_profile_outside(l->profile, false, &now);
	find_earlier(inputs->dumps[0], earlier);
	if (*earlier) {
		add_to_command(c, "jprof diff", "", "");
		add_operands(c, inputs, earlier);
		add_to_command(c, " ", "", "");
		add_command_word(c, inputs->dumps[0]);
		return "what grew since";
	}
	if (now.processes) {
		add_to_command(c, "jprof explain", "", "");
		add_operands(c, inputs, inputs->dumps[0]);
		return "where all of its memory is";
	}
	add_to_command(c, "jprof diff", "", "");
	add_operands(c, inputs, inputs->dumps[0]);
	add_to_command(c, " LATER", "", "");
	return "what grew, when there is a later dump";
}

int next_step_write(FILE *to, const struct loaded *l, const struct options *o, const struct inputs *inputs,
                    unsigned columns)
{
	enum { beside = 7, around_remark = 4 }; /* "Next:  ", "  ()" */
	struct command c = { 0 };
	if (l->difference || is_special(o) || inputs->dump_count != 1 || !strcmp(inputs->dumps[0], "-"))
		return 0;
	const char *remark = choose_step(l, inputs, &c);
	size_t taken = beside + terminal_columns(c.text);
	if (c.failed)
		return 0;
	fprintf(to, "Next:  %s", c.text);
	if (taken + around_remark + strlen(remark) <= columns)
		fprintf(to, "  (%s)", remark);
	fputs("\n", to);
	return (int)((taken + columns - 1) / columns);
}
