/* What registers and the stack hold at one place of a function, as far as it is known, and how an instruction changes
 * that. What is not known for sure is nothing. */
#pragma once

#include "machine/calling.h"
#include "machine/image.h"

enum jp_value_kind {
	JP_VALUE_UNKNOWN,
	JP_VALUE_NUMBER,
	JP_VALUE_ADDRESS,   /* `number`, in the image */
	JP_VALUE_STACK,     /* `number` above the stack pointer at the function's begin */
	JP_VALUE_SYMBOL,    /* the address of dynamic symbol `id`, which another file defines */
	JP_VALUE_CLASS,     /* a class or module of Ruby, whose name is `id` */
	JP_VALUE_SINGLETON, /* the singleton class of that one */
	JP_VALUE_ID,        /* Ruby's ID of a name, which is `id` */
};

/* Where `number` or `id` has no meaning it is 0. */
struct jp_value {
	enum jp_value_kind kind;
	uint32_t id;
	uint64_t number;
};

enum { JP_SLOTS = 24 };

struct jp_registers {
	struct jp_value of[JP_REGISTERS];
	struct jp_value slots[JP_SLOTS]; /* of the stack */
	int64_t slot_at[JP_SLOTS];
	unsigned slot_count;
	const struct jp_calling *calling;
	bool escaped; /* the stack may change by what is not followed: somebody has an address in it */
	bool live;    /* false: nobody is known to come here */
};

/* Of memory outside the stack. What is loaded is at an address or a symbol. */
struct jp_memory {
	void *context;
	struct jp_value (*load)(void *context, struct jp_value place);
	void (*store)(void *context, uint64_t address, unsigned width, struct jp_value value);
};

bool jp_same_value(struct jp_value a, struct jp_value b);

/* A `store` for who only reads. */
void jp_store_nothing(void *context, uint64_t address, unsigned width, struct jp_value value);

/* Nothing is known, but where the stack is. */
void jp_registers_begin(struct jp_registers *r, const struct jp_calling *calling);

/* Nothing at all is known. */
void jp_registers_forget(struct jp_registers *r, const struct jp_calling *calling);

/* Makes of `r` what holds whether one comes with `r` or with `other`; whether that changed it. */
bool jp_registers_join(struct jp_registers *r, const struct jp_registers *other);

/* What the instruction does to them, but for a call's effect. */
void jp_registers_apply(struct jp_registers *r, const struct jp_insn *insn, const struct jp_memory *memory);

/* What a call leaves of them. */
void jp_registers_call(struct jp_registers *r, struct jp_value result);

/* Where that instruction calls or jumps to: JP_VALUE_ADDRESS, JP_VALUE_SYMBOL, or not known. */
struct jp_value jp_insn_target(const struct jp_registers *r, const struct jp_insn *insn,
                               const struct jp_memory *memory);
