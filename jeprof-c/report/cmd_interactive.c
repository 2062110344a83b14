/* jprof --interactive: reads commands, one a line, from a terminal or a script. */
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/words.h"
#include "commands.h"
#include "report/cmd_report.h"
#include "report/edit.h"
#include "report/load.h"

enum { default_rows = 10 };

struct session {
	struct options o;       /* as they are set now */
	struct options initial; /* as they were given */
	const struct inputs *inputs;
	struct loaded named;         /* all that was read, neither folded nor filtered */
	struct jprof_profile *shown; /* folded and filtered; NULL: to be made */
	char *focus, *ignore;        /* those of o that were typed */
	bool quit;
};

/* One command with its words. */
struct request {
	const char *name;
	const char *const *words; /* what follows the name */
	size_t count;
	size_t number; /* top20: 20; 0: none */
	const char *file;
};

typedef void run_fn(struct session *s, const struct request *r);

/* ---- settings --------------------------------------------------------------------------------------- */

#define AT(member) offsetof(struct options, member)

static const struct setting {
	const char *name;
	enum { SET_COUNTER, SET_GRANULARITY, SET_SWITCH } kind;
	int value; /* of the first two */
	size_t at; /* of a switch */
	const char *help;
} settings[] = {
	{ "inuse_space", SET_COUNTER, JPROF_INUSE_SPACE, 0, "bytes in use" },
	{ "inuse_objects", SET_COUNTER, JPROF_INUSE_OBJECTS, 0, "objects in use" },
	{ "alloc_space", SET_COUNTER, JPROF_ALLOC_SPACE, 0, "bytes ever allocated" },
	{ "alloc_objects", SET_COUNTER, JPROF_ALLOC_OBJECTS, 0, "objects ever allocated" },
	{ "functions", SET_GRANULARITY, JPROF_BY_FUNCTION, 0, "rows are functions" },
	{ "lines", SET_GRANULARITY, JPROF_BY_LINE, 0, "rows are source lines" },
	{ "files", SET_GRANULARITY, JPROF_BY_FILE, 0, "rows are source files" },
	{ "addresses", SET_GRANULARITY, JPROF_BY_ADDRESS, 0, "rows are addresses" },
	{ "libs", SET_GRANULARITY, JPROF_BY_LIBRARY, 0, "rows are libraries and gems" },
	{ "show_bytes", SET_SWITCH, 0, AT(show_bytes), "bytes instead of MB" },
	{ "errors", SET_SWITCH, 0, AT(errors), "how far each number may be off" },
	{ "full-names", SET_SWITCH, 0, AT(full_names), "names with their parameters" },
};

enum { setting_count = sizeof settings / sizeof *settings };

/* The setting of that name, or the only one that begins so. */
static const struct setting *find_setting(const char *name, size_t len)
{
	const struct setting *found = NULL;
	for (size_t i = 0; len && i < setting_count; i++) {
		if (!strcmp(settings[i].name, name))
			return &settings[i];
		if (strncmp(settings[i].name, name, len))
			continue;
		if (found)
			return NULL;
		found = &settings[i];
	}
	return found;
}

static void apply_setting(struct options *o, const struct setting *setting, bool on)
{
	if (setting->kind == SET_COUNTER)
		o->counter = (enum jprof_counter)setting->value;
	else if (setting->kind == SET_GRANULARITY)
		o->granularity = (enum jprof_granularity)setting->value;
	else
		*(bool *)((char *)o + setting->at) = on;
}

/* A switch changes sides, or is told where. */
static void change_setting(struct session *s, const struct setting *setting, const struct request *r)
{
	bool on = setting->kind != SET_SWITCH || !*(bool *)((char *)&s->o + setting->at);
	if (r->count && setting->kind == SET_SWITCH)
		on = strcmp(r->words[0], "off") && strcmp(r->words[0], "0") && strcmp(r->words[0], "false");
	apply_setting(&s->o, setting, on);
	if (setting->kind == SET_SWITCH)
		fprintf(stderr, "%s is %s\n", setting->name, on ? "on" : "off");
}

/* ---- what is shown ------------------------------------------------------------------------------------- */

static struct jprof_profile *copy_of(const struct jprof_profile *profile)
{
	struct jprof_error err;
	struct jprof_profile *copy;
	if (!jprof_profile_copy(profile, &copy, &err))
		return copy;
	say_error(&err);
	return NULL;
}

static bool make_shown(struct session *s)
{
	if (s->shown)
		return true;
	struct jprof_profile *profile = copy_of(s->named.profile);
	if (profile && !fold_and_filter(profile, &s->o)) {
		jprof_profile_free(profile);
		profile = NULL;
	}
	s->shown = profile;
	return profile;
}

static void forget_shown(struct session *s)
{
	jprof_profile_free(s->shown);
	s->shown = NULL;
}

/* The words of one report. */
struct terms {
	struct options o;
	const char *wanted[words_most], *unwanted[words_most]; /* RE and -RE */
	size_t wanted_count, unwanted_count;
};

/* --lines, -cum and the like are settings for this report; -RE is what to ignore. */
static bool take_word(struct terms *t, const char *word)
{
	bool two = !strncmp(word, "--", 2);
	const struct setting *setting = two ? find_setting(word + 2, strlen(word) - 2) : NULL;
	if (!strcmp(word, "--cum") || !strcmp(word, "-cum"))
		t->o.cum = true;
	else if (setting)
		apply_setting(&t->o, setting, true);
	else if (!strcmp(word, "-lines"))
		t->o.granularity = JPROF_BY_LINE;
	else if (two) {
		say("unknown or ambiguous option %s; try 'help'", word);
		return false;
	} else if (*word == '-' && word[1])
		t->unwanted[t->unwanted_count++] = word + 1;
	else
		t->wanted[t->wanted_count++] = word;
	return true;
}

static bool take_words(struct terms *t, const struct session *s, const struct request *r, const char *output)
{
	*t = (struct terms){ .o = s->o };
	t->o.output = output;
	t->o.file = r->file;
	t->o.top = r->number;
	t->o.total = true;
	for (size_t i = 0; i < r->count; i++)
		if (!take_word(t, r->words[i]))
			return false;
	return true;
}

/* With filters of this command's own the report is of a copy. */
static void show_filtered(struct session *s, struct terms *t, const char *focus, const char *ignore)
{
	struct loaded l = { .profile = s->shown, .base = s->named.base, .thread = s->named.thread, .warned = true };
	if (ignore)
		fprintf(stderr, "Ignoring samples in call stacks that match '%s'\n", ignore);
	if (focus || ignore) {
		t->o.focus = focus;
		t->o.ignore = ignore;
		t->o.retain = t->o.exclude = NULL;
		t->o.fold = JPROF_FOLD_NONE;
		struct jprof_filter_opts filter = { .size = sizeof filter, .focus = focus, .ignore = ignore };
		struct jprof_error err;
		l.profile = copy_of(s->shown);
		if (l.profile && jprof_profile_filter(l.profile, &filter, &err)) {
			say_error(&err);
			jprof_profile_free(l.profile);
			l.profile = NULL;
		}
	}
	if (l.profile)
		report_show(&l, &t->o, s->inputs);
	if (l.profile != s->shown)
		jprof_profile_free(l.profile);
}

/* Ends what a ^C stopped: the rest of it goes nowhere. */
static void end_report(void)
{
	bool failed = ferror(stdout) && errno == EPIPE;
	if (report_stop) {
		clearerr(stdout);
		fputs("\n", stderr);
		say("stopped");
	} else if (!failed) {
		fflush(stdout);
	}
}

static void show(struct session *s, struct terms *t, bool pattern)
{
	if (!make_shown(s))
		return;
	char *wanted = words_join(t->wanted, t->wanted_count), *ignore = words_join(t->unwanted, t->unwanted_count);
	if (pattern)
		t->o.pattern = wanted;
	show_filtered(s, t, pattern ? NULL : wanted, ignore);
	end_report();
	free(wanted);
	free(ignore);
}

/* ---- reports -------------------------------------------------------------------------------------------- */

static void run_top(struct session *s, const struct request *r)
{
	struct terms t;
	if (!take_words(&t, s, r, "text"))
		return;
	t.o.cum = t.o.cum || !strcmp(r->name, "cum");
	if (!t.o.top)
		t.o.top = default_rows;
	show(s, &t, false);
}

/* Reports of the table of options that go to a file or to standard output, and those that take a pattern. */
static void run_report(struct session *s, const struct request *r, const struct opt_row *row)
{
	struct terms t;
	bool pattern = row->argument,
	     focused = !strcmp(row->name, "tree") || !strcmp(row->name, "traces") || !strcmp(row->name, "web");
	if (!take_words(&t, s, r, row->name))
		return;
	if (pattern && !t.wanted_count) {
		say("%s needs a pattern: %s RE", row->name, row->name);
		return;
	}
	if (!pattern && !focused && t.wanted_count && !t.o.file) {
		t.o.file = t.wanted[0];
		t.wanted_count = 0;
	}
	show(s, &t, pattern);
}

/* ---- other commands -------------------------------------------------------------------------------------- */

static void set_text(struct session *s, const struct request *r, const char **member, char **own)
{
	char *text = words_join(r->words, r->count);
	const char *before = *member;
	*member = text;
	forget_shown(s);
	if (make_shown(s)) {
		free(*own);
		*own = text;
	} else {
		*member = before;
		free(text);
	}
}

static void run_focus(struct session *s, const struct request *r)
{
	set_text(s, r, &s->o.focus, &s->focus);
}

static void run_ignore(struct session *s, const struct request *r)
{
	set_text(s, r, &s->o.ignore, &s->ignore);
}

static void run_reset(struct session *s, const struct request *r)
{
	(void)r;
	s->o = s->initial;
	forget_shown(s);
}

static void run_fold(struct session *s, const struct request *r)
{
	static const char *const levels[] = { "none", "alloc", "vm" };
	for (size_t i = 0; r->count && i < sizeof levels / sizeof *levels; i++)
		if (!strcmp(r->words[0], levels[i])) {
			s->o.fold = (enum jprof_fold)i;
			forget_shown(s);
			return;
		}
	say("fold: give one of none, alloc, vm");
}

static void run_sort(struct session *s, const struct request *r)
{
	if (r->count && (!strcmp(r->words[0], "cum") || !strcmp(r->words[0], "flat")))
		s->o.cum = !strcmp(r->words[0], "cum");
	else
		say("sort: give one of flat, cum");
}

static const char *setting_now(const struct options *o, int kind, int value)
{
	for (size_t i = 0; i < setting_count; i++)
		if ((int)settings[i].kind == kind && settings[i].value == value)
			return settings[i].name;
	(void)o;
	return "";
}

static void run_options(struct session *s, const struct request *r)
{
	static const char *const levels[] = { "none", "alloc", "vm" };
	const struct options *o = &s->o;
	(void)r;
	fprintf(stderr,
	        "counter     %s\nrows        %s\nsort        %s\nfold        %s\nfocus       %s\nignore      %s\n",
	        setting_now(o, SET_COUNTER, (int)o->counter), setting_now(o, SET_GRANULARITY, (int)o->granularity),
	        o->cum ? "cum" : "flat", levels[o->fold], o->focus ? o->focus : "", o->ignore ? o->ignore : "");
	for (size_t i = 0; i < setting_count; i++)
		if (settings[i].kind == SET_SWITCH)
			fprintf(stderr, "%-11s %s\n", settings[i].name,
			        *(const bool *)((const char *)o + settings[i].at) ? "on" : "off");
}

static void run_quit(struct session *s, const struct request *r)
{
	(void)r;
	s->quit = true;
}

static run_fn run_help;

static const struct command {
	const char *name;
	run_fn *run;
	const char *arguments, *help;
} commands[] = {
	{ "top", run_top, "[N] [RE] [-RE]", "the N (10) biggest rows, of stacks with RE and without -RE" },
	{ "text", run_top, "[N] [RE] [-RE]", "the same" },
	{ "cum", run_top, "[N] [RE] [-RE]", "the same, ordered by cumulative value" },
	{ "focus", run_focus, "[RE]", "from now on only stacks with RE; without it, all" },
	{ "ignore", run_ignore, "[RE]", "from now on only stacks without RE" },
	{ "fold", run_fold, "none|alloc|vm", "frames that say how memory was got" },
	{ "sort", run_sort, "flat|cum", "order of rows" },
	{ "reset", run_reset, "", "all settings as in the beginning" },
	{ "options", run_options, "", "shows the settings" },
	{ "help", run_help, "", "this text" },
	{ "quit", run_quit, "", "ends, as ^D and exit do" },
	{ "exit", run_quit, NULL, NULL },
};

enum { command_count = sizeof commands / sizeof *commands };

/* Reports that make no sense here. */
static bool is_offered(const struct opt_row *row)
{
	return row->help && strcmp(row->name, "text") && strcmp(row->name, "interactive") &&
	       strcmp(row->name, "symbols");
}

static void put_help(const char *name, const char *arguments, const char *help)
{
	char left[64];
	snprintf(left, sizeof left, "%s %s", name, arguments);
	fprintf(stderr, "  %-26s ", left);
	for (const char *p = help; *p; p++)
		fprintf(stderr, *p == '\n' ? "%c  %-26s " : "%c", *p, "");
	fputs("\n", stderr);
}

static void run_help(struct session *s, const struct request *r)
{
	const struct opt_row *row;
	(void)s;
	(void)r;
	fputs("Commands; the first letters are enough if they are clear:\n", stderr);
	for (size_t i = 0; i < command_count; i++)
		if (commands[i].help)
			put_help(commands[i].name, commands[i].arguments, commands[i].help);
	fputs("Reports, to standard output or to a file:\n", stderr);
	for (size_t i = 0; (row = options_output(i)); i++)
		if (is_offered(row))
			put_help(row->name, row->argument ? "RE [-RE]" : "[FILE]", row->help);
	fputs("Settings, from now on; with -- before them, of one report:\n", stderr);
	for (size_t i = 0; i < setting_count; i++)
		put_help(settings[i].name, settings[i].kind == SET_SWITCH ? "[on|off]" : "", settings[i].help);
	fputs("After any report: > FILE\n", stderr);
}

/* ---- one line --------------------------------------------------------------------------------------------- */

/* What a word may mean: a command, a report, a setting. */
struct meaning {
	const char *name;
	const struct command *command;
	const struct opt_row *report;
	const struct setting *setting;
	size_t hits;
	bool exact;
};

static void consider(struct meaning *m, const char *word, size_t len, const struct meaning *other)
{
	bool exact = strlen(other->name) == len;
	if (strncmp(other->name, word, len) || m->exact)
		return;
	size_t hits = exact ? 1 : m->hits + 1;
	*m = *other;
	m->hits = hits;
	m->exact = exact;
}

static struct meaning meaning_of(const char *word, size_t len)
{
	struct meaning m = { 0 };
	const struct opt_row *row;
	for (size_t i = 0; i < command_count; i++)
		consider(&m, word, len, &(struct meaning){ .name = commands[i].name, .command = &commands[i] });
	for (size_t i = 0; (row = options_output(i)); i++)
		if (is_offered(row))
			consider(&m, word, len, &(struct meaning){ .name = row->name, .report = row });
	for (size_t i = 0; i < setting_count; i++)
		consider(&m, word, len, &(struct meaning){ .name = settings[i].name, .setting = &settings[i] });
	return m;
}

static void run_meaning(struct session *s, const struct meaning *m, const struct request *r)
{
	if (m->command)
		m->command->run(s, r);
	else if (m->report)
		run_report(s, r, m->report);
	else
		change_setting(s, m->setting, r);
}

/* jeprof's top20 and its "top 20". */
static void take_number(struct request *r, const char *digits)
{
	const char *first = r->count ? r->words[0] : "";
	if (*digits) {
		r->number = strtoul(digits, NULL, 10);
	} else if (*first && strspn(first, "0123456789") == strlen(first)) {
		r->number = strtoul(first, NULL, 10);
		r->words++;
		r->count--;
	}
}

static void run_words(struct session *s, const struct words *words)
{
	const char *word = words->list[0];
	size_t len = strcspn(word, "0123456789=");
	bool number = word[len] && word[len] != '=' && word[len + strspn(word + len, "0123456789")] == '\0';
	struct meaning m = meaning_of(word, number ? len : strlen(word));
	struct request r = { .name = m.name, .words = words->list + 1, .count = words->count - 1, .file = words->file };
	if (!m.hits || !len) {
		if (!strncmp(word, "weblist", strlen(word)) && len > 3)
			say("weblist is not in this version: list RE, or list RE > FILE");
		else
			fputs("Unknown command: try 'help'.\n", stderr);
	} else if (m.hits > 1) {
		say("%.*s may mean several commands: try 'help'", (int)len, word);
	} else {
		if (m.command && m.command->run == run_top)
			take_number(&r, number ? word + len : "");
		else if (number)
			take_number(&r, word + len);
		run_meaning(s, &m, &r);
	}
}

static void run_line(struct session *s, const char *line)
{
	struct words words;
	report_stop = 0;
	if (words_parse(&words, line) && words.count)
		run_words(s, &words);
	words_release(&words);
}

/* ---- completion --------------------------------------------------------------------------------------------- */

/* A function's name as a pattern that finds it. */
static bool offer_name(const char *name, edit_offer_fn *offer, void *list)
{
	static const char inlined[] = " (inline)", special[] = "\\^$|?*+()[]{}";
	char text[512], *end = text;
	size_t len = strlen(name), mark = sizeof inlined - 1;
	if (len > mark && !strcmp(name + len - mark, inlined))
		len -= mark;
	for (size_t i = 0; i < len && end < text + sizeof text - 3; i++) {
		if (strchr(special, name[i]))
			*end++ = '\\';
		*end++ = isspace((unsigned char)name[i]) || name[i] == '\'' || name[i] == '"' ? '.' : name[i];
	}
	*end = '\0';
	return offer(list, text);
}

static void offer_functions(struct session *s, edit_offer_fn *offer, void *list)
{
	struct jprof_table *table;
	struct jprof_view_opts view = { .size = sizeof view, .counter = s->o.counter, .cum = true };
	if (!make_shown(s) || jprof_table_new(s->shown, &view, &table, NULL))
		return;
	bool more = true;
	for (size_t i = 0; more && i < jprof_table_count(table); i++)
		more = offer_name(jprof_table_at(table, i)->name, offer, list);
	jprof_table_free(table);
}

static void offer_commands(edit_offer_fn *offer, void *list)
{
	const struct opt_row *row;
	for (size_t i = 0; i < command_count; i++)
		offer(list, commands[i].name);
	for (size_t i = 0; (row = options_output(i)); i++)
		if (is_offered(row))
			offer(list, row->name);
	for (size_t i = 0; i < setting_count; i++)
		offer(list, settings[i].name);
}

static void offer_options(edit_offer_fn *offer, void *list)
{
	char text[64];
	for (size_t i = 0; i < setting_count; i++) {
		snprintf(text, sizeof text, "--%s", settings[i].name);
		offer(list, text);
	}
	offer(list, "--cum");
}

static void offer_words(edit_offer_fn *offer, void *list, const char *const *words)
{
	for (; *words; words++)
		offer(list, *words);
}

static void complete(void *context, const char *line, size_t at, edit_offer_fn *offer, void *list)
{
	struct session *s = context;
	size_t start = strspn(line, " \t"), len = strcspn(line + start, " \t");
	struct meaning m = meaning_of(line + start, len);
	if (at <= start)
		offer_commands(offer, list);
	else if (line[at] == '-' && line[at + 1] == '-')
		offer_options(offer, list);
	else if (m.command && m.command->run == run_fold)
		offer_words(offer, list, (const char *const[]){ "none", "alloc", "vm", NULL });
	else if (m.command && m.command->run == run_sort)
		offer_words(offer, list, (const char *const[]){ "flat", "cum", NULL });
	else if (m.setting && m.setting->kind == SET_SWITCH)
		offer_words(offer, list, (const char *const[]){ "on", "off", NULL });
	else if (!m.setting)
		offer_functions(s, offer, list);
}

/* ---- the session ------------------------------------------------------------------------------------------------ */

static void on_interrupt(int signal)
{
	(void)signal;
	report_stop = 1;
}

/* Without SA_RESTART: what waits is to return. */
static void catch_interrupts(void)
{
	struct sigaction action = { .sa_handler = on_interrupt };
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
}

static void converse(struct session *s)
{
	const char *line, *name = s->o.as_jeprof ? "jeprof" : "jprof";
	char prompt[32];
	snprintf(prompt, sizeof prompt, "(%s) ", name);
	struct edit *edit = edit_open(prompt, complete, s);
	if (!edit) {
		say("memory is short");
		return;
	}
	fprintf(stderr, "Welcome to %s!  For help, type 'help'.\n", name);
	while (!s->quit && (line = edit_line(edit)))
		run_line(s, line);
	edit_close(edit);
}

int cmd_interactive(const struct options *o)
{
	struct inputs inputs;
	struct session s = { .o = *o, .initial = *o, .inputs = &inputs };
	int status = 1;
	s.o.quiet = s.initial.quiet = true;
	if (inputs_find(&inputs, o) && load_named(&s.named, &inputs, o)) {
		catch_interrupts();
		converse(&s);
		forget_shown(&s);
		loaded_free(&s.named);
		free(s.focus);
		free(s.ignore);
		status = 0;
	}
	free(inputs.program);
	return status;
}
