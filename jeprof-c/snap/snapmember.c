#include "snap/snapmember.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cachedir.h"
#include "cli/packdirs.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/wholefile.h"
#include "snap/interrupt.h"
#include "snap/opener.h"
#include "snap/snapdump.h"

/* The work on one process. */
struct member {
	const struct jprof_process *process;
	struct jprof_processes *renewed; /* which process is from, if it had to be looked at again */
	const struct snap_options *options;
	struct leftovers *leftovers;
	bool noted; /* dump and opener are theirs */
	struct jprof_target *target;
	struct opener *opener; /* NULL: the caller opens its files */
	struct snap_dump dump;
	struct jprof_profile *profile;
	char *text; /* of the dump */
	size_t len;
	char *sidecar; /* its text, or NULL */
	size_t sidecar_len;
	char *table; /* likewise */
	size_t table_len;
	double named; /* share of bytes; below 0: not known */
};

/* ---- reading ---------------------------------------------------------------------------------------------- */

/* All of an open file, to be freed. NULL with errno set. No dump is as large as the limit: that file is another. */
static char *read_whole(int fd, size_t *len)
{
	enum { limit = 1 << 30 };
	struct stat st;
	size_t room = fstat(fd, &st) || st.st_size < 0 ? 0 : (size_t)st.st_size;
	if (room > limit) {
		errno = EFBIG;
		return NULL;
	}
	char *text = malloc(room + 1);
	for (*len = 0; text && *len < room;) {
		ssize_t n = pread(fd, text + *len, room - *len, (off_t)*len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text);
			return NULL;
		}
		if (!n)
			break;
		*len += (size_t)n;
	}
	return text;
}

static bool cannot_read(const struct member *m, const struct jprof_dump_file *file)
{
	say("process %d: its file %s cannot be read: %s", m->process->pid, jprof_dump_file_name(file), strerror(errno));
	return false;
}

/* The side-car tells which builds of its files the process has. */
static bool take_sidecar(struct member *m)
{
	struct jprof_error err;
	if (!m->dump.sidecar)
		return true;
	m->sidecar = read_whole(jprof_dump_file_fd(m->dump.sidecar), &m->sidecar_len);
	if (!m->sidecar)
		return cannot_read(m, m->dump.sidecar);
	if (jprof_profile_sidecar(m->profile, m->sidecar, m->sidecar_len, &err))
		say_error(&err);
	return true;
}

static bool take_table(struct member *m)
{
	if (!m->dump.table)
		return true;
	m->table = read_whole(jprof_dump_file_fd(m->dump.table), &m->table_len);
	return m->table || cannot_read(m, m->dump.table);
}

static bool read_dump(struct member *m)
{
	struct jprof_error err;
	m->text = read_whole(jprof_dump_file_fd(m->dump.dump), &m->len);
	if (!m->text)
		return cannot_read(m, m->dump.dump);
	if (!take_table(m))
		return false;
	const struct jprof_profile_opts opts = { .size = sizeof opts, .table = m->table, .table_len = m->table_len };
	if (!jprof_profile_parse(m->text, m->len, jprof_dump_file_name(m->dump.dump), &opts, &m->profile, &err))
		return take_sidecar(m);
	say_error(&err);
	return false;
}

/* ---- names ------------------------------------------------------------------------------------------------- */

static void count_named(struct member *m)
{
	const struct jprof_view_opts opts = { .size = sizeof opts, .fold = JPROF_FOLD_RAW };
	struct jprof_coverage *coverage;
	struct jprof_view *view;
	if (jprof_view_new(m->profile, &opts, &view, NULL))
		return;
	if (!jprof_coverage_new(view, &coverage, NULL)) {
		m->named = jprof_coverage_named(coverage);
		jprof_coverage_free(coverage);
	}
	jprof_view_free(view);
}

/* While a process ends its root goes before the process does. */
static bool member_has_ended(const struct member *m, const char *root)
{
	struct stat st;
	return jprof_target_check(m->target, NULL) || (stat(root, &st) && (errno == ENOENT || errno == ESRCH));
}

/* Object files are looked for where the process sees them. */
static bool symbolize_member(struct member *m)
{
	char root[64];
	struct jprof_error err;
	const struct jprof_process *p = m->process;
	char *dirs = pack_dirs(), *cache = cache_dir_for_processes();
	struct jprof_symbolize_opts opts = {
		.size = sizeof opts,
		.names_dirs = dirs,
		.cache = cache,
		.finder = sandbox_finder(m->options->no_sandbox),
		.sysroot = root,
		.debug_dir = m->options->debug_dir,
		.debuginfod = m->options->debuginfod,
		.perf_map_pid = (uint64_t)p->ns_pid,
		.perf_map_uid = p->uid,
		.live_pid = p->pid,
		.opener = opener_functions(m->opener),
	};
	snprintf(root, sizeof root, "/proc/%d/root", p->pid);
	int rc = jprof_profile_symbolize(m->profile, &opts, &err);
	sandbox_end();
	free(dirs);
	free(cache);
	if (rc) {
		if (member_has_ended(m, root))
			say("process %d: has ended meanwhile: the bundle has its dump, without names", p->pid);
		else
			say_error(&err);
		return false;
	}
	count_named(m);
	for (size_t i = 0; i < jprof_profile_notes(m->profile); i++)
		say("process %d: %s%s", p->pid, jprof_profile_note(m->profile, i),
		    advice_after(jprof_profile_note_advice(m->profile, i)));
	return true;
}

/* ---- into the bundle ------------------------------------------------------------------------------------------ */

static int64_t time_of(const struct member *m)
{
	struct stat st;
	return m->dump.sidecar || fstat(jprof_dump_file_fd(m->dump.dump), &st) ? 0 : (int64_t)st.st_mtime;
}

static struct jprof_bundle_member member_of_process(const struct jprof_process *p)
{
	return (struct jprof_bundle_member){
		.size = sizeof(struct jprof_bundle_member),
		.pid = (uint64_t)p->pid,
		.start_ticks = p->start_ticks,
		.program = *p->program ? p->program : NULL,
		.title = p->title,
		.role = p->role,
	};
}

static int begin_member(const struct member *m, struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	struct jprof_bundle_member member = member_of_process(m->process);
	member.label = m->options->label;
	member.time = time_of(m);
	return jprof_bundle_writer_member(writer, &member, err);
}

/* Where the agent may not draw the graph it is read as that of a process without one. */
static void say_of_graph(const struct member *m, const char *why_not)
{
	if (why_not)
		say("process %d: there is no graph of its objects: %s; dumped without", m->process->pid,
		    m->dump.graph_why);
	else
		say("process %d: the graph of its objects was read from outside, without names of variables: %s",
		    m->process->pid, m->dump.graph_why);
}

/* What points to its memory no dump says. */
static int add_beside_dump(struct member *m, struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	struct jprof_heap_opts opts = snap_heap_opts(m->options);
	struct jprof_heap_seen seen;
	opts.graph = *m->dump.graph_why;
	opts.beside = true;
	opts.if_much = m->options->glances && !opts.unreachable;
	opts.unreachable = opts.unreachable || m->options->glances;
	if (!opts.referrers && !opts.unreachable && !opts.graph)
		return 0;
	int rc = jprof_target_heap(m->target, &opts, writer, &seen, err);
	if (!rc && opts.graph)
		say_of_graph(m, seen.graph_why);
	return rc;
}

/* In an order that lets the dump's text go before names are looked for. A side-car has all build-ids. */
static int write_member(struct member *m, struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	int rc = begin_member(m, writer, err);
	if (!rc && m->dump.sidecar)
		rc = jprof_bundle_writer_file(writer, "agent.json", m->sidecar, m->sidecar_len, err);
	rc = rc ? rc : jprof_bundle_writer_file(writer, "dump.heap", m->text, m->len, err);
	if (!rc && m->table)
		rc = jprof_bundle_writer_file(writer, "frames", m->table, m->table_len, err);
	if (!rc && m->dump.graph)
		rc = jprof_bundle_writer_fd(writer, "graph", fileno(m->dump.graph), err);
	if (!rc && m->dump.buffers)
		rc = jprof_bundle_writer_file(writer, "buffers", m->dump.buffers, m->dump.buffers_len, err);
	snap_graph_free(&m->dump);
	free(m->text);
	m->text = NULL;
	rc = rc ? rc : jprof_target_gather(m->target, m->options->cmdline, writer, err);
	rc = rc ? rc : jprof_target_v8(m->target, writer, err);
	rc = rc ? rc : add_beside_dump(m, writer, err);
	bool now = m->options->symbols == SNAP_SYMBOLS_NOW;
	if (!rc && (now || !m->dump.sidecar) && symbolize_member(m))
		rc = jprof_bundle_writer_symbols(writer, m->profile, now, err);
	return rc;
}

static void show_progress(const struct member *m, double megabytes)
{
	if (strcmp(m->options->command, "snap") != 0 || !isatty(STDERR_FILENO))
		return; /* who takes snapshots for an answer has the terminal for that */
	char title[512];
	jprof_visible(m->process->title, title, sizeof title);
	fprintf(stderr, "snap %d %s: dump ", m->process->pid, title);
	if (m->dump.milliseconds >= 0)
		fprintf(stderr, "%.0f ms, ", m->dump.milliseconds);
	fprintf(stderr, "%.1f MB", megabytes);
	if (m->named >= 0)
		fprintf(stderr, ", symbols %.0f %%", m->named * 100);
	fputc('\n', stderr);
}

/* ---- what is left in the process's directory --------------------------------------------------------------------- */

/* Hands the files and their opener over to who removes them, as soon as they are known; they live as long as the round.
 * What cannot be noted stays there. */
static void note_files(struct member *m)
{
	struct leftovers *l = m->leftovers;
	if (!m->dump.own || !m->dump.dump)
		return;
	interrupt_hold();
	struct leftover *more = realloc(l->items, (l->count + 1) * sizeof *more);
	if (more) {
		l->items = more;
		more[l->count++] = (struct leftover){
			.dump = m->dump.dump, .sidecar = m->dump.sidecar, .table = m->dump.table, .opener = m->opener
		};
		m->noted = true;
	}
	interrupt_release();
}

static void remove_file(struct jprof_dump_file *file)
{
	struct jprof_error err;
	if (file && jprof_dump_file_remove(file, &err))
		say_error(&err);
}

/* The dump goes before its side-car and its table, so that none is ever without. */
void leftovers_remove(const struct leftovers *l, const struct snap_options *options)
{
	for (size_t i = 0; i < l->count && !options->keep_dumps; i++) {
		remove_file(l->items[i].dump);
		remove_file(l->items[i].sidecar);
		remove_file(l->items[i].table);
	}
}

void leftovers_end(struct leftovers *l)
{
	for (size_t i = 0; i < l->count; i++) {
		jprof_dump_file_free(l->items[i].dump);
		jprof_dump_file_free(l->items[i].sidecar);
		jprof_dump_file_free(l->items[i].table);
		opener_end(l->items[i].opener);
	}
	free(l->items);
	*l = (struct leftovers){ 0 };
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

static bool is_agent_thread(const char *pid, const char *thread)
{
	char path[320], name[32] = "";
	snprintf(path, sizeof path, "/proc/%s/task/%s/comm", pid, thread);
	return file_begin(path, name, sizeof name - 1) > 0 && !strcmp(name, "jprof-agent\n");
}

static bool has_agent_thread(const struct jprof_process *p)
{
	char path[64], pid[16];
	bool found = false;
	snprintf(pid, sizeof pid, "%d", p->pid);
	snprintf(path, sizeof path, "/proc/%s/task", pid);
	DIR *dir = opendir(path);
	for (struct dirent *e; dir && !found && (e = readdir(dir));)
		found = is_agent_thread(pid, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Whether an agent may be there that has not yet announced itself: that of a forked child takes its time, and a program
 * that was just begun (exec) may not even have a thread for it. */
static bool is_starting(const struct jprof_process *p, int tried)
{
	enum { until_thread = 10 };
	bool loaded = p->state == JPROF_PROCESS_ALIVE && p->agent_library && !p->agent_version;
	return loaded && (tried < until_thread || has_agent_thread(p));
}

/* Looks at the process again until its agent can be asked. */
static void let_it_start(struct member *m)
{
	enum { tries = 50, pause_ms = 100 };
	struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &m->process->pid, .pid_count = 1 };
	for (int i = 0; i < tries && is_starting(m->process, i); i++) {
		struct jprof_processes *again;
		poll(NULL, 0, pause_ms);
		if (jprof_processes_new(&opts, &again, NULL))
			return;
		if (jprof_processes_at(again, 0)->start_ticks != m->process->start_ticks) {
			jprof_processes_free(again);
			return;
		}
		m->process = jprof_processes_at(again, 0);
		opts.pids = &m->process->pid;
		jprof_processes_free(m->renewed);
		m->renewed = again;
	}
}

static bool make_dump(struct member *m)
{
	struct jprof_error err;
	let_it_start(m);
	if (jprof_target_open(m->process, NULL, &m->target, &err)) {
		say_error(&err);
		return false;
	}
	if (!m->options->trust && !m->process->agent_socket)
		return snap_dump(&m->dump, m->target, NULL, m->process, m->options); /* which says why it cannot */
	if (opener_start(&m->opener, m->target, m->process, snap_file_timeout(m->options), &err)) {
		say_error(&err);
		return false;
	}
	if (!snap_dump(&m->dump, m->target, opener_functions(m->opener), m->process, m->options))
		return false;
	note_files(m);
	return read_dump(m);
}

static int make_member(struct member *m, struct jprof_bundle_writer *writer)
{
	struct jprof_error err;
	if (!make_dump(m))
		return 0;
	double megabytes = (double)m->len / 1048576;
	if (write_member(m, writer, &err)) {
		say_error(&err);
		return -1;
	}
	show_progress(m, megabytes);
	return 1;
}

int snap_member(struct jprof_bundle_writer *writer, const struct jprof_process *process,
                const struct snap_options *options, struct leftovers *leftovers, struct collections *collections)
{
	struct member m = { .process = process, .options = options, .leftovers = leftovers, .named = -1 };
	int done = make_member(&m, writer);
	collections->rubies += done > 0 && m.process->ruby;
	collections->done += done > 0 && m.process->ruby && m.dump.collected;
	jprof_profile_free(m.profile);
	snap_graph_free(&m.dump);
	if (!m.noted)
		snap_dump_free(&m.dump);
	jprof_target_free(m.target);
	if (!m.noted)
		opener_end(m.opener);
	jprof_processes_free(m.renewed);
	free(m.text);
	free(m.sidecar);
	free(m.table);
	return done;
}

/* ---- from outside -------------------------------------------------------------------------------------------- */

bool snap_is_unprepared(const struct jprof_process *p)
{
	return p->state == JPROF_PROCESS_ALIVE && !p->agent_library && !p->agent_version && !p->agent_socket;
}

static void note_lost(void *lines, uint64_t address, uint64_t size)
{
	jp_strbuf_printf(lines, "0x%llx %llu\n", (unsigned long long)address, (unsigned long long)size);
}

struct jprof_heap_opts snap_heap_opts(const struct snap_options *options)
{
	return (struct jprof_heap_opts){ .size = sizeof(struct jprof_heap_opts),
		                         .referrers = options->referrers,
		                         .graph = options->objects,
		                         .unreachable = options->unreachable,
		                         .lost = options->lost ? note_lost : NULL,
		                         .context = options->lost };
}

int snap_keep_profile(void *context, const struct jprof_heap_dump *dump)
{
	struct snap_profile *p = context;
	p->text = malloc(dump->len);
	p->sidecar = malloc(dump->sidecar_len);
	if (!p->text || !p->sidecar)
		return -1;
	memcpy(p->text, dump->text, p->len = dump->len);
	memcpy(p->sidecar, dump->sidecar, p->sidecar_len = dump->sidecar_len);
	if (!dump->table)
		return 0;
	p->table = malloc(dump->table_len);
	if (p->table)
		memcpy(p->table, dump->table, p->table_len = dump->table_len);
	return p->table ? 0 : -1;
}

/* Of a program with prof:true, what its own prof.dump would have written. */
static int add_dump_of(struct member *m, const struct snap_profile *p, struct jprof_bundle_writer *writer,
                       struct jprof_error *err)
{
	char title[32];
	snprintf(title, sizeof title, "process %d", m->process->pid);
	int rc = jprof_bundle_writer_file(writer, "dump.heap", p->text, p->len, err);
	if (!rc && p->table)
		rc = jprof_bundle_writer_file(writer, "frames", p->table, p->table_len, err);
	const struct jprof_profile_opts opts = { .size = sizeof opts, .table = p->table, .table_len = p->table_len };
	rc = rc ? rc : jprof_profile_parse(p->text, p->len, title, &opts, &m->profile, err);
	rc = rc ? rc : jprof_profile_sidecar(m->profile, p->sidecar, p->sidecar_len, err);
	if (rc || !symbolize_member(m))
		return rc;
	return jprof_bundle_writer_symbols(writer, m->profile, m->options->symbols == SNAP_SYMBOLS_NOW, err);
}

/* 0, also where it may not be read, which is noted; or -1, and the writer can only be freed. */
static int add_heap_of(struct member *m, struct jprof_bundle_writer *writer, struct snap_heaps *heaps)
{
	struct snap_profile profile = { 0 };
	struct jprof_heap_seen seen;
	struct jprof_error err;
	/* Without it no file is opened. */
	(void)shortage_note_code(opener_start(&m->opener, m->target, m->process, snap_file_timeout(m->options), &err));
	struct jprof_heap_opts opts = snap_heap_opts(m->options);
	opts.dump = m->options->profiles ? snap_keep_profile : NULL;
	opts.dump_context = &profile;
	int rc = jprof_target_heap(m->target, &opts, writer, &seen, &err);
	heaps->read += !rc;
	heaps->refused += rc != 0;
	heaps->profiles += !rc && profile.text;
	if (!rc && profile.text)
		rc = add_dump_of(m, &profile, writer, &err);
	else if (!rc && m->options->profiles && seen.samples)
		say("process %d: it samples (prof:true), but its jemalloc keeps samples in a way that jprof does not "
		    "know: no profile was read",
		    m->process->pid);
	if (!rc && opts.graph && seen.graph_why && m->process->ruby)
		say("process %d: no graph of its objects: %s", m->process->pid, seen.graph_why);
	if (rc)
		heaps->why = err;
	jprof_target_use(m->target, NULL);
	opener_end(m->opener);
	jprof_profile_free(m->profile);
	free(profile.text);
	free(profile.sidecar);
	free(profile.table);
	return rc == JPROF_E_NOMEM || rc == JPROF_E_WRITE ? -1 : 0;
}

/* Why its memory is not in the bundle: without a jemalloc there is nothing to be read. */
static void say_not_read(const struct jprof_process *p, const struct jprof_error *why)
{
	if (why->code == JPROF_E_FORMAT)
		snap_say_why_not(p);
	else
		say_error(why);
}

/* As snap_outside, once the target is open. */
static int add_outside(struct member *m, struct jprof_bundle_writer *writer, struct snap_heaps *heaps,
                       struct jprof_error *err)
{
	const struct jprof_process *process = m->process;
	struct jprof_bundle_member member = member_of_process(process);
	unsigned refused = heaps ? heaps->refused : 0;
	member.label = m->options->label;
	member.time = time(NULL);
	if (jprof_bundle_writer_member(writer, &member, err))
		return -1;
	if (heaps && add_heap_of(m, writer, heaps)) {
		*err = heaps->why;
		return -1;
	}
	if (heaps && heaps->needed && heaps->refused > refused) {
		say_not_read(process, &heaps->why);
		return 0;
	}
	if (heaps && heaps->needed && snap_agent_was_lost(process))
		snap_say_why_not(process);
	return jprof_target_gather(m->target, m->options->cmdline, writer, err) ? -1 : 1;
}

int snap_outside(struct jprof_bundle_writer *writer, const struct jprof_process *process,
                 const struct snap_options *options, struct snap_heaps *heaps)
{
	struct member m = { .process = process, .options = options, .named = -1 };
	struct jprof_error err;
	bool open = !jprof_target_open(process, NULL, &m.target, &err);
	int done = open ? add_outside(&m, writer, heaps, &err) : 0;
	if (done < 0 || !open)
		say_error(&err);
	jprof_target_free(m.target);
	return done;
}
