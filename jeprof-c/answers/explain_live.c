#include "answers/explain_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/rubylines.h"
#include "cli/bundlefile.h"
#include "cli/names.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/wholefile.h"

/* ---- the process in words ----------------------------------------------------------------------------------- */

/* Seconds since it began; below 0: not known. */
static double age_of(const struct jprof_process *p)
{
	char text[64];
	ssize_t len = file_begin("/proc/uptime", text, sizeof text - 1);
	text[len > 0 ? len : 0] = '\0';
	double up = len > 0 ? strtod(text, NULL) : -1;
	return up < 0 ? -1 : up - (double)p->start_ticks / (double)sysconf(_SC_CLK_TCK);
}

static void age_words(double seconds, char *words, size_t size)
{
	static const struct {
		double seconds;
		const char *one, *many;
	} units[] = { { 86400, "day", "days" }, { 3600, "hour", "hours" }, { 60, "minute", "minutes" } };
	snprintf(words, size, "%s", seconds < 0 ? "" : ", up for less than a minute");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		double n = seconds / units[i].seconds;
		if (n < 1)
			continue;
		snprintf(words, size, ", up %.0f %s", n, n < 1.5 ? units[i].one : units[i].many);
		return;
	}
}

static const char *server_name(const char *server)
{
	return !strcmp(server, "puma")      ? "Puma"
	       : !strcmp(server, "unicorn") ? "Unicorn"
	       : !strcmp(server, "sidekiq") ? "Sidekiq"
	       : !strcmp(server, "resque")  ? "Resque"
	                                    : server;
}

/* The kernel's name of a process is that of its first thread, which Node.js calls so in every program. */
static const char *name_of_process(const struct jprof_process *p)
{
	const char *slash = strrchr(p->program, '/');
	return slash && !strcmp(p->name, "MainThread") ? slash + 1 : p->name;
}

static void describe_live(struct explain_live *live)
{
	const struct jprof_process *p = jprof_processes_at(live->snap.list, 0);
	size_t count = jprof_processes_count(live->snap.list);
	char age[64];
	age_words(age_of(p), age, sizeof age);
	if (count > 1)
		snprintf(live->title, sizeof live->title, "%s of process %d: %zu processes%s", server_name(p->server),
		         p->service, count, age);
	else
		snprintf(live->title, sizeof live->title, "process %d: %s%s%s%s", p->pid,
		         *p->server ? server_name(p->server) : name_of_process(p), *p->role ? " " : "", p->role, age);
	snprintf(live->name, sizeof live->name, "process %d", count > 1 ? p->service : p->pid);
	snprintf(live->start, sizeof live->start, "%s", start_of_program(p->server));
}

/* An error's text without the process that it is about. */
static const char *reason_without_process(const struct jprof_error *err)
{
	const char *colon = strncmp(err->text, "process ", 8) != 0 ? NULL : strstr(err->text, ": ");
	return colon ? colon + 2 : err->text;
}

/* The ways that fit this place. */
static void describe_remedy(struct explain_live *live)
{
	static const char pod[] = "   in Kubernetes   kubectl debug -it POD --image=JPROF-IMAGE --profile=general \\\n"
				  "                     --target=CONTAINER -- jprof explain 1\n";
	static const char container[] = "   in Docker       start the container with --cap-add=SYS_PTRACE\n";
	bool in_pod = getenv("KUBERNETES_SERVICE_HOST"), contained = !access("/.dockerenv", F_OK);
	char here[96] = "   here            as root with CAP_SYS_PTRACE\n";
	if (geteuid())
		snprintf(here, sizeof here, "   here            sudo jprof explain %d\n",
		         jprof_processes_at(live->snap.list, 0)->pid);
	snprintf(live->remedy, sizeof live->remedy, "%s%s%s", geteuid() || (!in_pod && !contained) ? here : "",
	         in_pod ? pod : "", contained ? container : "");
}

/* Why its memory was not read. That there is no jemalloc says the reason why there was no dump. */
static void describe_refusal(struct explain_live *live)
{
	const struct snap_heaps *h = &live->snap.heaps;
	if (h->read || !h->refused)
		return;
	if (h->why.code != JPROF_E_FORMAT)
		snprintf(live->outside, sizeof live->outside, "Not read: %s.", reason_without_process(&h->why));
	live->refused = h->why.code == JPROF_E_IO;
	if (h->why.advice == JPROF_ADVICE_MEMORY)
		describe_remedy(live);
}

/* ---- which, and what is left of it --------------------------------------------------------------------------- */

/* The word that names a live process: the last operand; NULL: it is a file, or none. */
static const char *pid_word(const struct options *o)
{
	int pid;
	const char *last = o->operand_count ? o->operands[o->operand_count - 1] : "";
	return is_pid(last, &pid) && access(last, F_OK) ? last : NULL;
}

/* The word that names a core, likewise. */
static const char *core_word(const struct options *o)
{
	const char *last = o->operand_count ? o->operands[o->operand_count - 1] : "";
	return !o->puma && is_core(last) ? last : NULL;
}

static void describe_core(struct explain_live *live, const char *path)
{
	const char *base = strrchr(path, '/');
	snprintf(live->name, sizeof live->name, "%s", base ? base + 1 : path);
	snprintf(live->title, sizeof live->title, "%s", live->name);
	snprintf(live->start, sizeof live->start, "%s", start_of_program(""));
}

static bool select_live(struct explain_live *live, const struct options *o, const char *pid)
{
	char puma[64], word[32];
	snprintf(puma, sizeof puma, o->puma && *o->puma ? "--puma=%s" : "--puma", o->puma);
	snprintf(word, sizeof word, "%s", pid ? pid : "");
	char snap[] = "snap", gc[] = "--gc", *argv[] = { snap, o->puma ? puma : word, o->gc ? gc : NULL, NULL };
	bool good = snap_options_parse(&live->which, !pid && !o->puma ? 1 : o->gc ? 3 : 2, argv);
	live->which.command = o->command;
	live->which.heaps = true;
	live->which.profiles = o->file || o->unreachable;
	live->which.referrers = o->granularity == ROWS_BY_REFERRER;
	live->which.unreachable = o->unreachable;
	live->which.glances = pid;
	live->which.lost = o->unreachable && o->granularity == JPROF_BY_ADDRESS ? &live->lost : NULL;
	return good;
}

static bool name_good(const char *path)
{
	static const char end[] = ".jprof";
	size_t len = path ? strlen(path) : sizeof end;
	if (!path || (len >= sizeof end && !strcmp(path + len - (sizeof end - 1), end)))
		return true;
	say("%s: with a process -o keeps the snapshot: give it a name that ends in .jprof; the text goes to standard "
	    "output",
	    path);
	return false;
}

static bool keep_bundle(const struct memsnap *snap, const char *path)
{
	struct newfile file = { .fd = -1 };
	if (!path)
		return true;
	if (!snap->dumped && !snap->heaps.read) {
		say("%s: was not made: what /proc says alone is no snapshot to keep", path);
		return true;
	}
	if (!bundle_file_open(&file, path, NULL))
		return false;
	newfile_write(&file, snap->bundle, snap->len);
	return newfile_commit(&file);
}

/* The snapshot takes the place of the pid. */
static void name_operand(struct explain_live *live, struct options *o, const char *pid)
{
	int count = o->operand_count - (pid ? 1 : 0);
	for (int i = 0; i < count; i++)
		live->operands[i] = o->operands[i];
	live->operands[count] = live->name;
	o->operands = live->operands;
	o->operand_count = count + 1;
	o->file = NULL;
	if (live->dumped || live->snap.heaps.read || count == 0)
		return;
	say("%s cannot be compared with a process of which nothing is known but what /proc says", o->operands[0]);
	o->operands += count;
	o->operand_count = 1;
}

bool explain_live_take(struct explain_live *live, struct options *o)
{
	const char *core = core_word(o), *pid = o->puma ? NULL : core ? core : pid_word(o), *path = o->file;
	*live = (struct explain_live){ .asked = o->puma || pid, .core = core };
	if ((!live->asked || core) && o->gc) {
		say("--gc is for live processes: give a pid, or --puma");
		return false;
	}
	if (!live->asked)
		return true;
	if (o->operand_count - (pid ? 1 : 0) >= live_operands) {
		say("explain takes one snapshot, or two: the earlier one and the later one");
		return false;
	}
	if (!name_good(path) || !select_live(live, o, core ? NULL : pid) || (path && !bundle_file_try(path, NULL)) ||
	    !(core ? memsnap_of_core(&live->snap, core, &live->which) : memsnap_take(&live->snap, &live->which)))
		return false;
	if (core) {
		describe_core(live, core);
		name_operand(live, o, core);
		return keep_bundle(&live->snap, path);
	}
	live->dumped = live->snap.dumped;
	live->ruby = jprof_processes_at(live->snap.list, 0)->ruby;
	describe_live(live);
	describe_refusal(live);
	name_operand(live, o, pid);
	return keep_bundle(&live->snap, path);
}

void explain_live_free(struct explain_live *live)
{
	memsnap_free(&live->snap);
	snap_options_free(&live->which);
	jp_strbuf_release(&live->lost);
}
