#include "machine/insn_arm.h"

#include "base/reader.h"

enum { sp = 31 };

/* Bits [low, low + count) of the instruction, and the same with their sign. */
static uint32_t field(uint32_t insn, unsigned low, unsigned count)
{
	return insn >> low & ((UINT32_C(1) << count) - 1);
}

static int64_t signed_field(uint32_t insn, unsigned low, unsigned count)
{
	int64_t value = field(insn, low, count), half = INT64_C(1) << (count - 1);
	return value >= half ? value - 2 * half : value;
}

/* Where register 31 is the zero register. */
static unsigned char plain_register(uint32_t number)
{
	return number == 31 ? JP_NO_REGISTER : (unsigned char)number;
}

static uint64_t kill(uint32_t number)
{
	return number == 31 ? 0 : UINT64_C(1) << number;
}

/* ---- branches and the system -------------------------------------------------------------------- */

static void branch_to(struct jp_insn *to, enum jp_insn_kind kind, uint64_t at, int64_t words)
{
	to->kind = kind;
	to->value = at + (uint64_t)(words * 4);
}

static void decode_branch(uint32_t insn, uint64_t at, struct jp_insn *to)
{
	if ((insn & 0x7c000000) == 0x14000000) {
		branch_to(to, insn >> 31 ? JP_INSN_CALL : JP_INSN_JUMP, at, signed_field(insn, 0, 26));
	} else if ((insn & 0xff000000) == 0x54000000 || (insn & 0x7e000000) == 0x34000000) {
		branch_to(to, JP_INSN_BRANCH, at, signed_field(insn, 5, 19));
	} else if ((insn & 0x7e000000) == 0x36000000) {
		branch_to(to, JP_INSN_BRANCH, at, signed_field(insn, 5, 14));
	} else if ((insn & 0xfe000000) == 0xd6000000) {
		/* BR, BLR, RET, the same with pointer authentication, or nothing of those. */
		uint32_t which = (insn & 0xfe9ff000) == 0xd61f0000 ? field(insn, 21, 2) : 3;
		to->src = plain_register(field(insn, 5, 5));
		to->kind = which == 0 ? JP_INSN_JUMP_TO : which == 1 ? JP_INSN_CALL_TO : JP_INSN_END;
	} else if ((insn & 0xff00001f) == 0xd4000001) {
		to->kills = kill(0); /* SVC */
	} else if ((insn & 0xff000000) == 0xd4000000) {
		to->kind = JP_INSN_END; /* BRK and kin */
	} else if (insn == 0xd503201f) {
		to->kind = JP_INSN_PADDING;
	} else {
		to->kills = kill(field(insn, 0, 5)); /* MRS; hints and barriers have 31 there */
	}
}

/* ---- sums and constants ------------------------------------------------------------------------- */

static void decode_immediate(uint32_t insn, uint64_t at, struct jp_insn *to)
{
	uint32_t rd = field(insn, 0, 5);
	bool wide = insn >> 31;
	if ((insn & 0x1f000000) == 0x10000000) { /* ADR, ADRP */
		int64_t distance = signed_field(insn, 5, 19) * 4 + field(insn, 29, 2);
		to->kind = JP_INSN_ADDRESS;
		to->value = wide ? (at & ~UINT64_C(0xfff)) + (uint64_t)(distance * 4096) : at + (uint64_t)distance;
		to->dst = plain_register(rd);
	} else if ((insn & 0x1f800000) == 0x11000000 && wide && !field(insn, 29, 1)) { /* ADD, SUB; 31 is sp */
		int64_t amount = (int64_t)field(insn, 10, 12) << (field(insn, 22, 1) ? 12 : 0);
		to->kind = JP_INSN_ADD;
		to->dst = (unsigned char)rd;
		to->base = (unsigned char)field(insn, 5, 5);
		to->disp = field(insn, 30, 1) ? -amount : amount;
	} else if ((insn & 0x1f800000) == 0x12800000 && field(insn, 29, 2) != 3 && field(insn, 29, 2) != 1) {
		uint64_t value = (uint64_t)field(insn, 5, 16) << 16 * field(insn, 21, 2); /* MOVZ, MOVN */
		value = field(insn, 29, 2) ? value : ~value;
		to->kind = JP_INSN_CONSTANT;
		to->dst = plain_register(rd);
		to->value = wide ? value : (uint32_t)value;
	} else if ((insn & 0x1f800000) == 0x12000000 && field(insn, 29, 2) != 3) {
		to->kills = UINT64_C(1) << rd; /* AND, ORR, EOR: 31 is sp */
	} else {
		to->kills = kill(rd);
	}
}

static void decode_registers(uint32_t insn, struct jp_insn *to)
{
	uint32_t rd = field(insn, 0, 5), rm = field(insn, 16, 5);
	if ((insn & 0xffe0ffe0) != 0xaa0003e0) {                   /* all but MOV Xd, Xm */
		bool extended = (insn & 0x1fe00000) == 0x0b200000; /* 31 is sp */
		to->kills = extended ? UINT64_C(1) << rd : kill(rd);
	} else if (rm == 31) {
		to->kind = JP_INSN_CONSTANT;
		to->dst = plain_register(rd);
	} else {
		to->kind = JP_INSN_ADD;
		to->dst = plain_register(rd);
		to->base = (unsigned char)rm;
	}
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* One register or two of 8 bytes each, else `width` bytes of what is not known. */
static void access_memory(struct jp_insn *to, bool load, unsigned rt, unsigned rt2, unsigned width, bool known)
{
	if (load && known) {
		to->kind = JP_INSN_LOAD;
		to->dst = plain_register(rt);
		to->dst2 = plain_register(rt2);
	} else if (load) {
		to->kills = kill(rt) | kill(rt2);
	} else if (known) {
		to->kind = JP_INSN_STORE;
		to->src = plain_register(rt);
		to->src2 = plain_register(rt2);
		to->width = width;
	} else {
		to->kind = JP_INSN_SMUDGE;
		to->width = width;
	}
}

/* How an address comes about: 1 behind the access, 3 before it, else the base stays. */
static void address_by(struct jp_insn *to, uint32_t insn, unsigned mode, int64_t offset)
{
	to->base = (unsigned char)field(insn, 5, 5);
	to->disp = mode == 1 ? 0 : offset;
	to->adjust = mode == 1 || mode == 3 ? offset : 0;
}

static void decode_pair(uint32_t insn, struct jp_insn *to)
{
	bool vector = field(insn, 26, 1);
	uint32_t opc = field(insn, 30, 2);
	unsigned size = vector ? 4U << opc : opc == 2 ? 8 : 4;
	bool known = !vector && opc == 2, load = field(insn, 22, 1);
	address_by(to, insn, field(insn, 23, 2), signed_field(insn, 15, 7) * (int64_t)size);
	unsigned rt = vector ? 31 : field(insn, 0, 5), rt2 = vector ? 31 : field(insn, 10, 5);
	access_memory(to, load, rt, rt2, 2 * size, known);
}

/* Of one register: with an immediate, scaled or not, or with a second register. */
static void decode_single(uint32_t insn, struct jp_insn *to)
{
	bool vector = field(insn, 26, 1), scaled = field(insn, 24, 1), by_register = !scaled && field(insn, 21, 1);
	uint32_t size = field(insn, 30, 2), opc = field(insn, 22, 2);
	unsigned shift = vector && opc & 2 ? 4 : size;
	if (scaled)
		address_by(to, insn, 0, (int64_t)field(insn, 10, 12) << shift);
	else if (!by_register)
		address_by(to, insn, field(insn, 10, 2), signed_field(insn, 12, 9));
	if (!vector && size == 3 && opc == 2) { /* PRFM */
		to->base = JP_NO_REGISTER;
		to->adjust = 0;
		return;
	}
	bool store = vector ? !(opc & 1) : opc == 0;
	bool known = !vector && size == 3 && !by_register;
	access_memory(to, !store, vector ? 31 : field(insn, 0, 5), 31, 1U << shift, known);
	if (to->kind == JP_INSN_OTHER && !to->adjust)
		to->base = JP_NO_REGISTER;
}

static void decode_memory(uint32_t insn, uint64_t at, struct jp_insn *to)
{
	uint32_t rt = field(insn, 0, 5);
	bool single =
	    (insn & 0x3b000000) == 0x39000000 || (insn & 0x3b200000) == 0x38000000 || (insn & 0x3b200c00) == 0x38200800;
	if ((insn & 0x3b000000) == 0x18000000) { /* LDR of a literal */
		to->value = at + (uint64_t)(signed_field(insn, 5, 19) * 4);
		to->absolute = true;
		access_memory(to, true, field(insn, 26, 1) ? 31 : rt, 31, 8, insn >> 24 == 0x58);
	} else if ((insn & 0x3a000000) == 0x28000000) {
		decode_pair(insn, to);
	} else if (single) {
		decode_single(insn, to);
	} else { /* exclusive, atomic, of several vectors, of tags */
		to->kind = JP_INSN_SMUDGE;
		to->width = 64;
		to->base = (unsigned char)field(insn, 5, 5);
		to->kills =
		    kill(rt) | kill(field(insn, 10, 5)) | kill(field(insn, 16, 5)) | UINT64_C(1) << field(insn, 5, 5);
	}
}

bool jp_insn_arm(const unsigned char *code, size_t room, uint64_t at, struct jp_insn *to)
{
	struct jp_bytes in = { .data = code, .len = room };
	uint32_t insn = (uint32_t)jp_bytes_uint(&in, 4), group = field(insn, 25, 4);
	*to = (struct jp_insn){ .len = 4,
		                .dst = JP_NO_REGISTER,
		                .dst2 = JP_NO_REGISTER,
		                .src = JP_NO_REGISTER,
		                .src2 = JP_NO_REGISTER,
		                .base = JP_NO_REGISTER };
	if (in.bad || at % 4)
		return false;
	if (group == 8 || group == 9)
		decode_immediate(insn, at, to);
	else if (group == 10 || group == 11)
		decode_branch(insn, at, to);
	else if ((group & 5) == 4)
		decode_memory(insn, at, to);
	else if ((group & 7) == 5)
		decode_registers(insn, to);
	else if ((group & 7) == 7)
		to->kills = kill(field(insn, 0, 5)); /* vectors, some of which end in a register */
	else
		to->kind = JP_INSN_END;
	return group != 2 && group != 1 && group != 3;
}
