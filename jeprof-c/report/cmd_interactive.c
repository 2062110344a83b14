/* jprof --interactive: reads commands, one a line, from a terminal or a script. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/words.h"
#include "commands.h"
#include "report/allformats.h"
#include "report/cmd_report.h"
#include "report/edit.h"
#include "report/load.h"
#include "report/missing.h"
#include "report/order.h"
#include "report/session.h"

enum { default_rows = 10 };

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
	const struct session_setting *setting = two ? session_setting_find(word + 2) : NULL;
	if (!strcmp(word, "--cum") || !strcmp(word, "-cum"))
		t->o.cum = true;
	else if (setting)
		session_setting_apply(&t->o, setting, true);
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

static void show_terms(struct session *s, struct terms *t, bool pattern)
{
	char *wanted = words_join(t->wanted, t->wanted_count), *ignore = words_join(t->unwanted, t->unwanted_count);
	if (pattern)
		t->o.pattern = wanted;
	else
		t->o.also_focus = wanted;
	t->o.also_ignore = ignore;
	if (ignore)
		fprintf(stderr, "Ignoring samples in call stacks that match '%s'\n", ignore);
	if ((wanted || !t->wanted_count) && (ignore || !t->unwanted_count))
		report_show(&s->loaded, &t->o, s->inputs);
	else
		shortage_say();
	/* Ends what a ^C stopped: the rest of it goes nowhere. */
	bool failed = ferror(stdout) && errno == EPIPE;
	if (report_stop) {
		clearerr(stdout);
		fputs("\n", stderr);
		say("stopped");
	} else if (!failed) {
		fflush(stdout);
	}
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
	show_terms(s, &t, false);
}

/* Reports whose words are patterns of stacks, not a file or a pattern of functions. */
static bool takes_words(const struct jprof_format *format)
{
	return format->for_people && !format->argument;
}

/* Hundreds of lines for a program are no answer on a terminal. */
static bool has_destination(const struct terms *t, const struct jprof_format *row)
{
	if (row->for_people || t->o.file || !isatty(STDOUT_FILENO))
		return true;
	say("%s is for another program: give a file, %s FILE", row->name, row->name);
	return false;
}

/* Reports of the table of options that go to a file or to standard output, and those that take a pattern. */
static void run_session_report(struct session *s, const struct request *r, const struct jprof_format *row)
{
	struct terms t;
	bool pattern = row->argument, focused = takes_words(row);
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
	if (has_destination(&t, row))
		show_terms(s, &t, pattern);
}

/* ---- other commands -------------------------------------------------------------------------------------- */

static void set_session_pattern(struct session *s, const struct request *r, const char **member, char **own)
{
	char *text = words_join(r->words, r->count);
	const char *before = *member;
	*member = text;
	struct jprof_view *view = load_view(&s->loaded, &s->o); /* says it if the pattern is faulty */
	if (view) {
		free(*own);
		*own = text;
	} else {
		*member = before;
		free(text);
	}
	jprof_view_free(view);
}

static void run_focus(struct session *s, const struct request *r)
{
	set_session_pattern(s, r, &s->o.focus, &s->focus);
}

static void run_ignore(struct session *s, const struct request *r)
{
	set_session_pattern(s, r, &s->o.ignore, &s->ignore);
}

static void run_reset(struct session *s, const struct request *r)
{
	(void)r;
	s->o = s->initial;
}

static void run_fold(struct session *s, const struct request *r)
{
	int place = r->count ? opt_word("none|alloc|std|vm", r->words[0]) : -1;
	if (place < 0)
		say("fold: give one of none, alloc, std, vm");
	else
		s->o.fold = (unsigned)place;
}

static void run_ruby(struct session *s, const struct request *r)
{
	int place = r->count ? opt_word("merged|only|off", r->words[0]) : -1;
	if (place < 0)
		say("ruby: give one of merged, only, off");
	else
		s->o.ruby = (enum jprof_ruby)place;
}

static void run_sort(struct session *s, const struct request *r)
{
	if (r->count && (!strcmp(r->words[0], "cum") || !strcmp(r->words[0], "flat")))
		s->o.cum = !strcmp(r->words[0], "cum");
	else
		say("sort: give one of flat, cum");
}

static void run_quit(struct session *s, const struct request *r)
{
	(void)r;
	s->quit = true;
}

static session_run_fn run_help;

static const struct session_command session_commands[] = {
	{ "top", run_top, NEXT_FUNCTION, "[N] [RE] [-RE]",
	  "the N (10) biggest rows, of stacks with RE and without -RE" },
	{ "text", run_top, NEXT_FUNCTION, "[N] [RE] [-RE]", "the same" },
	{ "cum", run_top, NEXT_FUNCTION, "[N] [RE] [-RE]", "the same, ordered by cumulative value" },
	{ "focus", run_focus, NEXT_FUNCTION, "[RE]", "from now on only stacks with RE; without it, all" },
	{ "ignore", run_ignore, NEXT_FUNCTION, "[RE]", "from now on only stacks without RE" },
	{ "fold", run_fold, NEXT_FOLD, "none|alloc|std|vm", "frames that say how memory was got" },
	{ "ruby", run_ruby, NEXT_RUBY, "merged|only|off", "frames of Ruby outside of the native ones, alone, or not" },
	{ "sort", run_sort, NEXT_SORT, "flat|cum", "order of rows" },
	{ "reset", run_reset, NEXT_NOTHING, "", "all settings as in the beginning" },
	{ "options", session_options, NEXT_NOTHING, "", "shows the settings" },
	{ "help", run_help, NEXT_NOTHING, "", "this text" },
	{ "quit", run_quit, NEXT_NOTHING, "", "ends, as ^D and exit do" },
	{ "exit", run_quit, NEXT_NOTHING, NULL, NULL },
};

const struct session_command *session_command(size_t i)
{
	return i < sizeof session_commands / sizeof *session_commands ? &session_commands[i] : NULL;
}

/* Whether a command of that name does better. */
static bool is_command(const struct jprof_format *format)
{
	for (size_t i = 0; session_command(i); i++)
		if (!strcmp(session_commands[i].name, format->name))
			return true;
	return false;
}

const struct jprof_format *session_report(size_t i)
{
	const struct jprof_format *row;
	for (size_t at = 0; (row = format_at(at)); at++)
		if (!is_command(row) && !i--)
			return row;
	return NULL;
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
	const struct session_setting *setting;
	const struct jprof_format *row;
	(void)s;
	(void)r;
	fputs("Commands; the first letters are enough if they are clear:\n", stderr);
	for (size_t i = 0; session_command(i); i++)
		if (session_commands[i].help)
			put_help(session_commands[i].name, session_commands[i].arguments, session_commands[i].help);
	fputs("Reports, to standard output or to a file:\n", stderr);
	for (size_t i = 0; (row = session_report(i)); i++)
		put_help(row->name, row->argument ? "RE [-RE]" : takes_words(row) ? "[RE] [-RE]" : "[FILE]", row->help);
	fputs("Settings, from now on; with -- before them, of one report:\n", stderr);
	for (size_t i = 0; (setting = session_setting(i)); i++)
		put_help(setting->name, setting->kind == SET_SWITCH ? "[on|off]" : "", setting->help);
	fputs("After any report: > FILE\n", stderr);
}

/* ---- one line --------------------------------------------------------------------------------------------- */

static void consider_meaning(struct session_meaning *m, const char *word, size_t len,
                             const struct session_meaning *other)
{
	bool exact = strlen(other->name) == len;
	if (strncmp(other->name, word, len) || m->exact)
		return;
	size_t hits = exact ? 1 : m->hits + 1;
	*m = *other;
	m->hits = hits;
	m->exact = exact;
}

struct session_meaning session_meaning(const char *word, size_t len)
{
	struct session_meaning m = { 0 };
	const struct session_command *command;
	const struct session_setting *setting;
	const struct jprof_format *row;
	for (size_t i = 0; (command = session_command(i)); i++)
		consider_meaning(&m, word, len, &(struct session_meaning){ .name = command->name, .command = command });
	for (size_t i = 0; (row = session_report(i)); i++)
		consider_meaning(&m, word, len, &(struct session_meaning){ .name = row->name, .report = row });
	for (size_t i = 0; (setting = session_setting(i)); i++)
		consider_meaning(&m, word, len, &(struct session_meaning){ .name = setting->name, .setting = setting });
	return m;
}

static void run_meaning(struct session *s, const struct session_meaning *m, const struct request *r)
{
	if (m->command)
		m->command->run(s, r);
	else if (m->report)
		run_session_report(s, r, m->report);
	else
		session_setting_change(s, m->setting, r);
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

/* Commands of the program that are meant by their names, though a name in the session begins so. */
static bool is_command_of_shell(const char *word)
{
	static const char *const commands[] = { "check", "diff", "doctor", "explain", "keepers", "snap", "watch" };
	size_t i = 0;
	while (i < sizeof commands / sizeof *commands && strcmp(word, commands[i]) != 0)
		i++;
	return i < sizeof commands / sizeof *commands;
}

/* pprof's "focus=RE" is "focus RE", and its "focus=" is "focus". */
static void part_value(struct words *words)
{
	size_t name = strcspn(words->list[0], "=");
	char *equals = words->text + (words->list[0] - words->text) + name;
	if (!name || !*equals || words->count == words_most)
		return;
	*equals = '\0';
	if (!equals[1])
		return;
	memmove(words->list + 2, words->list + 1, (words->count - 1) * sizeof *words->list);
	words->list[1] = equals + 1;
	words->count++;
}

static void run_words(struct session *s, struct words *words)
{
	part_value(words);
	const char *word = words->list[0];
	size_t len = strcspn(word, "0123456789");
	bool number = word[len] && word[len + strspn(word + len, "0123456789")] == '\0';
	struct session_meaning m = session_meaning(word, number ? len : strlen(word));
	struct request r = { .name = m.name, .words = words->list + 1, .count = words->count - 1, .file = words->file };
	if (is_command_of_shell(word)) {
		say("%s is no command of a session: quit, and type jprof %s", word, word);
	} else if (!m.hits || !len) {
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

/* ---- the session ------------------------------------------------------------------------------------------------ */

static void on_interrupt(int signal)
{
	(void)signal;
	report_stop = 1;
}

static void converse(struct session *s)
{
	const char *line, *name = s->o.as_jeprof ? "jeprof" : "jprof";
	char prompt[32];
	snprintf(prompt, sizeof prompt, "(%s) ", name);
	struct edit *edit = edit_open(prompt, session_complete, s);
	if (!edit) {
		say("memory is short");
		return;
	}
	fprintf(stderr, "Welcome to %s!  For help, type 'help'.\n", name);
	while (!s->quit && (line = edit_line(edit))) {
		struct words words;
		report_stop = 0;
		if (words_parse(&words, line) && words.count)
			run_words(s, &words);
		words_release(&words);
		shortage_say_late();
		shortage_begin();
	}
	edit_close(edit);
}

/* Once, for all reports of the session. */
static void say_nameless(const struct session *s)
{
	char text[missing_most];
	struct jprof_view *view = s->o.as_jeprof ? NULL : load_view(&s->loaded, &s->o);
	if (view && missing_names(view, &s->o, s->inputs, options_report(&s->o).top, text))
		say("%s", text);
	jprof_view_free(view);
}

int cmd_interactive(const struct options *given)
{
	struct inputs inputs;
	struct options o = *given;
	struct session s = { .inputs = &inputs };
	int status = 1;
	if (inputs_find(&inputs, &o) && order_base(inputs.dumps, inputs.dump_count, &o) &&
	    load_profile(&s.loaded, &inputs, &o)) {
		s.o = s.initial = o;
		s.o.quiet = s.initial.quiet = true;
		s.loaded.warned = true; /* what there was to say has been said */
		/* Without SA_RESTART: what waits is to return. */
		struct sigaction action = { .sa_handler = on_interrupt };
		sigemptyset(&action.sa_mask);
		sigaction(SIGINT, &action, NULL);
		say_nameless(&s);
		converse(&s);
		loaded_free(&s.loaded);
		free(s.focus);
		free(s.ignore);
		status = 0;
	}
	free(inputs.program);
	return status;
}
