#include "machine/insn_x86.h"

#include <string.h>

#include "machine/x86code.h"

enum { rax = 0, rcx = 1, rdx = 2, rbx = 3, rsp = 4, rbp = 5, rsi = 6, rdi = 7 };

static bool is_wide(const struct jp_x86_insn *x)
{
	return x->rex & JP_X86_WIDE;
}

/* Whether what it does is known here. Not known: EVEX and vector maps beyond 0F 3A; what only a kernel may do, flags
 * and segments on the stack, far returns, ENTER, POP to memory, addresses of 8 bytes. */
static bool is_understood(const struct jp_x86_insn *x)
{
	static const unsigned char one[] = { 0x6c, 0x6d, 0x6e, 0x6f, 0x8f, 0x9c, 0x9d, 0xa0, 0xa1, 0xa2, 0xa3, 0xc8,
		                             0xca, 0xcf, 0xe4, 0xe5, 0xe6, 0xe7, 0xec, 0xed, 0xee, 0xef, 0xf1 };
	static const unsigned char two[] = { 0x02, 0x03, 0x06, 0x07, 0x08, 0x0e, 0x0f, 0x20, 0x21,
		                             0x22, 0x23, 0x32, 0x34, 0x35, 0x37, 0x78, 0x79, 0xa0,
		                             0xa1, 0xa8, 0xa9, 0xaa, 0xb2, 0xb9, 0xff };
	if (x->evex || x->map > 4)
		return false;
	return x->map == 1   ? !memchr(one, (int)x->opcode, sizeof one)
	       : x->map == 2 ? x->vex || !memchr(two, (int)x->opcode, sizeof two)
	                     : true;
}

/* ---- meaning: what is killed -------------------------------------------------------------------- */

static uint64_t bit(unsigned r)
{
	return UINT64_C(1) << (r & 15);
}

/* Vector instructions: their registers are none of ours, but for those that hand something over. */
static bool is_vector(const struct jp_x86_insn *x)
{
	unsigned op = x->opcode;
	return x->map == 2 && !x->vex &&
	       ((op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x50 && op <= 0x7f) || op == 0xc2 ||
	        (op >= 0xc4 && op <= 0xc6) || op >= 0xd0);
}

static uint64_t vector_kills(const struct jp_x86_insn *x)
{
	static const unsigned char to_register[] = { 0x2c, 0x2d, 0x50, 0xc5, 0xd7 };
	if (memchr(to_register, (int)x->opcode, sizeof to_register))
		return bit(x->reg);
	return x->opcode == 0x7e && x->mod == 3 ? bit(x->rm) : 0;
}

/* The middle of ModRM is a part of the opcode. */
static bool is_group(const struct jp_x86_insn *x)
{
	static const unsigned char first[] = { 0x80, 0x81, 0x83, 0x8f, 0xc0, 0xc1, 0xc6, 0xc7,
		                               0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff };
	static const unsigned char second[] = { 0x00, 0x01, 0x18, 0x19, 0x1a, 0x1b, 0x1c,
		                                0x1d, 0x1e, 0x1f, 0x0d, 0xae, 0xba, 0xc7 };
	return x->map == 1   ? memchr(first, (int)x->opcode, sizeof first) != NULL
	       : x->map == 2 ? memchr(second, (int)x->opcode, sizeof second) != NULL
	                     : false;
}

/* Compares, tests, prefetches and bit tests change no register and no memory. */
static bool is_harmless(const struct jp_x86_insn *x)
{
	unsigned op = x->opcode, group = x->reg & 7;
	if (x->map == 2)
		return (op >= 0x18 && op <= 0x1f) || op == 0x0d || op == 0xa3 || (op == 0xba && group == 4);
	if (x->map != 1)
		return false;
	return (op >= 0x38 && op <= 0x3d) || ((op == 0x80 || op == 0x81 || op == 0x83) && group == 7) || op == 0x84 ||
	       op == 0x85 || op == 0xa8 || op == 0xa9 || ((op == 0xf6 || op == 0xf7) && group < 2);
}

/* Registers that an instruction of the first two maps changes without naming them. */
static uint64_t silent_kills(const struct jp_x86_insn *x)
{
	unsigned op = x->opcode;
	if (x->map == 2) {
		switch (op) {
		case 0x05: return bit(rax) | bit(rcx) | bit(11);
		case 0x31: return bit(rax) | bit(rdx);
		case 0xa2: return bit(rax) | bit(rbx) | bit(rcx) | bit(rdx);
		case 0xb0:
		case 0xb1: return bit(rax);
		case 0x01:
		case 0xc7: return bit(rax) | bit(rdx);
		}
		return op >= 0xc8 && op <= 0xcf ? bit((op & 7) | (x->rex & 1) << 3) : 0;
	}
	if (op >= 0x90 && op <= 0x97)
		return bit(rax) | bit((op & 7) | (x->rex & 1) << 3);
	if ((op & 0xf0) == 0xb0)
		return bit((op & 7) | (x->rex & 1) << 3);
	if ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf))
		return bit(rax) | bit(rcx) | bit(rsi) | bit(rdi);
	if (op == 0xf6 || op == 0xf7 || op == 0x99)
		return bit(rax) | bit(rdx);
	if (op == 0xc9)
		return bit(rsp) | bit(rbp);
	/* to rax or a part of it: immediates of the ALU, and the x87's status */
	bool alu = op < 0x40 && (op & 7) >= 4 && (op & 7) <= 5;
	return alu || op == 0x98 || op == 0x9f || op == 0xd7 || (op >= 0xd8 && op <= 0xdf) ? bit(rax) : 0;
}

/* Whether it only reads its operand in memory, or the register in its place. */
static bool only_reads(const struct jp_x86_insn *x)
{
	unsigned op = x->opcode, group = x->reg & 7;
	if (x->map == 2) {
		static const unsigned char writers[] = { 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7, 0xc3 };
		bool reader = (op >= 0x40 && op <= 0x4f) || op == 0xaf || (op >= 0xb6 && op <= 0xb8) ||
		              (op >= 0xbc && op <= 0xbf) || (op == 0x7e && x->repeat);
		bool vector = (op >= 0x10 && op <= 0x17) || (op >= 0x28 && op <= 0x2f) || (op >= 0x50 && op <= 0x76) ||
		              op == 0x7f || op == 0xc2 || (op >= 0xc4 && op <= 0xc6) || op >= 0xd0;
		return reader || (vector && !memchr(writers, (int)op, sizeof writers));
	}
	if (x->map != 1)
		return false;
	return (op < 0x40 && (op & 6) == 2) || op == 0x63 || op == 0x69 || op == 0x6b || op == 0x8a || op == 0x8b ||
	       op == 0x8d || ((op == 0xf6 || op == 0xf7) && group > 3) || (op == 0xff && group >= 2);
}

static uint64_t kills_of(const struct jp_x86_insn *x)
{
	if (is_harmless(x))
		return 0;
	if (is_vector(x))
		return vector_kills(x);
	uint64_t kills = x->map <= 2 && !x->vex ? silent_kills(x) : 0;
	if (x->vex)
		kills |= bit(x->vvvv);
	if (x->has_modrm && !(is_group(x) && !x->vex) && !(x->map == 1 && x->opcode >= 0xd8 && x->opcode <= 0xdf))
		kills |= bit(x->reg);
	return x->has_modrm && x->mod == 3 && (x->vex || !only_reads(x)) ? kills | bit(x->rm) : kills;
}

/* ---- meaning: what is done ---------------------------------------------------------------------- */

static void move(struct jp_insn *insn, unsigned to, unsigned from)
{
	*insn = (struct jp_insn){ .kind = JP_INSN_ADD,
		                  .dst = (unsigned char)to,
		                  .base = (unsigned char)from,
		                  .dst2 = JP_NO_REGISTER,
		                  .src = JP_NO_REGISTER,
		                  .src2 = JP_NO_REGISTER };
}

static void set_constant(struct jp_insn *insn, unsigned to, uint64_t value)
{
	insn->kind = JP_INSN_CONSTANT;
	insn->dst = (unsigned char)to;
	insn->value = value;
	insn->absolute = false;
}

/* MOV and LEA of 8 bytes, and what makes a constant. */
static bool moves(const struct jp_x86_insn *x, struct jp_insn *insn)
{
	bool memory = x->has_modrm && x->mod != 3, wide = is_wide(x) && !x->narrow;
	switch (x->opcode) {
	case 0x89:
		if (!wide)
			return false;
		if (!memory) {
			move(insn, x->rm, x->reg);
			return true;
		}
		insn->kind = JP_INSN_STORE;
		insn->src = (unsigned char)x->reg;
		return true;
	case 0x8b:
		if (!wide)
			return false;
		if (!memory) {
			move(insn, x->reg, x->rm);
			return true;
		}
		insn->kind = JP_INSN_LOAD;
		insn->dst = (unsigned char)x->reg;
		return true;
	case 0x8d:
		if (!wide || !memory || (!insn->absolute && insn->base == JP_NO_REGISTER))
			return false;
		insn->kind = insn->absolute ? JP_INSN_ADDRESS : JP_INSN_ADD;
		insn->dst = (unsigned char)x->reg;
		return true;
	case 0xc7:
		if (memory || x->narrow)
			return false;
		set_constant(insn, x->rm, is_wide(x) ? (uint64_t)x->immediate : (uint32_t)x->immediate);
		return true;
	case 0x31:
	case 0x33:
	case 0x29:
	case 0x2b:
		if (memory || x->reg != x->rm || x->narrow)
			return false;
		set_constant(insn, x->rm, 0);
		return true;
	}
	if (x->opcode < 0xb8 || x->opcode > 0xbf || x->narrow)
		return false;
	set_constant(insn, (x->opcode & 7) | (x->rex & 1) << 3, (uint64_t)x->immediate);
	return true;
}

/* What moves the stack pointer by a known distance. */
static bool stacks(const struct jp_x86_insn *x, struct jp_insn *insn)
{
	unsigned op = x->opcode, group = x->reg & 7;
	bool sum = (op == 0x81 || op == 0x83) && (group == 0 || group == 5) && is_wide(x) && x->mod == 3;
	if (sum) {
		move(insn, x->rm, x->rm);
		insn->disp = group == 0 ? x->immediate : -x->immediate;
		return true;
	}
	bool push = (op >= 0x50 && op <= 0x57) || op == 0x68 || op == 0x6a || (op == 0xff && group == 6);
	bool pop = op >= 0x58 && op <= 0x5f;
	if ((!push && !pop) || x->narrow)
		return false;
	unsigned r = (op & 7) | (x->rex & 1) << 3;
	insn->base = rsp;
	insn->absolute = false;
	insn->disp = push ? -8 : 0;
	insn->adjust = push ? -8 : 8;
	insn->kind = push ? JP_INSN_STORE : JP_INSN_LOAD;
	insn->src = (unsigned char)(push && op < 0x58 ? r : JP_NO_REGISTER);
	insn->dst = (unsigned char)(pop ? r : JP_NO_REGISTER);
	return true;
}

static bool goes_elsewhere(const struct jp_x86_insn *x, uint64_t at, struct jp_insn *insn)
{
	unsigned op = x->opcode, group = x->reg & 7;
	bool branch = x->map == 2 ? (op & 0xf0) == 0x80 : x->map == 1 && ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0);
	if (branch || (x->map == 1 && (op == 0xe8 || op == 0xe9 || op == 0xeb))) {
		insn->kind = branch ? JP_INSN_BRANCH : op == 0xe8 ? JP_INSN_CALL : JP_INSN_JUMP;
		insn->value = at + x->length + (uint64_t)x->immediate;
		insn->kills = x->map == 1 && op >= 0xe0 && op <= 0xe2 ? bit(rcx) : 0;
		return true;
	}
	if (x->map == 2 && op == 0x0b)
		insn->kind = JP_INSN_END;
	if (x->map == 1 && (op == 0xc2 || op == 0xc3 || op == 0xcc || op == 0xf4))
		insn->kind = JP_INSN_END;
	if (x->map == 1 && op == 0xff && (group == 2 || group == 4)) {
		bool memory = x->mod != 3;
		insn->kind = group == 2 ? (memory ? JP_INSN_CALL_BY : JP_INSN_CALL_TO)
		                        : (memory ? JP_INSN_JUMP_BY : JP_INSN_JUMP_TO);
		insn->src = memory ? JP_NO_REGISTER : (unsigned char)x->rm;
		return true;
	}
	return insn->kind == JP_INSN_END;
}

static bool is_padding(const struct jp_x86_insn *x)
{
	return (x->map == 1 && x->opcode == 0x90 && !(x->rex & 1)) || (x->map == 2 && x->opcode == 0x1f);
}

/* How many bytes of memory it changes at most. */
static unsigned width_of(const struct jp_x86_insn *x)
{
	unsigned op = x->opcode;
	if (x->map != 1 || x->vex || (op >= 0xd8 && op <= 0xdf) || op == 0x8c)
		return 64;
	return !(op & 1) ? 1 : is_wide(x) ? 8 : 4;
}

/* MOVS and STOS: nobody knows how much, nor where. */
static bool writes_strings(const struct jp_x86_insn *x)
{
	unsigned op = x->opcode;
	return x->map == 1 && !x->vex && (op == 0xa4 || op == 0xa5 || op == 0xaa || op == 0xab);
}

static void give_meaning(const struct jp_x86_insn *x, uint64_t at, struct jp_insn *insn)
{
	bool memory = x->has_modrm && x->mod != 3;
	if (is_padding(x)) {
		insn->kind = JP_INSN_PADDING;
		return;
	}
	if (memory && (x->index || x->segment || x->small)) { /* nobody knows where */
		insn->base = JP_NO_REGISTER;
		insn->absolute = false;
	}
	if (!x->vex && (goes_elsewhere(x, at, insn) || (x->map == 1 && (moves(x, insn) || stacks(x, insn)))))
		return;
	insn->kills = kills_of(x);
	if (writes_strings(x) || (memory && !is_harmless(x) && !only_reads(x))) {
		insn->kind = JP_INSN_SMUDGE;
		insn->width = width_of(x);
	}
}

bool jp_insn_x86(const unsigned char *code, size_t room, uint64_t at, struct jp_insn *insn)
{
	struct jp_x86_insn x;
	if (!jp_x86_read(code, room, &x) || !is_understood(&x))
		return false;
	*insn = (struct jp_insn){ .dst = JP_NO_REGISTER,
		                  .dst2 = JP_NO_REGISTER,
		                  .src = JP_NO_REGISTER,
		                  .src2 = JP_NO_REGISTER,
		                  .base = x.base == JP_X86_NO_BASE ? JP_NO_REGISTER : (unsigned char)x.base,
		                  .absolute = x.absolute,
		                  .disp = x.disp };
	if (x.absolute)
		insn->value = (uint64_t)x.disp + (x.relative ? at + x.length : 0);
	give_meaning(&x, at, insn);
	insn->len = (unsigned char)x.length;
	return true;
}
