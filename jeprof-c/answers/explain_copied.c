#include "answers/explain_copied.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers/explain_words.h"
#include "cli/jsonprint.h"
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
	bool silent; /* says nothing of what is wrong */
};

/* ---- which ------------------------------------------------------------------------------------------------------ */

static void say_of_forks(const struct forks *f, const struct jprof_error *err)
{
	(void)shortage_note_code(err->code);
	if (!f->silent)
		say_error(err);
}

static struct jprof_processes *processes_of(const struct forks *f, const struct jprof_processes_opts *opts)
{
	struct jprof_processes *list = NULL;
	struct jprof_error err;
	if (jprof_processes_new(opts, &list, &err))
		say_of_forks(f, &err);
	return list;
}

static struct jprof_processes *processes_of_pid(const struct forks *f, int pid)
{
	return processes_of(f, &(struct jprof_processes_opts){
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
	struct jprof_processes *parents = processes_of_pid(f, p->ppid);
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
			say_of_forks(f, &err);
	}
	jprof_processes_free(list);
	return good;
}

/* A process that is a fork of its parent, or else its children that are forks of it. */
static bool add_forks_of_pid(struct forks *f, int pid)
{
	struct jprof_processes *list = processes_of_pid(f, pid);
	const struct jprof_process *p = list ? jprof_processes_at(list, 0) : NULL;
	const struct jprof_processes_opts children = { .size = sizeof children, .children_of = pid };
	struct jprof_error err;
	int rc = p ? add_fork(f, p, &err) : JPROF_E_IO;
	bool has_other_parent = p && (rc == JPROF_E_FORMAT || rc == JPROF_E_IO); /* which nobody may read, too */
	bool good = !rc || (has_other_parent && add_forks(f, processes_of(f, &children), p));
	if (p && ((rc && !has_other_parent) || (good && !f->count && rc == JPROF_E_IO)))
		say_of_forks(f, &err);
	else if (good && !f->count && !f->silent)
		say("process %d: it was not forked from its parent's program, and no child was forked from it: nothing is shared",
		    pid);
	jprof_processes_free(list);
	return good && f->count;
}

static bool add_forks_of_puma(struct forks *f, const char *word)
{
	const struct jprof_processes_opts opts = { .size = sizeof opts, .puma = !*word, .puma_of = atoi(word) };
	bool good = add_forks(f, processes_of(f, &opts), NULL);
	if (good && !f->count && !f->silent)
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

/* What was changed most, but for what follows from it; NULL: nothing was copied. */
static const struct jprof_copy *most_copied(const struct jprof_copies *copies)
{
	const struct jprof_copy *most = jprof_copies_at(copies, 0);
	bool skips = most && most->kind == JPROF_COPY_EQUAL && jprof_copies_count(copies) > 1;
	return skips ? jprof_copies_at(copies, 1) : most;
}

/* The sentence that is looked for. */
static void add_copy_sentence(struct answer *a, const struct forks *f)
{
	const struct jprof_copies_total total = jprof_copies_total(f->copies);
	double n = total.processes;
	const struct jprof_copy *most = most_copied(f->copies);
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

struct forks *forks_find(const struct options *o, bool silent)
{
	struct forks *forks = shortage_note(calloc(1, sizeof *forks));
	int pid = o->operand_count == 1 ? atoi(o->operands[0]) : 0;
	if (!forks)
		return NULL;
	forks->silent = silent;
	if (!o->puma && pid <= 0)
		say("--copied is for one live process that was forked, or for a parent of such: give its pid, or "
		    "--puma");
	else if (o->puma ? add_forks_of_puma(forks, o->puma) : add_forks_of_pid(forks, pid))
		return forks;
	forks_free(forks);
	return NULL;
}

void forks_free(struct forks *forks)
{
	if (forks)
		jprof_copies_free(forks->copies);
	free(forks);
}

void forks_add_line(struct answer *a, const struct forks *f)
{
	if (!f || !jprof_copies_count(f->copies))
		return;
	const struct jprof_copies_total total = jprof_copies_total(f->copies);
	const struct jprof_copy *most = most_copied(f->copies);
	double n = total.processes;
	if (total.copied / n < least_copied)
		return;
	struct jp_strbuf *text = answer_add(a, ANSWER_NOTE);
	jp_strbuf_printf(text, "Copied since the fork: %.1f of %.1f MB in %s, %.1f MB of it for ",
	                 total.copied / n / mb, (double)f->rss / f->count / mb,
	                 f->count > 1 ? "each worker" : "the worker", most->bytes / n / mb);
	add_copy_words(text, most, n);
	jp_strbuf_str(text, " (--copied).");
}

/* Keys of kinds, as docs/internals/explain.schema.json has them. */
static const char *copy_key(enum jprof_copy_kind kind)
{
	static const char *const keys[JPROF_COPIES] = {
		[JPROF_COPY_OBJECTS] = "objects", [JPROF_COPY_NEW_OBJECTS] = "new_objects",
		[JPROF_COPY_SWEPT] = "swept",     [JPROF_COPY_GC] = "gc",
		[JPROF_COPY_BLOCKS] = "blocks",   [JPROF_COPY_FREED] = "freed",
		[JPROF_COPY_MALLOC] = "malloc",   [JPROF_COPY_FILES] = "files",
		[JPROF_COPY_STACKS] = "stacks",   [JPROF_COPY_OTHER] = "other",
		[JPROF_COPY_EQUAL] = "equal",
	};
	return keys[kind];
}

void forks_put_json(FILE *out, const struct forks *f)
{
	const struct jprof_copies_total total = jprof_copies_total(f->copies);
	const struct jprof_copy *row;
	double n = total.processes;
	json_print(out, "{\"parent\": %d, \"processes\": %u, \"rss\": %f, \"bytes\": %f, \"still_shared\": %f",
	           f->parent, f->count, (double)f->rss / f->count, total.copied / n, total.shared / n);
	json_print(out, ", \"new\": %f, \"rows\": [", total.fresh / n);
	for (size_t i = 0; (row = jprof_copies_at(f->copies, i)); i++) {
		json_print_at(out, i, "\n    {\"kind\": %s, \"name\": %s, \"size\": %f", copy_key(row->kind),
		              *row->name ? row->name : NULL, row->size ? (double)row->size : NAN);
		json_print(out, ", \"bytes\": %f, \"objects\": %f}", row->bytes / n,
		           row->objects ? (double)row->objects / n : NAN);
	}
	fputs("]}", out);
}

bool explain_copied(const struct options *o, struct sink *sink)
{
	struct answer answer = { 0 };
	struct sink_text text;
	struct forks *forks = forks_find(o, false);
	if (!forks)
		return false;
	fill_copied(&answer, forks);
	sink_text_open(&text);
	if (text.file)
		answer_put_text(text.file, &answer, explain_columns);
	answer_release(&answer);
	forks_free(forks);
	return sink_text_write(&text, sink);
}
