#include "doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shortage.h"

void findings_add(struct findings *f, const char *check, enum verdict verdict, const char *fix, const char *fmt, ...)
{
	struct finding item = { .check = check, .verdict = verdict, .fix = fix ? shortage_note(strdup(fix)) : NULL };
	va_list args;
	va_start(args, fmt);
	if (shortage_unprinted(vasprintf(&item.found, fmt, args)))
		item.found = NULL;
	va_end(args);
	struct finding *items = shortage_note(realloc(f->items, (f->count + 1) * sizeof *items));
	if (items)
		f->items = items;
	if (items && item.found && (item.fix || !fix)) {
		items[f->count++] = item;
		return;
	}
	free(item.found);
	free(item.fix);
}

void findings_free(struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->items[i].found);
		free(f->items[i].fix);
	}
	free(f->items);
	*f = (struct findings){ 0 };
}

typedef void check_fn(const struct scene *scene, struct findings *findings);

static check_fn *const checks[] = {
	check_program, check_run,     check_preload, check_jemalloc,  check_forks,   check_profiling, check_conf,
	check_refused, check_options, check_prof,    check_active,    check_rate,    check_recipe,    check_agent,
	check_ruby,    check_slots,   check_signal,  check_directory, check_symbols, check_children,  check_unseen,
};

/* It has no program, whoever asks. */
static bool is_kernel_thread(const struct jprof_process *p)
{
	char path[64], target[8];
	snprintf(path, sizeof path, "/proc/%d/exe", p->pid);
	return !*p->cmdline && readlink(path, target, sizeof target) < 0 && errno == ENOENT;
}

static bool is_over(const struct scene *scene, struct findings *f)
{
	const struct jprof_process *p = scene->process;
	if (!p || (p->state == JPROF_PROCESS_ALIVE && !is_kernel_thread(p)))
		return false;
	if (p->state == JPROF_PROCESS_ALIVE)
		findings_add(f, "process", VERDICT_BAD, "see jprof doctor for those that can be looked at",
		             "%d, %s, is a thread of the kernel: it has no memory to profile", p->pid, p->name);
	else if (p->state == JPROF_PROCESS_ZOMBIE)
		findings_add(f, "process", VERDICT_BAD, "look at its parent, which has not taken note of its end",
		             "%d, %s, is a zombie: it has ended", p->pid, p->name);
	else
		findings_add(f, "process", VERDICT_BAD, "see jprof doctor for those that are there",
		             "there is no process %d", p->pid);
	return true;
}

void doctor_look(const struct scene *scene, struct findings *findings)
{
	if (is_over(scene, findings))
		return;
	for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
		checks[i](scene, findings);
}
