/* Which processes are meant. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/pattern.h"
#include "base/search.h"
#include "collect/process.h"
#include "collect/procfs.h"

enum { deepest = 64 };

struct jprof_processes {
	struct jp_arena arena;
	struct jprof_process *items;
	size_t count, cap;
};

struct process_scan {
	struct jprof_processes_opts opts;
	struct jp_pattern *match;
	struct jp_arena *arena;
	struct jprof_process *all; /* by ascending pid */
	size_t count, cap;
};

static void close_proc(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* A directory of /proc that is a process; 0: it is none. */
static int pid_of(const char *name)
{
	char *end;
	if (!isdigit((unsigned char)*name))
		return 0;
	long n = strtol(name, &end, 10);
	return !*end && n > 0 && n <= INT_MAX ? (int)n : 0;
}

static int process_failed(const struct jprof_process *p, struct jprof_error *err)
{
	return p->error ? jp_proc_error(err, p->pid, p->error) : 0;
}

/* Then the others matter for roles and services alone. */
static bool looks_only_at_pids(const struct jprof_processes_opts *o)
{
	return o->pid_count && !o->match && !o->children_of && !o->puma;
}

static int add_seen(struct process_scan *scan, int pid, struct jprof_error *err)
{
	struct jprof_process seen = { .pid = pid };
	if (jp_process_read_basics(scan->arena, scan->opts.proc, &seen) ||
	    jp_array_push(scan->all, scan->count, scan->cap))
		return jp_error_nomem(err);
	if (seen.state != JPROF_PROCESS_ENDED)
		scan->all[scan->count++] = seen;
	return looks_only_at_pids(&scan->opts) ? 0 : process_failed(&seen, err);
}

static int by_pid(const void *a, const void *b)
{
	const struct jprof_process *x = a, *y = b;
	return jp_order(x->pid, y->pid);
}

static int look_at_all(struct process_scan *scan, struct jprof_error *err)
{
	DIR *jp_cleanup(close_proc) dir = opendir(scan->opts.proc);
	if (!dir)
		return jp_error(err, JPROF_E_IO, scan->opts.proc, 0, "cannot be read: %s", strerror(errno));
	struct dirent *entry;
	int rc = 0;
	while (errno = 0, !rc && (entry = readdir(dir))) {
		int pid = pid_of(entry->d_name);
		rc = pid ? add_seen(scan, pid, err) : 0;
	}
	if (!rc && errno && !looks_only_at_pids(&scan->opts))
		rc = jp_error(err, JPROF_E_IO, scan->opts.proc, 0, "cannot be read: %s", strerror(errno));
	if (rc)
		return rc;
	if (scan->count)
		qsort(scan->all, scan->count, sizeof *scan->all, by_pid);
	return 0;
}

static struct jprof_process *find_pid(const struct process_scan *scan, int pid)
{
	struct jprof_process key = { .pid = pid };
	return scan->count ? bsearch(&key, scan->all, scan->count, sizeof key, by_pid) : NULL;
}

static bool is_worker(const struct jprof_process *p, const char *server)
{
	return !strcmp(p->role, "worker") && !strcmp(p->server, server);
}

/* Whether what was forked there has its parent's title: a worker that has none yet, or a child that asked for none. */
static bool is_copy_of(const struct jprof_process *p, const struct jprof_process *parent)
{
	return !strcmp(p->title, parent->title) && !strcmp(p->cmdline, parent->cmdline);
}

/* The process at the top of the service that `p` is part of: workers belong to their parent's. */
static const struct jprof_process *top_of_service(const struct process_scan *scan, const struct jprof_process *p)
{
	for (int i = 0; i < deepest; i++) {
		const struct jprof_process *parent = find_pid(scan, p->ppid);
		if (!parent || strcmp(parent->server, p->server) != 0 ||
		    !(is_worker(p, parent->server) || is_copy_of(p, parent)))
			break;
		p = parent;
	}
	return p;
}

static void find_services(struct process_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++) {
		struct jprof_process *p = &scan->all[i];
		p->service = *p->server ? top_of_service(scan, p)->pid : 0;
	}
}

static bool is_asked_for(const struct process_scan *scan, const struct jprof_process *p, int service)
{
	const struct jprof_processes_opts *o = &scan->opts;
	if (p->pid == getpid())
		return false;
	if (!o->match && !o->children_of && !o->puma && !o->pid_count)
		return true;
	if (scan->match && jp_pattern_found(scan->match, p->cmdline, strlen(p->cmdline)))
		return true;
	if (o->children_of && p->ppid == o->children_of)
		return true;
	return o->puma && !strcmp(p->server, "puma") && (!o->puma_of || p->service == service);
}

static bool is_candidate(const struct jprof_process *p)
{
	return p->state == JPROF_PROCESS_ALIVE && (p->ruby || p->jemalloc || p->agent_version);
}

static bool is_listed(const struct jprof_processes *list, int pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid)
			return true;
	return false;
}

static int list_process(struct jprof_processes *list, const struct jprof_process *p)
{
	if (jp_array_push(list->items, list->count, list->cap))
		return -1;
	list->items[list->count++] = *p;
	return 0;
}

/* Those asked for by pid, whatever they are. */
static int add_pids(struct process_scan *scan, struct jprof_processes *list)
{
	for (size_t i = 0; i < scan->opts.pid_count; i++) {
		struct jprof_process p = { .pid = scan->opts.pids[i] };
		if (jp_process_read(&list->arena, scan->opts.proc, &p))
			return -1;
		const struct jprof_process *seen = find_pid(scan, p.pid);
		if (seen && p.state == JPROF_PROCESS_ALIVE) {
			p.role = *p.role ? p.role : seen->role;
			p.service = seen->service;
		}
		if (!is_listed(list, p.pid) && list_process(list, &p))
			return -1;
	}
	return 0;
}

static int add_selected(struct process_scan *scan, struct jprof_processes *list, struct jprof_error *err)
{
	const struct jprof_process *meant = find_pid(scan, scan->opts.puma_of);
	int service = meant ? meant->service : 0;
	for (size_t i = 0; i < scan->count; i++) {
		struct jprof_process *p = &scan->all[i];
		if (p->state != JPROF_PROCESS_ALIVE || !is_asked_for(scan, p, service))
			continue;
		if (jp_process_read_maps(&list->arena, scan->opts.proc, p))
			return jp_error_nomem(err);
		if (p->error)
			return process_failed(p, err);
		if (jp_proc_start_ticks(scan->opts.proc, p->pid) == p->start_ticks && is_candidate(p) &&
		    !is_listed(list, p->pid) && list_process(list, p))
			return jp_error_nomem(err);
	}
	return 0;
}

static int fill_list(struct process_scan *scan, struct jprof_processes *list, struct jprof_error *err)
{
	const char *match = scan->opts.match;
	int rc = match ? jp_pattern_new(match, "match", &scan->match, err) : 0;
	rc = rc ? rc : look_at_all(scan, err);
	if (rc)
		return rc;
	/* A server whose children are workers is a master. */
	for (size_t i = 0; i < scan->count; i++) {
		struct jprof_process *p = &scan->all[i];
		struct jprof_process *parent = *p->role ? find_pid(scan, p->ppid) : NULL;
		if (parent && is_worker(p, parent->server) && !*parent->role)
			parent->role = "master";
	}
	find_services(scan);
	return add_pids(scan, list) ? jp_error_nomem(err) : add_selected(scan, list, err);
}

int jprof_processes_new(const struct jprof_processes_opts *opts, struct jprof_processes **out, struct jprof_error *err)
{
	if (jp_null(err, out))
		return JPROF_E_ARGUMENT;
	struct process_scan scan = { 0 };
	int rc = jp_opts_take(&scan.opts, sizeof scan.opts, opts, err);
	if (rc)
		return rc;
	if (scan.opts.pid_count && jp_null(err, scan.opts.pids))
		return JPROF_E_ARGUMENT;
	struct jprof_processes *list = calloc(1, sizeof *list);
	if (!list)
		return jp_error_nomem(err);
	if (!scan.opts.proc)
		scan.opts.proc = "/proc";
	scan.opts.puma = scan.opts.puma || scan.opts.puma_of;
	scan.arena = &list->arena;
	rc = fill_list(&scan, list, err);
	jp_pattern_free(scan.match);
	free(scan.all);
	if (rc) {
		jprof_processes_free(list);
		return rc;
	}
	*out = list;
	return 0;
}

size_t jprof_processes_count(const struct jprof_processes *list)
{
	return list ? list->count : 0;
}

const struct jprof_process *jprof_processes_at(const struct jprof_processes *list, size_t i)
{
	return list && i < list->count ? &list->items[i] : NULL;
}

void jprof_processes_free(struct jprof_processes *list)
{
	if (!list)
		return;
	jp_arena_release(&list->arena);
	free(list->items);
	free(list);
}
