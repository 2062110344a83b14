#include "machine/flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"

enum { largest_followed = 1 << 18, most_labels = 1 << 12, most_rounds = 24 };

/* Where code comes together. */
struct label {
	uint64_t at; /* first, for jp_last_up_to */
	struct jp_registers registers;
	bool unknown; /* it is come to from where nothing is known */
};

struct flow_work {
	const struct jp_flow *flow;
	const struct jp_function_bounds *function;
	const unsigned char *code;
	size_t len;            /* what can be decoded */
	struct jp_insn *insns; /* all of that */
	size_t insn_count, insn_cap;
	struct label *labels;
	size_t label_count, label_cap;
	struct jp_memory quiet; /* stores nothing */
	bool wild;              /* jumps to where nobody knows */
	bool settled;           /* code that nobody was seen to come to up to now stays so */
	bool changed, final;
};

/* ---- labels --------------------------------------------------------------------------------------- */

static struct label *label_at(struct flow_work *w, uint64_t at)
{
	struct label *l = (struct label *)jp_last_up_to(w->labels, w->label_count, sizeof *w->labels, at);
	return l && l->at == at ? l : NULL;
}

static bool lies_inside(const struct flow_work *w, uint64_t at)
{
	return at >= w->function->start && at - w->function->start < w->len;
}

static int add_label_at(struct flow_work *w, uint64_t at, bool is_entry)
{
	if (jp_array_push(w->labels, w->label_count, w->label_cap))
		return -1;
	memset(&w->labels[w->label_count], 0, sizeof *w->labels);
	w->labels[w->label_count].at = at;
	w->labels[w->label_count++].unknown = is_entry;
	return 0;
}

static int by_label(const void *a, const void *b)
{
	const struct label *x = a, *y = b;
	return jp_order_by(x->at, y->at, jp_order(y->unknown, x->unknown));
}

static bool goes_to(const struct jp_insn *insn)
{
	return insn->kind == JP_INSN_BRANCH || insn->kind == JP_INSN_JUMP;
}

/* 0, 1 where there are too many, or -1. */
static int add_entries(struct flow_work *w)
{
	const struct jp_flow *f = w->flow;
	size_t i = jp_count_below(f->entries, f->entry_count, sizeof *f->entries, w->function->start);
	int rc = 0;
	for (const size_t first = i; !rc && i < f->entry_count && f->entries[i] < w->function->end; i++) {
		bool again = i > first && f->entries[i - 1] == f->entries[i];
		if (!again)
			rc = w->label_count > 16 * (size_t)most_labels ? 1 : add_label_at(w, f->entries[i], true);
	}
	return rc;
}

static void sort_labels(struct flow_work *w)
{
	size_t kept = 0;
	if (w->label_count)
		qsort(w->labels, w->label_count, sizeof *w->labels, by_label);
	for (size_t i = 0; i < w->label_count; i++)
		if (!kept || w->labels[kept - 1].at != w->labels[i].at)
			w->labels[kept++] = w->labels[i];
	w->label_count = kept;
}

/* Decodes the next instruction. 1, 0 where there is none, or -1. */
static int decode_next(struct flow_work *w, size_t at, size_t room)
{
	if (jp_array_push(w->insns, w->insn_count, w->insn_cap))
		return -1;
	struct jp_insn *insn = &w->insns[w->insn_count];
	if (at >= room || !w->flow->calling->decode(w->code + at, room - at, w->function->start + at, insn))
		return 0;
	w->insn_count++;
	return 1;
}

/* Decodes all of it, once. 0, 1 where that is too much, or -1. */
static int find_labels(struct flow_work *w)
{
	uint64_t start = w->function->start;
	size_t room = w->len, at = 0;
	int next;
	for (; (next = decode_next(w, at, room)) == 1; at += w->insns[w->insn_count - 1].len) {
		const struct jp_insn *insn = &w->insns[w->insn_count - 1];
		bool inside = insn->value >= start && insn->value - start < room;
		if (goes_to(insn) && inside && add_label_at(w, insn->value, false))
			return -1;
		if (w->label_count > 16 * (size_t)most_labels)
			return 1;
	}
	if (next < 0)
		return -1;
	/* What comes behind may jump back to anywhere. */
	w->wild = w->wild || at < room;
	w->len = at;
	int rc = add_entries(w);
	if (rc)
		return rc;
	sort_labels(w);
	return w->label_count > most_labels;
}

/* ---- one way through ------------------------------------------------------------------------------ */

static void join_label(struct flow_work *w, struct label *label, const struct jp_registers *r)
{
	if (label && !label->unknown && jp_registers_join(&label->registers, r))
		w->changed = true;
}

static void make_unknown(struct flow_work *w, struct label *label)
{
	if (!label || label->unknown)
		return;
	label->unknown = true;
	w->changed = true;
}

static void do_call(struct flow_work *w, struct jp_registers *r, const struct jp_insn *insn, uint64_t at)
{
	const struct jp_flow *f = w->flow;
	struct jp_call call = { .at = at, .target = jp_insn_target(r, insn, &w->quiet) };
	for (size_t i = 0; i < jp_count(call.arguments); i++)
		call.arguments[i] = r->of[f->calling->arguments[i]];
	jp_registers_call(r, f->call(f->context, &call, w->final));
}

static void go_wild(struct flow_work *w)
{
	w->changed = w->changed || !w->wild;
	w->wild = true;
}

/* A jump out of the function calls another one. */
static void do_jump(struct flow_work *w, struct jp_registers *r, const struct jp_insn *insn, uint64_t at)
{
	if (jp_insn_target(r, insn, &w->quiet).kind == JP_VALUE_UNKNOWN)
		go_wild(w);
	if (insn->kind == JP_INSN_JUMP && lies_inside(w, insn->value))
		join_label(w, label_at(w, insn->value), r);
	else
		do_call(w, r, insn, at);
	r->live = false;
}

static void follow_insn(struct flow_work *w, struct jp_registers *r, const struct jp_insn *insn, uint64_t at)
{
	switch (insn->kind) {
	case JP_INSN_CALL:
	case JP_INSN_CALL_TO:
	case JP_INSN_CALL_BY: do_call(w, r, insn, at); break;
	case JP_INSN_JUMP:
	case JP_INSN_JUMP_TO:
	case JP_INSN_JUMP_BY: do_jump(w, r, insn, at); break;
	case JP_INSN_END: r->live = false; break;
	case JP_INSN_BRANCH:
		jp_registers_apply(r, insn, &w->quiet);
		join_label(w, label_at(w, insn->value), r);
		break;
	default: jp_registers_apply(r, insn, w->final ? w->flow->memory : &w->quiet);
	}
}

/* Code that is not followed goes there. */
static void leave_dead(struct flow_work *w, const struct jp_insn *insn)
{
	if (goes_to(insn))
		make_unknown(w, label_at(w, insn->value));
	else if (insn->kind == JP_INSN_JUMP_TO || insn->kind == JP_INSN_JUMP_BY)
		go_wild(w);
}

/* Once through the function. Code that nobody is seen to come to (a handler of exceptions, a case of a switch) is not
 * followed, but where it goes to nothing is known. */
static void follow_once(struct flow_work *w)
{
	uint64_t at = w->function->start;
	struct jp_registers r;
	size_t next = 0;
	bool dead_code = false;
	jp_registers_begin(&r, w->flow->calling);
	for (size_t i = 0; i < jp_count(w->flow->arguments); i++)
		r.of[w->flow->calling->arguments[i]] = w->flow->arguments[i];
	for (size_t i = 0; i < w->insn_count; at += w->insns[i++].len) {
		const struct jp_insn *insn = &w->insns[i];
		/* A label inside an instruction: the code is read in two ways. */
		for (; next < w->label_count && w->labels[next].at <= at; next++) {
			struct label *label = &w->labels[next];
			if (label->at < at || (dead_code && w->settled) || w->wild)
				make_unknown(w, label);
			join_label(w, label, &r);
			r = label->registers;
			if (label->unknown || label->at < at)
				jp_registers_forget(&r, w->flow->calling);
			dead_code = false;
		}
		dead_code = !r.live && (dead_code || insn->kind != JP_INSN_PADDING);
		if (r.live)
			follow_insn(w, &r, insn, at);
		else if (w->settled)
			leave_dead(w, insn);
		if (dead_code && (insn->kind == JP_INSN_END || insn->kind == JP_INSN_JUMP))
			dead_code = false;
	}
}

static struct jp_value load_through(void *context, struct jp_value place)
{
	const struct flow_work *w = context;
	return w->flow->memory->load(w->flow->memory->context, place);
}

int jp_flow_function(const struct jp_flow *flow, const struct jp_function_bounds *function)
{
	struct flow_work w = { .flow = flow, .function = function };
	w.quiet = (struct jp_memory){ &w, load_through, jp_store_nothing };
	w.code = jp_image_bytes(flow->image, function->start, &w.len);
	if (!w.code || function->end <= function->start || function->end - function->start > largest_followed)
		return 0;
	if (w.len > function->end - function->start)
		w.len = (size_t)(function->end - function->start);
	int rc = find_labels(&w), rounds = 0;
	w.changed = !rc;
	for (; (w.changed || !w.settled) && !rc && rounds < most_rounds; rounds++) {
		w.settled = !w.changed;
		w.changed = false;
		follow_once(&w);
	}
	w.final = true;
	if (!rc && w.settled && !w.changed)
		follow_once(&w);
	free(w.insns);
	free(w.labels);
	return rc < 0 ? -1 : 0;
}
