#include "snap/snapdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/budget.h"
#include "cli/procenv.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "snap/graphfile.h"
#include "snap/opener.h"
#include "snap/signals.h"
#include "snap/silence.h"

/* ---- what cannot be ------------------------------------------------------------------------------------- */

static void silent_words(const struct jprof_process *p, char *words, size_t size)
{
	struct procenv env;
	struct silence_env known = { .known = procenv_read(&env, p->pid) };
	char text[512];
	known.agent = procenv_get(&env, "JPROF_AGENT");
	known.conf = procenv_get(&env, "MALLOC_CONF");
	(void)silence_text(p, &known, text, sizeof text);
	snprintf(words, size, "jprof's agent is loaded, but %s", text);
	procenv_free(&env);
}

bool snap_agent_was_lost(const struct jprof_process *p)
{
	struct procenv env;
	const char *preload = procenv_read(&env, p->pid) ? procenv_get(&env, "LD_PRELOAD") : NULL;
	bool lost = preload && strstr(preload, "libjprof-agent");
	procenv_free(&env);
	return lost;
}

void snap_why_not(const struct jprof_process *p, char *words, size_t size)
{
	if (!p->readable)
		snprintf(words, size,
		         "no permission to look at it: run jprof as user %u, or as root with CAP_SYS_PTRACE", p->uid);
	else if (p->agent_library || p->agent_version)
		silent_words(p, words, size);
	else if (snap_agent_was_lost(p))
		snprintf(words, size,
		         "LD_PRELOAD names jprof's agent, and it is not loaded: the file must be there, readable for "
		         "user %u, and of the program's C library; try `jprof doctor %d`",
		         p->uid, p->pid);
	else if (p->jemalloc)
		snprintf(words, size,
		         "has jemalloc, but not jprof's agent, without which nothing is safe to ask: start it with "
		         "`jprof run -- COMMAND`, or with libjprof-agent.so in LD_PRELOAD and prof:true in "
		         "MALLOC_CONF");
	else
		snprintf(words, size, "has neither jemalloc nor jprof's agent: start it with `jprof run -- COMMAND`");
}

void snap_say_why_not(const struct jprof_process *p)
{
	char words[1024];
	snap_why_not(p, words, sizeof words);
	say("process %d: %s", p->pid, words);
}

static bool failed_with(const struct jprof_error *err)
{
	say_error(err);
	return false;
}

/* ---- through the socket ----------------------------------------------------------------------------------- */

static unsigned timeout_of(const struct snap_options *o)
{
	return (unsigned)o->timeout * 1000;
}

unsigned snap_file_timeout(const struct snap_options *o)
{
	enum { most = 10000 };
	return timeout_of(o) < most ? timeout_of(o) : most;
}

/* False after having said that the kernel might end the process for what a dump takes. The agent looks, too, but to be
 * asked already takes some. */
static bool has_room_for_dump(const struct jprof_process *p)
{
	enum { room_mb = 6 }; /* as agent/dump.c has it */
	uint64_t left = budget_of_process(p->pid, BUDGET_UNTIL_KILLED);
	if (left >= (uint64_t)room_mb << 20)
		return true;
	say("process %d: its control group has %llu KB of memory left, and a dump may take %d MB: the kernel might end the "
	    "process; raise the limit",
	    p->pid, (unsigned long long)(left >> 10), room_mb);
	return false;
}

static struct jprof_agent *connect_agent(const struct jprof_process *p, const struct jprof_opener *opener,
                                         const struct snap_options *o, const struct jprof_agent_report **report)
{
	struct jprof_agent_opts opts = { .size = sizeof opts, .timeout = timeout_of(o), .opener = opener };
	struct jprof_agent *agent = NULL;
	struct jprof_error err;
	if (!p->agent_socket) {
		snap_say_why_not(p);
		return NULL;
	}
	if (jprof_agent_connect(p, &opts, &agent, &err) || jprof_agent_report(agent, report, &err)) {
		say_error(&err);
		jprof_agent_free(agent);
		return NULL;
	}
	if (!(*report)->prof_active && !o->sampling)
		say("process %d: is not sampling (prof_active:false): the dump holds what was sampled before", p->pid);
	return agent;
}

bool snap_switch(const struct jprof_process *p, const struct snap_options *o, bool *was)
{
	const struct jprof_agent_report *report;
	struct jprof_target *target = NULL;
	struct opener *opener = NULL;
	struct jprof_agent *agent = NULL;
	struct jprof_error err;
	bool good = false;
	if (!has_room_for_dump(p))
		return false;
	if (jprof_target_open(p, NULL, &target, &err))
		return failed_with(&err);
	if (!p->agent_socket)
		snap_say_why_not(p);
	else if (opener_start(&opener, target, p, snap_file_timeout(o), &err))
		say_error(&err);
	else
		agent = connect_agent(p, opener_functions(opener), o, &report);
	if (agent)
		good = !jprof_agent_set_active(agent, o->sampling == SNAP_ACTIVATES, was, &err) || failed_with(&err);
	jprof_agent_free(agent);
	jprof_target_free(target);
	opener_end(opener);
	return good;
}

/* The garbage that was not collected is no reason to be without a dump. */
static void say_gc(const struct jprof_process *p, const struct jprof_agent_dump *dump)
{
	if (!dump->gc || strcmp(dump->gc, "done"))
		say("process %d: garbage was not collected (%s); dumped without", p->pid,
		    dump->gc ? dump->gc : "no word");
}

/* Said where it was asked for. */
static bool can_count(const struct jprof_process *p, struct jprof_agent *agent, bool asked)
{
	const struct jprof_agent_report *report;
	struct jprof_error err;
	bool can = !shortage_note_code(jprof_agent_report(agent, &report, &err)) && report->objects;
	if (!can && asked)
		say("process %d: its objects cannot be counted: it is no Ruby, or its agent is an older one; dumped without",
		    p->pid);
	return can;
}

/* Only where it was asked for: it costs more than counting. */
static bool can_draw(const struct jprof_process *p, struct jprof_agent *agent, const struct snap_options *o)
{
	const struct jprof_agent_report *report;
	struct jprof_error err;
	if (!o->objects || o->keep_dumps || jprof_agent_report(agent, &report, &err) || !report->objects)
		return false;
	if (!report->graph)
		say("process %d: what refers to what cannot be had: its agent is an older one, or its Ruby does not export "
		    "what is needed; dumped without",
		    p->pid);
	return report->graph;
}

/* Before anything else is done: a child waits for it to be read. */
static void take_graph(struct snap_dump *d, struct jprof_agent *agent, const struct jprof_agent_dump *made,
                       const struct jprof_target *target, const struct snap_options *o)
{
	struct jprof_error err;
	int fd = jprof_agent_graph(agent);
	const char *why = made->graph_why;
	if (fd >= 0)
		d->graph = graph_file_take(fd, timeout_of(o), &why);
	if (!d->graph)
		snprintf(d->graph_why, sizeof d->graph_why, "%s", why ? why : "no word");
	else if (jprof_target_buffers(target, &d->buffers, &d->buffers_len, &err))
		say_error(&err);
}

static bool ask_for_dump(struct snap_dump *d, struct jprof_agent *agent, const struct jprof_target *target,
                         const struct jprof_process *p, const struct snap_options *o)
{
	struct jprof_agent_dump_opts opts = {
		.size = sizeof opts,
		.label = o->label,
		.gc = o->gc,
		.objects = (o->objects || (o->gc && !o->no_objects)) && can_count(p, agent, o->objects),
		.gc_timeout = o->gc || o->objects ? timeout_of(o) / 2 : 0,
		.files = o->keep_dumps,
	};
	opts.graph = opts.objects && can_draw(p, agent, o);
	const struct jprof_agent_dump *made;
	struct jprof_error err;
	if (jprof_agent_dump(agent, &opts, &made, &err))
		return failed_with(&err);
	d->own = true;
	d->milliseconds = made->milliseconds;
	if (opts.graph)
		take_graph(d, agent, made, target, o);
	if (made->files && made->why)
		say("process %d: its agent made the dump in files, not in memory: %s", p->pid, made->why);
	d->collected = made->gc && !strcmp(made->gc, "done");
	if (o->gc)
		say_gc(p, made);
	return (!jprof_agent_files(agent, target, &d->dump, &d->sidecar, &err) &&
	        !jprof_agent_table(agent, target, d->dump, &d->table, &err)) ||
	       failed_with(&err);
}

/* ---- by a signal -------------------------------------------------------------------------------------------- */

/* Sends it and waits. With `agent` what comes has a side-car. */
static bool signal_and_wait(struct snap_dump *d, const struct jprof_target *target, const char *prefix, bool agent,
                            const struct snap_options *o)
{
	struct jprof_dump_watch *watch = NULL;
	struct jprof_error err;
	bool good = !jprof_target_watch(target, prefix, agent, &watch, &err) &&
	            !jprof_target_signal(target, o->signal, &err) &&
	            !jprof_dump_watch_wait(watch, timeout_of(o), &d->dump, &err) &&
	            (!agent || !jprof_target_sidecar(target, d->dump, &d->sidecar, &err)) &&
	            !jprof_target_table(target, d->dump, &d->table, &err);
	if (!good)
		say_error(&err);
	jprof_dump_watch_free(watch);
	return good;
}

static bool is_owned(const struct jprof_process *p, const struct jprof_agent_report *r, const struct snap_options *o)
{
	char number[16], other[16];
	const char *name = signal_name(o->signal, number);
	if (r->signal == o->signal && r->signal_owned)
		return true;
	if (r->signal == o->signal)
		say("process %d: %s is not the agent's: the program has installed a handler of its own since, and sending "
		    "it may do anything; leave out --signal, the socket needs none",
		    p->pid, name);
	else
		say("process %d: its agent handles %s%s, not %s; leave out --signal, the socket needs none", p->pid,
		    r->signal ? "signal " : "no signal", r->signal ? signal_name(r->signal, other) : "", name);
	return false;
}

/* What the agent says of a dump that did not come. */
static void say_last_error(struct jprof_agent *agent, const struct jprof_process *p)
{
	const struct jprof_agent_report *r;
	if (!jprof_agent_report(agent, &r, NULL) && r->last_error)
		say("process %d: its agent's last error: %s", p->pid, r->last_error);
}

static bool by_owned_signal(struct snap_dump *d, struct jprof_agent *agent, const struct jprof_agent_report *report,
                            const struct jprof_target *target, const struct jprof_process *p,
                            const struct snap_options *o)
{
	if (!is_owned(p, report, o))
		return false;
	d->own = true;
	bool good = report->prefix && signal_and_wait(d, target, report->prefix, true, o);
	if (!good)
		say_last_error(agent, p);
	return good;
}

/* Servers that are known to do something else. */
static bool is_restart(const struct jprof_process *p, const struct snap_options *o)
{
	bool server = !strcmp(p->server, "puma") || !strcmp(p->server, "unicorn");
	return server && strcmp(p->role, "worker") && o->signal == signal_by_name("USR2");
}

static bool by_trusted_signal(struct snap_dump *d, const struct jprof_target *target, const struct jprof_process *p,
                              const struct snap_options *o)
{
	char prefix[4096], number[16];
	struct jprof_error err;
	if (is_restart(p, o)) {
		say("process %d: is a %s, which USR2 restarts: not sent", p->pid, p->server);
		return false;
	}
	if (!(p->caught >> (o->signal - 1) & 1)) {
		say("process %d: has no handler for %s, which would end it: not sent", p->pid,
		    signal_name(o->signal, number));
		return false;
	}
	if (o->dump_dir)
		snprintf(prefix, sizeof prefix, "%s/", o->dump_dir);
	else if (jprof_target_prefix(target, prefix, sizeof prefix, &err))
		return failed_with(&err);
	return signal_and_wait(d, target, prefix, false, o);
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

bool snap_dump(struct snap_dump *d, const struct jprof_target *target, const struct jprof_opener *opener,
               const struct jprof_process *p, const struct snap_options *o)
{
	*d = (struct snap_dump){ .milliseconds = -1 };
	bool good = has_room_for_dump(p);
	if (good && o->trust) {
		good = by_trusted_signal(d, target, p, o);
	} else if (good) {
		const struct jprof_agent_report *report;
		struct jprof_agent *agent = connect_agent(p, opener, o, &report);
		good = agent && (o->signal ? by_owned_signal(d, agent, report, target, p, o)
		                           : ask_for_dump(d, agent, target, p, o));
		jprof_agent_free(agent);
	}
	if (!good)
		snap_dump_free(d);
	return good;
}

void snap_dump_free(struct snap_dump *d)
{
	jprof_dump_file_free(d->dump);
	jprof_dump_file_free(d->sidecar);
	jprof_dump_file_free(d->table);
	d->dump = d->sidecar = d->table = NULL;
	snap_graph_free(d);
}

void snap_graph_free(struct snap_dump *d)
{
	if (d->graph)
		fclose(d->graph);
	free(d->buffers);
	d->graph = NULL;
	d->buffers = NULL;
}
