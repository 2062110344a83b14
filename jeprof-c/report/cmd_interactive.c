/* jprof --interactive: reads commands, one a line, from a terminal or a script. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/words.h"
#include "commands.h"
#include "report/cmd_report.h"
#include "report/edit.h"
#include "report/load.h"
#include "report/session.h"

enum { default_rows = 10 };
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

bool session_show(struct session *s)
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
	if (!session_show(s))
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

/* Reports whose words are patterns, not a file. */
static bool takes_words(const char *report)
{
	return !strcmp(report, "tree") || !strcmp(report, "traces") || !strcmp(report, "web");
}

/* Hundreds of lines for a program are no answer on a terminal. */
static bool has_place(const struct terms *t, const struct opt_row *row)
{
	if (row->argument || takes_words(row->name) || t->o.file || !isatty(STDOUT_FILENO))
		return true;
	say("%s is for another program: give a file, %s FILE", row->name, row->name);
	return false;
}

/* Reports of the table of options that go to a file or to standard output, and those that take a pattern. */
static void run_report(struct session *s, const struct request *r, const struct opt_row *row)
{
	struct terms t;
	bool pattern = row->argument, focused = takes_words(row->name);
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
	if (has_place(&t, row))
		show(s, &t, pattern);
}

/* ---- other commands -------------------------------------------------------------------------------------- */

static void set_text(struct session *s, const struct request *r, const char **member, char **own)
{
	char *text = words_join(r->words, r->count);
	const char *before = *member;
	*member = text;
	forget_shown(s);
	if (session_show(s)) {
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

static void run_quit(struct session *s, const struct request *r)
{
	(void)r;
	s->quit = true;
}

static session_run_fn run_help;

static const struct session_command commands[] = {
	{ "top", run_top, NEXT_FUNCTION, "[N] [RE] [-RE]",
	  "the N (10) biggest rows, of stacks with RE and without -RE" },
	{ "text", run_top, NEXT_FUNCTION, "[N] [RE] [-RE]", "the same" },
	{ "cum", run_top, NEXT_FUNCTION, "[N] [RE] [-RE]", "the same, ordered by cumulative value" },
	{ "focus", run_focus, NEXT_FUNCTION, "[RE]", "from now on only stacks with RE; without it, all" },
	{ "ignore", run_ignore, NEXT_FUNCTION, "[RE]", "from now on only stacks without RE" },
	{ "fold", run_fold, NEXT_FOLD, "none|alloc|vm", "frames that say how memory was got" },
	{ "sort", run_sort, NEXT_SORT, "flat|cum", "order of rows" },
	{ "reset", run_reset, NEXT_NOTHING, "", "all settings as in the beginning" },
	{ "options", session_options, NEXT_NOTHING, "", "shows the settings" },
	{ "help", run_help, NEXT_NOTHING, "", "this text" },
	{ "quit", run_quit, NEXT_NOTHING, "", "ends, as ^D and exit do" },
	{ "exit", run_quit, NEXT_NOTHING, NULL, NULL },
};

const struct session_command *session_command(size_t i)
{
	return i < sizeof commands / sizeof *commands ? &commands[i] : NULL;
}

/* Reports that make no sense here. */
static bool is_offered(const struct opt_row *row)
{
	return row->help && strcmp(row->name, "text") && strcmp(row->name, "interactive") &&
	       strcmp(row->name, "symbols");
}

const struct opt_row *session_report(size_t i)
{
	const struct opt_row *row;
	for (size_t at = 0; (row = options_output(at)); at++)
		if (is_offered(row) && !i--)
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
	const struct opt_row *row;
	(void)s;
	(void)r;
	fputs("Commands; the first letters are enough if they are clear:\n", stderr);
	for (size_t i = 0; session_command(i); i++)
		if (commands[i].help)
			put_help(commands[i].name, commands[i].arguments, commands[i].help);
	fputs("Reports, to standard output or to a file:\n", stderr);
	for (size_t i = 0; (row = session_report(i)); i++)
		put_help(row->name,
		         row->argument            ? "RE [-RE]"
		         : takes_words(row->name) ? "[RE] [-RE]"
		                                  : "[FILE]",
		         row->help);
	fputs("Settings, from now on; with -- before them, of one report:\n", stderr);
	for (size_t i = 0; (setting = session_setting(i)); i++)
		put_help(setting->name, setting->kind == SET_SWITCH ? "[on|off]" : "", setting->help);
	fputs("After any report: > FILE\n", stderr);
}

/* ---- one line --------------------------------------------------------------------------------------------- */

static void consider(struct session_meaning *m, const char *word, size_t len, const struct session_meaning *other)
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
	const struct opt_row *row;
	for (size_t i = 0; (command = session_command(i)); i++)
		consider(&m, word, len, &(struct session_meaning){ .name = command->name, .command = command });
	for (size_t i = 0; (row = session_report(i)); i++)
		consider(&m, word, len, &(struct session_meaning){ .name = row->name, .report = row });
	for (size_t i = 0; (setting = session_setting(i)); i++)
		consider(&m, word, len, &(struct session_meaning){ .name = setting->name, .setting = setting });
	return m;
}

static void run_meaning(struct session *s, const struct session_meaning *m, const struct request *r)
{
	if (m->command)
		m->command->run(s, r);
	else if (m->report)
		run_report(s, r, m->report);
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

static void run_words(struct session *s, const struct words *words)
{
	const char *word = words->list[0];
	size_t len = strcspn(word, "0123456789=");
	bool number = word[len] && word[len] != '=' && word[len + strspn(word + len, "0123456789")] == '\0';
	struct session_meaning m = session_meaning(word, number ? len : strlen(word));
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
	struct edit *edit = edit_open(prompt, session_complete, s);
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
