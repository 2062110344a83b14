/* The protocol is that of docs/internals/agent.md. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/jsonin.h"
#include "base/jsonpull.h"
#include "base/opts.h"
#include "base/strbuf.h"
#include "base/textparts.h"
#include "collect/dumpfile.h"
#include "collect/dumpsidecar.h"
#include "collect/procfs.h"
#include "collect/tablecheck.h"
#include "collect/unixsock.h"

enum {
	protocol_version = 1,
	default_timeout = 30000,
	reply_limit = 16 << 20,
	label_limit = 64,
};

struct jprof_agent {
	struct jp_arena arena; /* of the report */
	int fd;
	int pid;          /* as the caller sees it */
	int ns_pid;       /* as it sees itself */
	unsigned user;    /* real: who speaks for the process */
	bool hands_over;  /* it knows fds=1 */
	bool tables;      /* it knows tables=1 */
	unsigned timeout; /* ms, of a request */
	char name[48];    /* in errors */
	struct jprof_agent_report report;
	struct jprof_agent_dump dump;
	struct jp_arena dump_arena;
	struct jp_reply dump_reply; /* whose descriptors are the dump's */
	int64_t dump_asked;         /* seconds since the epoch */
	int table_fd;               /* of the dump that was taken; -1: none, or taken */
	int graph_fd;               /* likewise */
	char *stats;                /* the last that were asked for */
};

/* Copies a member's text to *to, which is left NULL where there is none. False when memory is short. */
static bool keep_string(struct jp_arena *arena, jp_json *object, const char *key, const char **to)
{
	const char *text = jp_json_text(object, key);
	*to = text ? jp_arena_dup(arena, text, strlen(text)) : NULL;
	return !text || *to;
}

/* A number that fits an int; else 0. */
static int int_of(jp_json *object, const char *key)
{
	uint64_t number = jp_json_number(object, key);
	return number <= INT_MAX ? (int)number : 0;
}

static int refused(struct jprof_agent *agent, jp_json *object, struct jprof_error *err)
{
	const char *why = jp_json_text(object, "error");
	return jp_error(err, JPROF_E_IO, NULL, 0, "%s says: %s", agent->name, why ? why : "no");
}

/* The kernel's word on who wrote the reply: it was the process itself, and with the user that its files are opened for.
 * A process may pass through a setuid program while another one answers in its place. */
static int check_speaker(const struct jprof_agent *agent, const struct jp_reply *reply, struct jprof_error *err)
{
	if (reply->pid < 0)
		return jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
		                "%s: this kernel does not show who answers; run jprof elsewhere", agent->name);
	if (reply->pid && reply->pid != agent->pid)
		return jp_error(err, JPROF_E_IO, NULL, 0, "%s: process %d answers in its place", agent->name,
		                reply->pid);
	if (reply->real_uid != agent->user)
		return jp_error(err, JPROF_E_IO, NULL, 0, "%s answers as user %u, and the process is user %u's",
		                agent->name, reply->real_uid, agent->user);
	return 0;
}

/* Sends a line and reads one: *object and *reply, to be freed even where that fails. */
static int ask_for(struct jprof_agent *agent, const char *request, unsigned timeout, struct jprof_json **object,
                   struct jp_reply *reply, struct jprof_error *err)
{
	int64_t deadline = jp_clock_ms() + timeout;
	if (agent->fd < 0)
		return jp_error(err, JPROF_E_IO, NULL, 0,
		                "%s is not connected to any more, for a request failed before", agent->name);
	int rc = jp_unixsock_send(agent->fd, request, strlen(request), deadline, agent->name, err);
	rc = rc ? rc : jp_unixsock_line(agent->fd, reply_limit, deadline, agent->name, reply, err);
	if (rc) /* the rest of a reply would be taken for the next one */
		jp_file_close(&agent->fd);
	rc = rc ? rc : check_speaker(agent, reply, err);
	rc = rc ? rc : jp_json_parse(reply->line, strlen(reply->line), agent->name, object, err);
	if (rc)
		return rc;
	return jp_json_true(*object, "ok") ? 0 : refused(agent, *object, err);
}

/* The same where no descriptors are asked for: *object alone. */
static int ask_for_text(struct jprof_agent *agent, const char *request, struct jprof_json **object,
                        struct jprof_error *err)
{
	struct jp_reply jp_cleanup(jp_reply_release) reply = { 0 };
	return ask_for(agent, request, agent->timeout, object, &reply, err);
}

static int take_report(struct jprof_agent *agent, jp_json *o, struct jprof_error *err)
{
	struct jprof_agent_report r = {
		.protocol = int_of(o, "protocol"),
		.pid = int_of(o, "pid"),
		.start_ticks = jp_json_number(o, "start_ticks"),
		.prof_active = jp_json_true(o, "prof_active"),
		.objects = jp_json_true(o, "objects"),
		.graph = jp_json_true(o, "graph"),
		.lg_sample = int_of(o, "lg_sample"),
		.signal = int_of(o, "signal"),
		.signal_owned = jp_json_true(o, "signal_owned"),
		.dumps = jp_json_number(o, "dumps"),
		.ruby_stacks = jp_json_true(o, "ruby_stacks"),
		.ruby_slots = jp_json_true(o, "ruby_slots"),
	};
	struct jp_arena arena = { 0 };
	if (!keep_string(&arena, o, "version", &r.version) || !keep_string(&arena, o, "boot_id", &r.boot_id) ||
	    !keep_string(&arena, o, "program", &r.program) || !keep_string(&arena, o, "jemalloc", &r.jemalloc) ||
	    !keep_string(&arena, o, "prefix", &r.prefix) || !keep_string(&arena, o, "ruby", &r.ruby) ||
	    !keep_string(&arena, o, "triggers", &r.triggers) || !keep_string(&arena, o, "last_dump", &r.last_dump) ||
	    !keep_string(&arena, o, "last_error", &r.last_error) ||
	    !keep_string(&arena, o, "ruby_stacks_why", &r.ruby_stacks_why) ||
	    !keep_string(&arena, o, "ruby_slots_why", &r.ruby_slots_why)) {
		jp_arena_release(&arena);
		return jp_error_nomem(err);
	}
	jp_arena_release(&agent->arena);
	agent->arena = arena;
	agent->report = r;
	agent->hands_over = jp_json_true(o, "fds");
	agent->tables = jp_json_true(o, "tables");
	return 0;
}

int jprof_agent_report(struct jprof_agent *agent, const struct jprof_agent_report **report, struct jprof_error *err)
{
	if (jp_null(err, agent, report))
		return JPROF_E_ARGUMENT;
	struct jprof_json *jp_cleanup(jp_json_release) object = NULL;
	int rc = ask_for_text(agent, "report\n", &object, err);
	rc = rc ? rc : take_report(agent, object, err);
	if (!rc)
		*report = &agent->report;
	return rc;
}

/* The kernel's word on who listens; where it cannot tell (another pid namespace), the report has to do. */
static int check_peer(struct jprof_agent *agent, const struct jprof_process *process, struct jprof_error *err)
{
	struct ucred peer = { 0 };
	socklen_t len = sizeof peer;
	if (getsockopt(agent->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) || !peer.pid || peer.pid == process->pid)
		return 0;
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: the socket that it names belongs to process %d",
	                process->pid, (int)peer.pid);
}

static int check_identity(struct jprof_agent *agent, const struct jprof_process *process, struct jprof_error *err)
{
	const struct jprof_agent_report *r;
	int rc = jprof_agent_report(agent, &r, err);
	if (rc)
		return rc;
	if (r->protocol != protocol_version)
		return jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
		                "%s speaks protocol %d, this jprof %d: use the jprof that came with it", agent->name,
		                r->protocol, protocol_version);
	if (r->pid != process->ns_pid)
		return jp_error(
		    err, JPROF_E_IO, NULL, 0,
		    "process %d: the agent that it names is that of process %d (as it calls itself): it was "
		    "just forked and has none of its own yet; try again",
		    process->pid, r->pid);
	if (!r->start_ticks)
		return jp_error(
		    err, JPROF_E_UNSUPPORTED, NULL, 0,
		    "process %d: its agent cannot read /proc, so nobody can tell that it is this process's: "
		    "mount /proc where the program runs",
		    process->pid);
	if (r->start_ticks != process->start_ticks)
		return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: has ended, and another has its pid",
		                process->pid);
	return 0;
}

/* Its user is read again now that it is connected to: it may have become another program meanwhile. */
static int check_user(struct jprof_agent *agent, const struct jprof_process *process, const char *proc,
                      struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_proc_status now;
	int error = jp_proc_read(proc, process->pid, "status", jp_proc_status_limit, &text);
	uint64_t start = error ? 0 : jp_proc_start_ticks(proc, process->pid);
	if (!start)
		return jp_proc_error(err, process->pid, error ? error : errno);
	if (start != process->start_ticks)
		return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: has ended, and another has its pid",
		                process->pid);
	jp_proc_status_parse((struct jp_span){ text.text, text.len }, &now);
	agent->user = now.real_uid;
	if (now.uid == process->uid)
		return 0;
	return jp_error(err, JPROF_E_IO, NULL, 0,
	                "process %d: was user %u a moment ago and is user %u now: it is not asked; try again",
	                process->pid, process->uid, now.uid);
}

int jprof_agent_connect(const struct jprof_process *process, const struct jprof_agent_opts *given,
                        struct jprof_agent **out, struct jprof_error *err)
{
	if (jp_null(err, process, out))
		return JPROF_E_ARGUMENT;
	struct jprof_agent_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	if (!process->agent_socket)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "process %d: has no agent", process->pid);
	struct jprof_agent *agent = calloc(1, sizeof *agent);
	if (!agent)
		return jp_error_nomem(err);
	const struct jprof_target target = { .proc = (char *)(opts.proc ? opts.proc : "/proc"),
		                             .pid = process->pid,
		                             .pidfd = -1,
		                             .opener = opts.opener ? *opts.opener : (struct jprof_opener){ 0 } };
	agent->timeout = opts.timeout ? opts.timeout : default_timeout;
	agent->pid = process->pid;
	agent->ns_pid = process->ns_pid;
	snprintf(agent->name, sizeof agent->name, "process %d: its agent", process->pid);
	agent->table_fd = agent->graph_fd = -1;
	agent->fd = jp_unixsock_connect(&target, process->agent_socket, jp_clock_ms() + agent->timeout, err);
	rc = agent->fd < 0 ? agent->fd : check_peer(agent, process, err);
	rc = rc ? rc : check_user(agent, process, target.proc, err);
	rc = rc ? rc : check_identity(agent, process, err);
	if (rc) {
		jprof_agent_free(agent);
		return rc;
	}
	*out = agent;
	return 0;
}

bool jprof_agent_label_good(const char *label)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	size_t len = label ? strlen(label) : 0;
	return len > 0 && len <= label_limit && strspn(label, allowed) == len;
}

static int dump_request(const struct jprof_agent_dump_opts *o, bool hand_over, bool tables, struct jp_strbuf *request,
                        struct jprof_error *err)
{
	if (o->label && !jprof_agent_label_good(o->label))
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "a label is made of 1 to %d of A-Z a-z 0-9 . _ and -, not \"%s\"", label_limit,
		                o->label);
	jp_strbuf_str(request, hand_over ? "dump fds=1" : "dump");
	if (tables)
		jp_strbuf_str(request, " tables=1");
	if (hand_over && o->graph)
		jp_strbuf_str(request, " graph=1");
	if (o->label)
		jp_strbuf_printf(request, " label=%s", o->label);
	if (o->gc)
		jp_strbuf_str(request, " gc=1");
	if (o->objects)
		jp_strbuf_str(request, " objects=1");
	if (o->gc_timeout)
		jp_strbuf_printf(request, " timeout=%u", o->gc_timeout);
	jp_strbuf_str(request, "\n");
	return request->failed ? jp_error_nomem(err) : 0;
}

/* Whether a path is that of the dump with `suffix` at its end. */
static bool is_beside(const struct jprof_agent_dump *d, const char *path, const char *suffix)
{
	size_t len = strlen(d->dump);
	return path && !strncmp(path, d->dump, len) && !strcmp(path + len, suffix);
}

/* What speaks against a reply; NULL: nothing. In files it has absolute paths, else names and two or three descriptors.
 */
static const char *why_no_dump(const struct jprof_agent *agent, const struct jprof_agent_dump *d, bool asked)
{
	const char *prefix = agent->report.prefix ? agent->report.prefix : "";
	if (!d->dump || (d->files && *d->dump != '/'))
		return "does not tell where";
	/* Dump and side-car, and a table where it was asked for and is there; a graph in either case. */
	size_t descriptors = (d->files ? 0U : d->table && agent->tables ? 3U : 2U) + d->graph;
	if ((!d->files && !asked) || agent->dump_reply.fd_count != descriptors)
		return "does not hand over what it says";
	const char *name = d->files ? jp_basename(d->dump) : d->dump;
	if (!jp_dump_name_good(name, *prefix ? prefix : "jeprof", agent->ns_pid))
		return "gives it another name than PREFIX.PID.SEQ.jN.heap";
	if (d->table && !is_beside(d, d->table, ".ruby"))
		return "does not give its table the same name with .ruby";
	if (!is_beside(d, d->sidecar, ".json"))
		return "does not give its side-car the same name with .json";
	return NULL;
}

static int take_dump(struct jprof_agent *agent, jp_json *o, bool asked, struct jprof_error *err)
{
	struct jprof_agent_dump d = {
		.seq = jp_json_number(o, "seq"),
		.milliseconds = (double)jp_json_number(o, "milliseconds"),
		.files = !jp_json_number(o, "fds"),
		.graph = jp_json_true(o, "graph"),
	};
	jp_arena_release(&agent->dump_arena);
	if (!keep_string(&agent->dump_arena, o, "dump", &d.dump) ||
	    !keep_string(&agent->dump_arena, o, "sidecar", &d.sidecar) ||
	    !keep_string(&agent->dump_arena, o, "table", &d.table) ||
	    !keep_string(&agent->dump_arena, o, "gc", &d.gc) || !keep_string(&agent->dump_arena, o, "why", &d.why) ||
	    !keep_string(&agent->dump_arena, o, "graph_why", &d.graph_why))
		return jp_error_nomem(err);
	const char *why = why_no_dump(agent, &d, asked);
	if (why)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s made a dump, but %s", agent->name, why);
	if (d.graph)
		agent->graph_fd = agent->dump_reply.fds[--agent->dump_reply.fd_count];
	agent->dump = d;
	return 0;
}

int jprof_agent_dump(struct jprof_agent *agent, const struct jprof_agent_dump_opts *given,
                     const struct jprof_agent_dump **dump, struct jprof_error *err)
{
	if (jp_null(err, agent, dump))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) request = { 0 };
	struct jprof_json *jp_cleanup(jp_json_release) object = NULL;
	struct jprof_agent_dump_opts opts;
	jp_reply_release(&agent->dump_reply);
	jp_file_close(&agent->table_fd);
	jp_file_close(&agent->graph_fd);
	agent->dump = (struct jprof_agent_dump){ 0 };
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	bool hand_over = !rc && agent->hands_over && !opts.files;
	rc = rc ? rc : dump_request(&opts, hand_over, hand_over && agent->tables, &request, err);
	agent->dump_reply.fds_wanted = !hand_over ? 0U : (agent->tables ? 3U : 2U) + opts.graph;
	agent->dump_asked = time(NULL);
	rc = rc ? rc
	        : ask_for(agent, request.text, opts.timeout ? opts.timeout : agent->timeout, &object,
	                  &agent->dump_reply, err);
	rc = rc ? rc : take_dump(agent, object, hand_over, err);
	if (rc)
		jp_reply_release(&agent->dump_reply);
	else
		*dump = &agent->dump;
	return rc;
}

/* Both of a dump; what is adopted is not the reply's any more. */
static int open_both(struct jprof_agent *agent, const struct jprof_target *target, struct jprof_dump_file **dump,
                     struct jprof_dump_file **sidecar, struct jprof_error *err)
{
	const struct jprof_agent_dump *d = &agent->dump;
	int *fds = agent->dump_reply.fds;
	if (d->files) {
		int rc = jp_dump_file_open(target, d->dump, dump, err);
		return rc ? rc : jp_dump_file_open(target, d->sidecar, sidecar, err);
	}
	agent->table_fd = agent->dump_reply.fd_count > 2 ? fds[2] : -1;
	agent->dump_reply.fd_count = 0;
	int rc = jp_dump_file_adopt(fds[0], d->dump, agent->name, dump, err);
	if (rc)
		jp_file_close(&fds[1]);
	return rc ? rc : jp_dump_file_adopt(fds[1], d->sidecar, agent->name, sidecar, err);
}

int jprof_agent_files(struct jprof_agent *agent, const struct jprof_target *target, struct jprof_dump_file **out,
                      struct jprof_dump_file **out_sidecar, struct jprof_error *err)
{
	if (jp_null(err, agent, target, out, out_sidecar))
		return JPROF_E_ARGUMENT;
	struct jprof_dump_file *dump = NULL, *sidecar = NULL;
	if (!agent->dump.dump || (!agent->dump.files && !agent->dump_reply.fd_count))
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "%s has made no dump that was not taken", agent->name);
	int rc = open_both(agent, target, &dump, &sidecar, err);
	rc = rc ? rc : jp_sidecar_check(target, sidecar, dump->name, agent->dump_asked, err);
	if (rc) {
		jprof_dump_file_free(dump);
		jprof_dump_file_free(sidecar);
		return rc;
	}
	*out = dump;
	*out_sidecar = sidecar;
	return 0;
}

int jprof_agent_table(struct jprof_agent *agent, const struct jprof_target *target, const struct jprof_dump_file *dump,
                      struct jprof_dump_file **table, struct jprof_error *err)
{
	if (jp_null(err, agent, target, dump, table))
		return JPROF_E_ARGUMENT;
	const struct jprof_agent_dump *d = &agent->dump;
	int fd = agent->table_fd;
	agent->table_fd = -1;
	struct jprof_dump_file *file = NULL;
	int rc = 0;
	if (fd >= 0)
		rc = jp_dump_file_adopt(fd, d->table, agent->name, &file, err);
	else if (d->files && d->table)
		rc = jp_dump_file_open(target, d->table, &file, err);
	const char *why = file ? jp_table_doubt(target, file, dump) : NULL;
	if (why) {
		rc = jp_error(err, JPROF_E_FORMAT, NULL, 0, "process %d: the table %s is not taken: %s", agent->pid,
		              file->name, why);
		jprof_dump_file_free(file);
	}
	if (!rc)
		*table = file;
	return rc;
}

/* What is no pipe could be a file that takes for ever to be read. */
int jprof_agent_graph(struct jprof_agent *agent)
{
	struct stat st;
	int fd = agent ? agent->graph_fd : -1;
	if (fd < 0)
		return -1;
	agent->graph_fd = -1;
	if (fstat(fd, &st) || !S_ISFIFO(st.st_mode))
		jp_file_close(&fd);
	return fd;
}

/* The object that is the member "stats" of a reply, as it stands there; empty: there is none. */
static struct jp_span find_stats(const char *reply)
{
	struct jp_jsonpull pull;
	enum jp_json_token token;
	jp_jsonpull_init(&pull, (struct jp_span){ reply, strlen(reply) });
	while ((token = jp_jsonpull_next(&pull)) > JP_JSON_END) {
		const char *begin = pull.rest.ptr - 1;
		if (token != JP_JSON_OBJECT || pull.depth != 2 || !pull.key.raw.ptr ||
		    !jp_json_means(&pull.key, "stats"))
			continue;
		if (jp_jsonpull_skip(&pull))
			return (struct jp_span){ begin, (size_t)(pull.rest.ptr - begin) };
	}
	return (struct jp_span){ 0 };
}

int jprof_agent_stats(struct jprof_agent *agent, const char **json, struct jprof_error *err)
{
	if (jp_null(err, agent, json))
		return JPROF_E_ARGUMENT;
	struct jprof_json *jp_cleanup(jp_json_release) object = NULL;
	struct jp_reply jp_cleanup(jp_reply_release) reply = { 0 };
	int rc = ask_for(agent, "stats\n", agent->timeout, &object, &reply, err);
	if (rc)
		return rc;
	struct jp_span stats = find_stats(reply.line);
	if (!stats.len)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "%s gives no stats", agent->name);
	char *text = strndup(stats.ptr, stats.len);
	if (!text)
		return jp_error_nomem(err);
	free(agent->stats);
	agent->stats = text;
	*json = agent->stats;
	return 0;
}

int jprof_agent_set_active(struct jprof_agent *agent, bool active, bool *was, struct jprof_error *err)
{
	if (jp_null(err, agent, was))
		return JPROF_E_ARGUMENT;
	struct jprof_json *jp_cleanup(jp_json_release) object = NULL;
	int rc = ask_for_text(agent, active ? "activate\n" : "deactivate\n", &object, err);
	if (!rc)
		*was = jp_json_true(object, "was");
	return rc;
}

void jprof_agent_free(struct jprof_agent *agent)
{
	if (!agent)
		return;
	jp_file_close(&agent->fd);
	jp_file_close(&agent->table_fd);
	jp_file_close(&agent->graph_fd);
	jp_reply_release(&agent->dump_reply);
	jp_arena_release(&agent->arena);
	jp_arena_release(&agent->dump_arena);
	free(agent->stats);
	free(agent);
}
