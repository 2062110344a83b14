#include "machine/follow.h"

#include <string.h>

static const struct jp_value unknown;

bool jp_same_value(struct jp_value a, struct jp_value b)
{
	return a.kind == b.kind && a.id == b.id && a.number == b.number;
}

void jp_store_nothing(void *context, uint64_t address, unsigned width, struct jp_value value)
{
	(void)context;
	(void)address;
	(void)width;
	(void)value;
}

static void set_register(struct jp_registers *r, unsigned number, struct jp_value value)
{
	if (number < JP_REGISTERS)
		r->of[number] = value;
}

static struct jp_value value_of(const struct jp_registers *r, unsigned number)
{
	return number < JP_REGISTERS ? r->of[number] : unknown;
}

/* ---- slots of the stack -------------------------------------------------------------------------- */

static void forget_slots(struct jp_registers *r, int64_t at, int64_t width)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < r->slot_count; i++)
		if (r->slot_at[i] + 8 <= at || r->slot_at[i] >= at + width) {
			r->slot_at[kept] = r->slot_at[i];
			r->slots[kept++] = r->slots[i];
		}
	r->slot_count = kept;
}

static void store_slot(struct jp_registers *r, int64_t at, struct jp_value value)
{
	forget_slots(r, at, 8);
	if (value.kind == JP_VALUE_UNKNOWN || r->slot_count == JP_SLOTS)
		return;
	r->slot_at[r->slot_count] = at;
	r->slots[r->slot_count++] = value;
}

static struct jp_value load_slot(const struct jp_registers *r, int64_t at)
{
	for (unsigned i = 0; i < r->slot_count; i++)
		if (r->slot_at[i] == at)
			return r->slots[i];
	return unknown;
}

/* ---- states --------------------------------------------------------------------------------------- */

void jp_registers_forget(struct jp_registers *r, const struct jp_calling *calling)
{
	memset(r, 0, sizeof *r);
	r->calling = calling;
	r->escaped = r->live = true;
}

void jp_registers_begin(struct jp_registers *r, const struct jp_calling *calling)
{
	memset(r, 0, sizeof *r);
	r->calling = calling;
	r->of[calling->stack].kind = JP_VALUE_STACK;
	r->live = true;
}

bool jp_registers_join(struct jp_registers *r, const struct jp_registers *other)
{
	bool changed = false;
	if (!other->live)
		return false;
	if (!r->live) {
		*r = *other;
		return true;
	}
	for (unsigned i = 0; i < JP_REGISTERS; i++)
		if (r->of[i].kind != JP_VALUE_UNKNOWN && !jp_same_value(r->of[i], other->of[i])) {
			r->of[i] = unknown;
			changed = true;
		}
	for (unsigned i = r->slot_count; i-- > 0;)
		if (!jp_same_value(r->slots[i], load_slot(other, r->slot_at[i]))) {
			forget_slots(r, r->slot_at[i], 8);
			changed = true;
		}
	changed = changed || (other->escaped && !r->escaped);
	r->escaped = r->escaped || other->escaped;
	return changed;
}

/* ---- instructions --------------------------------------------------------------------------------- */

/* `number` is the sum that `wraps` as the machine's does; distances on the stack stay small. */
static struct jp_value value_plus(struct jp_value base, int64_t disp)
{
	enum { deepest = 1 << 30 };
	if (!disp)
		return base;
	base.number += (uint64_t)disp;
	int64_t distance = (int64_t)base.number;
	if (base.kind == JP_VALUE_ADDRESS || base.kind == JP_VALUE_NUMBER ||
	    (base.kind == JP_VALUE_STACK && distance > -deepest && distance < deepest))
		return base;
	return unknown;
}

/* Where the operand in memory is: an address in the image, on the stack, of a symbol, or not known. */
static struct jp_value operand_place(const struct jp_registers *r, const struct jp_insn *insn)
{
	if (insn->absolute)
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = insn->value };
	struct jp_value base = value_of(r, insn->base);
	return base.kind == JP_VALUE_NUMBER ? unknown : value_plus(base, insn->disp);
}

static struct jp_value load_at(const struct jp_registers *r, struct jp_value place, const struct jp_memory *memory)
{
	if (place.kind == JP_VALUE_STACK)
		return load_slot(r, (int64_t)place.number);
	if (place.kind == JP_VALUE_ADDRESS || place.kind == JP_VALUE_SYMBOL)
		return memory->load(memory->context, place);
	return unknown;
}

static void store_at(struct jp_registers *r, struct jp_value place, struct jp_value value, unsigned width,
                     const struct jp_memory *memory)
{
	if (place.kind == JP_VALUE_STACK && width == 8)
		store_slot(r, (int64_t)place.number, value);
	else if (place.kind == JP_VALUE_STACK)
		forget_slots(r, (int64_t)place.number, width);
	else if (place.kind == JP_VALUE_ADDRESS)
		memory->store(memory->context, place.number, width, value);
	else if (r->escaped)
		r->slot_count = 0;
}

static struct jp_value next_word_of(struct jp_value place)
{
	return value_plus(place, 8);
}

/* An address on the stack in a register that need not point there, or in memory. */
static void note_escape(struct jp_registers *r, const struct jp_insn *insn)
{
	bool stored = insn->kind == JP_INSN_STORE &&
	              (value_of(r, insn->src).kind == JP_VALUE_STACK || value_of(r, insn->src2).kind == JP_VALUE_STACK);
	bool frame = insn->dst == r->calling->stack || insn->dst == r->calling->frame;
	bool made = insn->kind == JP_INSN_ADD && !frame && value_of(r, insn->base).kind == JP_VALUE_STACK;
	r->escaped = r->escaped || made || (stored && operand_place(r, insn).kind != JP_VALUE_STACK);
}

void jp_registers_apply(struct jp_registers *r, const struct jp_insn *insn, const struct jp_memory *memory)
{
	struct jp_value place = operand_place(r, insn), first, second;
	note_escape(r, insn);
	switch (insn->kind) {
	case JP_INSN_CONSTANT:
		set_register(r, insn->dst, (struct jp_value){ .kind = JP_VALUE_NUMBER, .number = insn->value });
		break;
	case JP_INSN_ADDRESS:
		set_register(r, insn->dst, (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = insn->value });
		break;
	case JP_INSN_ADD: set_register(r, insn->dst, value_plus(value_of(r, insn->base), insn->disp)); break;
	case JP_INSN_LOAD:
		first = load_at(r, place, memory);
		second = insn->dst2 == JP_NO_REGISTER ? unknown : load_at(r, next_word_of(place), memory);
		set_register(r, insn->dst, first);
		set_register(r, insn->dst2, second);
		break;
	case JP_INSN_STORE:
		store_at(r, place, value_of(r, insn->src), 8, memory);
		if (insn->width > 8)
			store_at(r, next_word_of(place), value_of(r, insn->src2), 8, memory);
		break;
	case JP_INSN_SMUDGE: store_at(r, place, unknown, insn->width, memory); break;
	default: break;
	}
	for (uint64_t kills = insn->kills; kills; kills &= kills - 1)
		set_register(r, (unsigned)__builtin_ctzll(kills), unknown);
	if (insn->adjust && insn->base != insn->dst && insn->base != insn->dst2)
		set_register(r, insn->base, value_plus(value_of(r, insn->base), insn->adjust));
	else if (insn->adjust)
		set_register(r, insn->base, unknown);
}

void jp_registers_call(struct jp_registers *r, struct jp_value result)
{
	for (unsigned i = 0; i < JP_REGISTERS; i++)
		if (!(r->calling->kept >> i & 1))
			r->of[i] = unknown;
	if (r->escaped)
		r->slot_count = 0;
	r->of[r->calling->result] = result;
}

struct jp_value jp_insn_target(const struct jp_registers *r, const struct jp_insn *insn, const struct jp_memory *memory)
{
	switch (insn->kind) {
	case JP_INSN_CALL:
	case JP_INSN_JUMP: return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = insn->value };
	case JP_INSN_CALL_TO:
	case JP_INSN_JUMP_TO: return value_of(r, insn->src);
	case JP_INSN_CALL_BY:
	case JP_INSN_JUMP_BY: return load_at(r, operand_place(r, insn), memory);
	default: return unknown;
	}
}
