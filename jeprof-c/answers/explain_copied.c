#include "answers/explain_copied.h"

#include <stdio.h>
#include <stdlib.h>

#include "answers/explain_text.h"
#include "cli/answer.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "jprof-live.h"
#include "snap/opener.h"

enum { most_copied_rows = 12, file_ms = 30000 };

static const double least_copied = 1 << 20;

/* The processes that are compared with their parents, and what was found. */
struct forks {
	struct jprof_copies *copies;
	char first[512]; /* "process 4712: Puma worker" */
	int parent;
	uint64_t rss; /* of all */
	unsigned count;
};

/* ---- which ------------------------------------------------------------------------------------------------------ */

static struct jprof_processes *processes_of(const struct jprof_processes_opts *opts)
{
	struct jprof_processes *list = NULL;
	struct jprof_error err;
	if (jprof_processes_new(opts, &list, &err))
		say_error(&err);
	return list;
}

static struct jprof_processes *processes_of_pid(int pid)
{
	return processes_of(&(struct jprof_processes_opts){
	    .size = sizeof(struct jprof_processes_opts), .pids = &pid, .pid_count = 1 });
}

static void describe_fork(struct forks *f, const struct jprof_process *p)
{
	if (!f->count++)
		snprintf(f->first, sizeof f->first, "process %d: %s%s%s", p->pid, *p->server ? p->server : p->name,
		         *p->role ? " " : "", p->role);
	f->parent = p->ppid;
	f->rss += p->rss;
}

/* Compares a process with its parent. 0, or a code with the reason in *err. */
static int add_fork(struct forks *f, const struct jprof_process *p, struct jprof_error *err)
{
	struct jprof_processes *parents = processes_of_pid(p->ppid);
	struct jprof_target *target = NULL, *parent = NULL;
	struct opener *opener = NULL;
	*err = (struct jprof_error){ 0 };
	int rc = parents ? jprof_target_open(p, NULL, &target, err) : JPROF_E_IO;
	if (!rc && p->ppid <= 0)
		rc = JPROF_E_FORMAT;
	rc = rc ? rc : jprof_target_open(jprof_processes_at(parents, 0), NULL, &parent, err);
	if (!rc) /* without it no file is opened, and classes have no names */
		(void)shortage_note_code(opener_start(&opener, target, p, file_ms, err));
	rc = rc ? rc : jprof_target_copies(target, parent, &f->copies, err);
	if (!rc)
		describe_fork(f, p);
	jprof_target_free(target);
	jprof_target_free(parent);
	opener_end(opener);
	jprof_processes_free(parents);
	return rc;
}

/* Those of a list that are forks of the parent that they have; false after having said what is wrong. */
static bool add_forks(struct forks *f, struct jprof_processes *list, const struct jprof_process *of)
{
	struct jprof_error err;
	bool good = list;
	for (size_t i = 0; good && i < jprof_processes_count(list); i++) {
		const struct jprof_process *p = jprof_processes_at(list, i);
		bool wanted = of ? p->ppid == of->pid : p->ppid == p->service; /* a master's parent is anybody */
		int rc = wanted && p->state == JPROF_PROCESS_ALIVE ? add_fork(f, p, &err) : 0;
		good = !rc || rc == JPROF_E_FORMAT;
		if (!good)
			say_error(&err);
	}
	jprof_processes_free(list);
	return good;
}

/* A process that is a fork of its parent, or else its children that are forks of it. */
static bool add_forks_of_pid(struct forks *f, int pid)
{
	struct jprof_processes *list = processes_of_pid(pid);
	const struct jprof_process *p = list ? jprof_processes_at(list, 0) : NULL;
	const struct jprof_processes_opts children = { .size = sizeof children, .children_of = pid };
	struct jprof_error err;
	int rc = p ? add_fork(f, p, &err) : JPROF_E_IO;
	bool has_other_parent = p && (rc == JPROF_E_FORMAT || rc == JPROF_E_IO); /* which nobody may read, too */
	bool good = !rc || (has_other_parent && add_forks(f, processes_of(&children), p));
	if (p && ((rc && !has_other_parent) || (good && !f->count && rc == JPROF_E_IO)))
		say_error(&err);
	else if (good && !f->count)
		say("process %d: it was not forked from its parent's program, and no child was forked from it: nothing is shared",
		    pid);
	jprof_processes_free(list);
	return good && f->count;
}

static bool add_forks_of_puma(struct forks *f, const char *word)
{
	const struct jprof_processes_opts opts = { .size = sizeof opts, .puma = !*word, .puma_of = atoi(word) };
	bool good = add_forks(f, processes_of(&opts), NULL);
	if (good && !f->count)
		say("no Puma with workers was found; jprof snap alone lists the processes that are there");
	return good && f->count;
}

/* ---- what is said -------------------------------------------------------------------------------------------------
 */

static void add_changed_objects(struct jp_strbuf *text, const char *class, double objects)
{
	jp_strbuf_printf(text, "%.0f ", objects);
	jp_strbuf_visible(text, class);
	jp_strbuf_str(text, *class ? " objects that were changed" : "objects of other classes that were changed");
}

static void add_copy_words(struct jp_strbuf *text, const struct jprof_copy *row, double processes)
{
	static const char *const words[JPROF_COPIES] = {
		[JPROF_COPY_NEW_OBJECTS] = "new objects, in slots that were free or had another type",
		[JPROF_COPY_SWEPT] = "slots whose objects are gone",
		[JPROF_COPY_GC] = "what Ruby's GC notes: marks, ages, free slots",
		[JPROF_COPY_FREED] = "memory that malloc has free",
		[JPROF_COPY_MALLOC] = "jemalloc's own data",
		[JPROF_COPY_FILES] = "variables of the program and of libraries",
		[JPROF_COPY_STACKS] = "thread stacks",
		[JPROF_COPY_OTHER] = "other memory: malloc's, if that is not jemalloc, and what was mapped",
		[JPROF_COPY_EQUAL] = "equal again, as a collection leaves pages",
	};
	double objects = (double)row->objects / processes;
	if (row->kind == JPROF_COPY_OBJECTS)
		add_changed_objects(text, row->name, objects);
	else if (row->kind == JPROF_COPY_BLOCKS)
		jp_strbuf_printf(text, "%.0f blocks of %llu bytes", objects, (unsigned long long)row->size);
	else if (row->kind == JPROF_COPY_NEW_OBJECTS || row->kind == JPROF_COPY_SWEPT)
		jp_strbuf_printf(text, "%.0f %s", objects, words[row->kind]);
	else
		jp_strbuf_str(text, words[row->kind]);
}

static struct jp_strbuf *add_copy_row(struct answer *a, double bytes, double all)
{
	answer_add(a, ANSWER_ROW);
	answer_add_value(a, ANSWER_AMOUNT, bytes);
	answer_add_value(a, ANSWER_SHARE, bytes * 100 / all);
	struct jp_strbuf *text = answer_add(a, ANSWER_WORDS);
	jp_strbuf_str(text, "  ");
	return text;
}

static void add_copy_table(struct answer *a, const struct forks *f)
{
	const struct jprof_copies_total total = jprof_copies_total(f->copies);
	double n = total.processes, all = total.copied / n, rest = all;
	const struct jprof_copy *row;
	jp_strbuf_str(answer_add(a, ANSWER_TABLE), "     MB  share  what was changed on these pages");
	for (size_t i = 0; (row = jprof_copies_at(f->copies, i)) && i < most_copied_rows; i++) {
		if (row->bytes / n < 0.05 * mb)
			break;
		add_copy_words(add_copy_row(a, row->bytes / n, all), row, n);
		rest -= row->bytes / n;
	}
	if (rest >= 0.05 * mb)
		jp_strbuf_str(add_copy_row(a, rest, all), "others");
	jp_strbuf_str(add_copy_row(a, all, all), "copied since the fork");
}

/* The sentence that is looked for: what was changed most, but for what follows from it. */
static void add_copy_sentence(struct answer *a, const struct forks *f)
{
	const struct jprof_copies_total total = jprof_copies_total(f->copies);
	double n = total.processes;
	const struct jprof_copy *most = jprof_copies_at(f->copies, 0);
	if (most && most->kind == JPROF_COPY_EQUAL && jprof_copies_count(f->copies) > 1)
		most = jprof_copies_at(f->copies, 1);
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "%s%.1f of %.1f MB were copied since the fork from process %d",
	                 n > 1 ? "In each of them " : "", total.copied / n / mb, (double)f->rss / f->count / mb,
	                 f->parent);
	if (total.copied / n < least_copied || !most) {
		jp_strbuf_str(text, ": nothing to speak of.");
		return;
	}
	jp_strbuf_printf(text, ", %.1f MB for ", most->bytes / n / mb);
	add_copy_words(text, most, n);
	jp_strbuf_printf(text, ". %.1f MB are still shared, %.1f MB are new since then.", total.shared / n / mb,
	                 total.fresh / n / mb);
}

static void fill_copied(struct answer *a, const struct forks *f)
{
	const struct jprof_copies_total total = jprof_copies_total(f->copies);
	struct jp_strbuf *head = answer_add(a, ANSWER_HEAD);
	if (f->count > 1)
		jp_strbuf_printf(head, "%u processes that were forked from process %d", f->count, f->parent);
	else
		jp_strbuf_visible(head, f->first);
	add_copy_sentence(a, f);
	if (total.copied / total.processes < least_copied)
		return;
	add_copy_table(a, f);
	jp_strbuf_str(
	    answer_add(a, ANSWER_NOTE),
	    "A page is copied as a whole when a byte of it is written, by the process or by its parent. Where several "
	    "things were changed on one, each has an equal part. An object that was changed may be a new one in the "
	    "slot of another.");
}

bool explain_copied(const struct options *o, struct sink *sink)
{
	struct forks forks = { 0 };
	struct answer answer = { 0 };
	struct sink_text text;
	int pid = o->operand_count == 1 ? atoi(o->operands[0]) : 0;
	if (!o->puma && pid <= 0) {
		say("--copied is for one live process that was forked, or for a parent of such: give its pid, or --puma");
		return false;
	}
	if (!(o->puma ? add_forks_of_puma(&forks, o->puma) : add_forks_of_pid(&forks, pid))) {
		jprof_copies_free(forks.copies);
		return false;
	}
	fill_copied(&answer, &forks);
	sink_text_open(&text);
	if (text.file)
		answer_put_text(text.file, &answer, explain_columns);
	answer_release(&answer);
	jprof_copies_free(forks.copies);
	return sink_text_write(&text, sink);
}
