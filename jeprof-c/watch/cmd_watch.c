/* jprof watch PID | --puma[=PID]: snap and diff in a loop, on a terminal or line by line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers/diff_text.h"
#include "base/clock.h"
#include "cli/budget.h"
#include "cli/duration.h"
#include "cli/newfile.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "commands.h"
#include "snap/interrupt.h"
#include "watch/watched.h"
#include "watch/watchscreen.h"

/* ---- options ------------------------------------------------------------------------------------------------ */

struct watch_options {
	bool help, gc;
	const char *puma, *every;
	uint64_t every_ms;
	size_t count;            /* snapshots; 0: until it is ended */
	struct diff_options how; /* by, colour, where names are looked for */
};

#define WATCH_AT(member) offsetof(struct watch_options, member)
#define WATCH_NAMES_AT(member) offsetof(struct watch_options, how.common.member)

/* clang-format off */
static const struct opt_row watch_rows[] = {
	{ "puma", OPT_MAYBE, WATCH_AT(puma), 0, NULL, "PID",
	  "takes the Puma that runs here, master and workers; of several the one of PID (a master or a worker)" },
	{ "every", OPT_TEXT, WATCH_AT(every), 0, NULL, "1m", "the time from one snapshot to the next (s, m, h)" },
	{ "count", OPT_NUMBER, WATCH_AT(count), 0, NULL, "N", "ends after N snapshots" },
	{ "gc", OPT_SWITCH, WATCH_AT(gc), 0, NULL, NULL, "lets a Ruby collect its garbage before each snapshot" },
	{ "by", OPT_WORD, WATCH_AT(how.by), 0, NULL, "function|line|file|lib|group|stack",
	  "one row for each of these (by default a line of Ruby, or a function)" },
	{ "color", OPT_WORD, WATCH_AT(how.common.colour), 0, NULL, "auto|always|never",
	  "colours, which repeat what the words say (auto: on a terminal, unless NO_COLOR is set)" },
	OPTIONS_LOOKUP(WATCH_NAMES_AT),
	{ "help", OPT_SWITCH, WATCH_AT(help), 0, NULL, NULL, "this text" },
};
/* clang-format on */

static const struct opt_table watch_table = { .rows = watch_rows,
	                                      .count = sizeof watch_rows / sizeof *watch_rows,
	                                      .help = "jprof watch --help" };

static void watch_help(void)
{
	printf("usage: jprof watch [OPTIONS] PID\n"
	       "       jprof watch [OPTIONS] --puma[=PID]\n"
	       "\n"
	       "Takes a snapshot of a live process again and again, as jprof snap does, and\n"
	       "shows what has grown since the first one, as jprof diff does. It leaves no file.\n"
	       "On a terminal q ends it; on a pipe it prints each answer below the one before.\n"
	       "\n");
	opt_help(&watch_table, 0);
	printf("\n"
	       "Examples\n"
	       "  jprof watch --puma --gc --every=5m\n"
	       "  jprof watch --count=10 4711 >growth.txt\n");
}

/* Which processes, in the words of snap. */
static bool choose_watched(struct snap_options *which, const struct watch_options *o, char **operands, int count)
{
	char puma[64], snap[] = "snap", gc[] = "--gc";
	char *argv[] = { snap, puma, o->gc ? gc : NULL, NULL };
	snprintf(puma, sizeof puma, o->puma && *o->puma ? "--puma=%s" : "--puma", o->puma);
	if (count + (o->puma != NULL) != 1) {
		say("watch takes one process: give its PID, or --puma; jprof snap alone lists those that are there");
		return false;
	}
	if (!o->puma)
		argv[1] = operands[0];
	bool good = snap_options_parse(which, o->gc ? 3 : 2, argv);
	which->command = "watch";
	which->heaps = true;
	return good;
}

static bool parse_watch(struct watch_options *o, struct snap_options *which, int argc, char **argv)
{
	char diff[] = "diff", *none[] = { diff, NULL };
	int count;
	*o = (struct watch_options){ 0 };
	if (!diff_options_parse(&o->how, false, 1, none) || !opt_parse(&watch_table, o, argc, argv, &count))
		return false;
	o->how.common.operand_count = 0;
	if (o->help)
		return true;
	return duration_parse("every", o->every ? o->every : "1m", &o->every_ms) &&
	       choose_watched(which, o, argv + 1, count);
}

/* ---- what is shown ------------------------------------------------------------------------------------------ */

struct watch {
	const struct watch_options *o;
	struct watched watched;
	struct loaded_series series; /* of all snapshots, from the second on */
	bool compared, terminal;
	size_t taken;
	int64_t next;    /* when the next snapshot is due */
	int write_error; /* errno; 0: all could be shown */
};

/* "process 4711, every 60 seconds: 3 snapshots since 12:05:30; q quits" */
static void put_status(FILE *out, const struct watch *w, unsigned columns)
{
	char text[256], every[duration_size];
	snprintf(text, sizeof text, "process %d, every %s: %zu snapshot%s since %s%s", w->watched.pid,
	         duration_words(w->o->every_ms, every), w->taken, w->taken == 1 ? "" : "s", w->watched.names[0],
	         w->terminal ? "; q quits" : "");
	terminal_put_cut(out, text, columns);
	fputc('\n', out);
}

static void put_watched_growth(FILE *out, const struct watch *w, struct terminal_size size)
{
	struct diff_report report = { .loaded = &w->series,
		                      .options = &w->o->how,
		                      .columns = size.columns,
		                      .lines = w->terminal ? (size.lines ? size.lines : 24) - 2 : 0,
		                      .measure = diff_measure(w->series.series),
		                      .live = true };
	report.colour = options_report(&w->o->how.common).colour;
	diff_put_text(out, &report);
}

/* False: it cannot be written. */
static bool show_watch(struct watch *w)
{
	struct terminal_size size = w->terminal ? terminal_size() : (struct terminal_size){ .columns = 80 };
	char *text = NULL;
	size_t len;
	FILE *out = textstream_open(&text, &len);
	if (!out)
		return true;
	put_status(out, w, size.columns);
	if (w->compared)
		put_watched_growth(out, w, size);
	else
		fputs("\nWhat has grown is shown after the second snapshot.\n", out);
	if (!w->terminal)
		fputc('\n', out);
	if (textstream_closed(out, &text) && !watch_screen_show(text, len))
		w->write_error = errno;
	free(text);
	return !w->write_error;
}

/* ---- the loop ----------------------------------------------------------------------------------------------- */

/* What is wrong is said, and then nothing is compared until the next snapshot. */
static void compare_watched(struct watch *w)
{
	struct inputs inputs = watched_inputs(&w->watched);
	series_release(&w->series);
	w->series = (struct loaded_series){ 0 };
	w->compared = w->watched.count > 1 && series_load(&w->series, &inputs, &w->o->how);
}

/* A dump, or what was read from outside. */
static bool has_first(const struct watch *w)
{
	const struct memsnap *first = &w->watched.snaps[0];
	return w->taken && (first->dumped || first->heaps.read);
}

/* False after having said why it is none. */
static bool first_is_good(const struct watch *w)
{
	const struct memsnap *first = &w->watched.snaps[0];
	if (has_first(w))
		return true;
	if (first->heaps.refused && first->heaps.why.code != JPROF_E_FORMAT)
		say_error(&first->heaps.why);
	else if (*first->why)
		say("process %d runs without a profile: %s; jprof explain %d says what can be known", w->watched.pid,
		    first->why, w->watched.pid);
	return false;
}

/* One snapshot. False: it is over. */
static bool watch_round(struct watch *w, const struct snap_options *which)
{
	bool taken = (!w->taken || watched_runs(&w->watched)) && watched_take(&w->watched, which);
	if (interrupted())
		return false;
	if (!taken)
		return w->taken && watched_runs(&w->watched); /* what is busy now may answer next time */
	w->taken++;
	if (w->taken == 1 && !first_is_good(w))
		return false;
	interrupt_is_success();
	compare_watched(w);
	return interrupted() || show_watch(w);
}

static bool wait_for_next(struct watch *w)
{
	enum watch_event event;
	while ((event = watch_screen_wait(w->next)) == WATCH_RESIZED)
		if (!show_watch(w))
			return false;
	return event == WATCH_TIME;
}

static void watch_all(struct watch *w, const struct snap_options *which)
{
	w->next = jp_clock_ms();
	do {
		int64_t now = jp_clock_ms();
		shortage_begin();
		w->next += (int64_t)w->o->every_ms;
		w->next = w->next < now ? now : w->next; /* a slow one is not made up for */
		if (!watch_round(w, which) || (w->o->count && w->taken >= w->o->count))
			return;
	} while (wait_for_next(w));
}

static void give_terminal_back(void)
{
	watch_screen_close();
	memsnap_take_back();
}

/* When memory is short. */
static void end_watch(void)
{
	watch_screen_close();
	newfile_end_parts();
}

int cmd_watch(int argc, char **argv)
{
	struct watch_options o;
	struct snap_options which = { 0 };
	budget_at_end(end_watch);
	bool good = parse_watch(&o, &which, argc, argv) && budget_watch(o.how.common.max_memory);
	if (good && o.help) {
		watch_help();
		return 0;
	}
	struct watch w = { .o = &o };
	if (good) {
		interrupt_at_once(watch_screen_close);
		interrupt_catch(give_terminal_back);
		w.terminal = watch_screen_open();
		watch_all(&w, &which);
		watch_screen_close();
		if (has_first(&w) && !interrupted() && !watched_runs(&w.watched))
			say("process %d has ended, after %zu snapshot%s", w.watched.pid, w.taken,
			    w.taken == 1 ? "" : "s");
		good = has_first(&w) && !w.write_error;
	}
	series_release(&w.series);
	watched_free(&w.watched);
	snap_options_free(&which);
	errno = w.write_error; /* for who says that standard output cannot be written */
	return good ? 0 : 1;
}
