/* jprof snap PID...: dumps of live processes, in one bundle. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/budget.h"
#include "cli/bundlefile.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/typed.h"
#include "commands.h"
#include "snap/candidates.h"
#include "snap/interrupt.h"
#include "snap/selection.h"
#include "snap/series.h"
#include "snap/services.h"
#include "snap/snapdump.h"
#include "snap/snapmember.h"
#include "snap/snapopts.h"

/* ---- which processes -------------------------------------------------------------------------------------- */

/* The processes that were given by pid, as they were at the beginning: a pid that comes again later is another. */
struct origin {
	uint64_t *start_ticks;
	bool known;
};

/* What was made, for the last line. */
struct outcome {
	struct collections collections;
	bool outside;       /* without dumps: nobody had prepared the processes */
	bool profiles;      /* then: some had one in their memory */
	char *first, *last; /* bundles; owned, NULL: none */
};

static bool is_another(struct origin *origin, const struct snap_options *o, const struct jprof_process *p, size_t i)
{
	if (i >= o->pid_count || !origin->start_ticks)
		return false;
	if (!origin->known)
		origin->start_ticks[i] = p->start_ticks;
	if (p->state != JPROF_PROCESS_ALIVE || p->start_ticks == origin->start_ticks[i])
		return false;
	say("process %d: has ended, and another has its pid", p->pid);
	return true;
}

/* ---- one bundle --------------------------------------------------------------------------------------------- */

struct round {
	const struct snap_options *options;
	struct origin *origin;
	struct outcome *outcome;
	struct jprof_processes *list;
	struct series series;
	char *path;          /* what the bundle is to be called; owned */
	struct newfile file; /* made when all is there */
	struct jprof_bundle_writer *writer;
	struct leftovers leftovers;
	struct snap_heaps heaps; /* of processes that nobody prepared */
	size_t good, failed;
	bool done; /* the bundle has its name */
};

static bool begin_round(struct round *r)
{
	const struct snap_options *o = r->options;
	struct jprof_bundle_writer_opts opts = { .size = sizeof opts, .label = o->label, .time = time(NULL) };
	struct jprof_error err;
	if (!series_begin(&r->series, o, jprof_processes_at(r->list, 0)->pid))
		return false;
	r->path = series_next(&r->series);
	interrupt_hold();
	bool good = r->path && bundle_file_try(r->path, o->mode);
	interrupt_release();
	if (good && jprof_bundle_writer_new(&opts, newfile_write, &r->file, &r->writer, &err)) {
		say_error(&err);
		good = false;
	}
	return good;
}

/* Whether there is nobody to ask: then their memory is read. Who says that a signal makes them dump is believed. */
static bool nobody_is_prepared(const struct round *r)
{
	bool none = !r->options->trust && !r->options->signal;
	for (size_t i = 0; none && i < jprof_processes_count(r->list); i++)
		none = snap_is_unprepared(jprof_processes_at(r->list, i));
	return none;
}

static int snap_one(struct round *r, const struct jprof_process *p, bool outside)
{
	return outside ? snap_outside(r->writer, p, r->options, &r->heaps)
	               : snap_member(r->writer, p, r->options, &r->leftovers, &r->outcome->collections);
}

/* False where the writer can only be freed. */
static bool take_all(struct round *r)
{
	bool outside = nobody_is_prepared(r);
	r->heaps.needed = true;
	for (size_t i = 0; !interrupted() && i < jprof_processes_count(r->list); i++) {
		const struct jprof_process *p = jprof_processes_at(r->list, i);
		int done = is_another(r->origin, r->options, p, i) ? 0 : snap_one(r, p, outside);
		if (done < 0)
			return false;
		r->good += done > 0;
		r->failed += !done;
	}
	r->outcome->outside = r->outcome->outside || r->heaps.read;
	r->outcome->profiles = r->outcome->profiles || r->heaps.profiles;
	return true;
}

static char *another_name(const void *context)
{
	const struct round *r = context;
	if (!r->series.exact)
		return series_next(&r->series);
	say("%s%s: was made by somebody else meanwhile, and nothing is overwritten; give another name", r->series.dir,
	    r->series.begin);
	return NULL;
}

static bool finish_round(struct round *r)
{
	struct jprof_error err;
	char *path = NULL;
	interrupt_hold();
	bool good = bundle_file_open(&r->file, r->path, r->options->mode);
	interrupt_release();
	if (!good)
		return false;
	if (jprof_bundle_writer_finish(r->writer, &err) && !r->file.error) {
		say_error(&err);
		return false;
	}
	newfile_sync(&r->file);
	interrupt_hold();
	r->done = newfile_commit_as(&r->file, another_name, r, &path);
	interrupt_release();
	if (!r->done)
		return false;
	printf("%s\n", path);
	fflush(stdout);
	series_prune(&r->series, r->options, path);
	if (!r->outcome->last)
		r->outcome->first = strdup(path);
	free(r->outcome->last);
	r->outcome->last = path;
	return true;
}

/* The one under way; NULL: none. */
static struct round *current;

static void say_interrupted(const struct round *r)
{
	say("interrupted: %s", r->done ? "the bundle was written before" : "no bundle was written");
}

/* Of what is under way, on another thread. */
static void take_back(void)
{
	if (!current)
		return;
	say_interrupted(current);
	leftovers_remove(&current->leftovers, current->options);
	if (!current->done)
		newfile_forget(&current->file);
}

static void set_current(struct round *r)
{
	interrupt_hold();
	current = r;
	interrupt_release();
}

static bool make_bundle(struct round *r)
{
	shortage_begin();
	set_current(r);
	bool done = begin_round(r) && take_all(r) && !interrupted() && r->good && !shortage_say() && finish_round(r);
	set_current(NULL);
	if (interrupted())
		say_interrupted(r);
	if (done || interrupted())
		leftovers_remove(&r->leftovers, r->options);
	leftovers_end(&r->leftovers);
	jprof_bundle_writer_free(r->writer);
	newfile_abandon(&r->file);
	free(r->path);
	series_end(&r->series);
	return done && !r->failed;
}

/* True if all that were meant are in the bundle. */
static bool run_round(const struct snap_options *o, struct origin *origin, struct outcome *outcome)
{
	struct round r = {
		.options = o, .origin = origin, .outcome = outcome, .list = selection_find(o), .file = { .fd = -1 }
	};
	bool good = false;
	if (r.list && !jprof_processes_count(r.list))
		selection_say_none(o);
	else if (r.list)
		good = services_are_one(r.list, o) && make_bundle(&r);
	origin->known = true;
	jprof_processes_free(r.list);
	return good;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static void wait_until(int64_t when)
{
	enum { step = 60000 };
	for (int64_t left; !interrupted() && (left = when - jp_clock_ms()) > 0;)
		poll(NULL, 0, left > step ? step : (int)left);
}

/* The last line: whether garbage was collected, and what to type next, which shows objects where they were counted. */
static void say_next(const struct outcome *outcome, const struct snap_options *o)
{
	const struct collections *c = &outcome->collections;
	struct typed next = { 0 };
	const char *gc = outcome->profiles ? "read from outside, with its profile; "
	                 : outcome->outside
	                     ? "read from outside; which line made it only a program that was started with "
	                       "`jprof run -- COMMAND` can tell; "
	                 : !c->rubies           ? ""
	                 : c->done == c->rubies ? "garbage was collected first; "
	                 : c->done              ? "garbage was collected first, but not in all processes; "
	                                        : "no garbage was collected first (--gc does that); ";
	if (!outcome->last || !outcome->first)
		return;
	bool several = strcmp(outcome->first, outcome->last) && !access(outcome->first, F_OK); /* --keep removes some */
	typed_add(&next, several                                                  ? "jprof diff"
	                 : o->objects || (outcome->outside && !outcome->profiles) ? "jprof explain"
	                                                                          : "jprof");
	if (several)
		typed_word(&next, outcome->first);
	typed_word(&next, outcome->last);
	if (outcome->outside && o->gc)
		say("no garbage was collected: only jprof's agent can have a Ruby do that");
	if (!next.failed)
		say("%snext: %s", gc, next.text);
}

static int run_all(const struct snap_options *o)
{
	struct outcome outcome = { 0 };
	struct origin origin = { .start_ticks = calloc(o->pid_count + 1, sizeof *origin.start_ticks) };
	bool good = true;
	int64_t next = jp_clock_ms();
	for (size_t i = 0; !interrupted() && (!o->count || i < o->count); i++) {
		wait_until(next);
		if (interrupted())
			break;
		next += (int64_t)o->every_ms;
		good = run_round(o, &origin, &outcome) && good;
	}
	free(origin.start_ticks);
	say_next(&outcome, o);
	free(outcome.first);
	free(outcome.last);
	return good ? 0 : 1;
}

/* --activate, --deactivate */
static int switch_all(const struct snap_options *o)
{
	struct jprof_processes *list = selection_find(o);
	size_t count = list ? jprof_processes_count(list) : 0, good = 0;
	bool on = o->sampling == SNAP_ACTIVATES, was;
	if (list && !count)
		selection_say_none(o);
	for (size_t i = 0; !interrupted() && i < count; i++) {
		const struct jprof_process *p = jprof_processes_at(list, i);
		if (!snap_switch(p, o, &was))
			continue;
		printf("%d: samples are %s%s\n", p->pid, on ? "taken" : "not taken",
		       was == on ? ", as before" : " from now on");
		good++;
	}
	jprof_processes_free(list);
	return count && good == count ? 0 : 1;
}

static int list_candidates(void)
{
	int count = candidates_print();
	if (!count)
		say("no process here is a Ruby or has a jemalloc that this user may see");
	else if (count > 0)
		say("give the PIDs of those to dump, or --puma, --match=RE, --children-of=PID; see jprof snap --help");
	return 1;
}

int cmd_snap(int argc, char **argv)
{
	struct snap_options options;
	int status = 1;
	if (!snap_options_parse(&options, argc, argv))
		status = 1;
	else if (options.help) {
		snap_options_help();
		status = 0;
	} else if (!snap_options_select(&options)) {
		status = list_candidates();
	} else if (budget_watch(options.max_memory)) {
		options.profiles = true;
		interrupt_catch(take_back);
		status = options.sampling ? switch_all(&options) : run_all(&options);
	}
	snap_options_free(&options);
	return status;
}
