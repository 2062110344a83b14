#include "report/nextstep.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "cli/terminal.h"

enum { most_entries = 10000 };

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
	const char *name = jp_basename(path);
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

/* A part of the dump alone is shown, or it has no maps of its own: the next command would have neither. */
static bool is_special(const struct options *o)
{
	return o->maps || o->thread || o->tag;
}

void next_step_lookup(struct typed *command, const struct options *o)
{
	const struct {
		const char *name, *value;
	} texts[] = {
		{ "sysroot", o->sysroot },     { "lib_prefix", o->lib_prefix }, { "add_lib", o->add_lib },
		{ "debug-dir", o->debug_dir }, { "names", o->names },           { "perf-map", o->perf_map },
		{ "trim-path", o->trim_path }, { "member", o->member },
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		typed_option(command, texts[i].name, texts[i].value);
	typed_switch(command, "debuginfod", o->debuginfod);
	typed_switch(command, "no-packs", o->no_packs);
	typed_switch(command, "no-cache", o->no_cache);
	typed_switch(command, "no-sandbox", o->no_sandbox);
}

static void begin_command(struct typed *c, const char *command, const struct options *o, const struct inputs *inputs)
{
	typed_add(c, command);
	next_step_lookup(c, o);
	if (inputs->program)
		typed_word(c, inputs->program);
}

/* Of a dump or snapshot the difference to an earlier one, of a snapshot alone where all memory is, of a dump alone the
 * difference to one that is still to be made. */
static const char *choose_step(const struct loaded *l, const struct options *o, const struct inputs *inputs,
                               struct typed *c)
{
	struct jprof_outside now;
	char earlier[PATH_MAX];
	jprof_profile_outside(l->profile, false, &now);
	find_earlier(inputs->dumps[0], earlier);
	begin_command(c, *earlier || !now.processes ? "jprof diff" : "jprof explain", o, inputs);
	if (*earlier)
		typed_word(c, earlier);
	typed_word(c, inputs->dumps[0]);
	if (*earlier)
		return "what grew since";
	if (now.processes)
		return "where all of its memory is";
	typed_add(c, " LATER");
	return "what grew, when there is a later dump";
}

int next_step_write(FILE *to, const struct loaded *l, const struct options *o, const struct inputs *inputs,
                    unsigned columns)
{
	enum { beside = 7, around_remark = 4 }; /* "Next:  ", "  ()" */
	struct typed c = { 0 };
	if (l->difference || is_special(o) || inputs->dump_count != 1 || !strcmp(inputs->dumps[0], "-"))
		return 0;
	const char *remark = choose_step(l, o, inputs, &c);
	size_t taken = beside + terminal_columns(c.text);
	if (c.failed)
		return 0;
	fprintf(to, "Next:  %s", c.text);
	if (taken + around_remark + strlen(remark) <= columns)
		fprintf(to, "  (%s)", remark);
	fputs("\n", to);
	return (int)((taken + columns - 1) / columns);
}
