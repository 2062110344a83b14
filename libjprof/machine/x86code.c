#include "machine/x86code.h"

#include "base/reader.h"

/* What follows an opcode, 16 opcodes in a line:
 *   .  nothing           M  a ModRM byte         b  8 bits           z  16 or 32 bits, by operand size
 *   B  ModRM, 8 bits     Z  ModRM, z             w  16 bits          e  24 bits
 *   v  z, or 64 bits     o  an address           j  8 bits to jump   J  32 bits to jump
 *   f  ModRM; 8 bits if its reg is 0 or 1        F  the same with z
 *   p  a prefix          R  a REX prefix         V  VEX              X  EVEX
 *   E  map 0F            8  map 0F38             A  map 0F3A         x  no opcode of 64-bit mode */
static const char one_byte[] = "MMMMbzxxMMMMbzxE"
			       "MMMMbzxxMMMMbzxx"
			       "MMMMbzpxMMMMbzpx"
			       "MMMMbzpxMMMMbzpx"
			       "RRRRRRRRRRRRRRRR"
			       "................"
			       "xxXMppppzZbB...."
			       "jjjjjjjjjjjjjjjj"
			       "BZxBMMMMMMMMMMMM"
			       "..........x....."
			       "oooo....bz......"
			       "bbbbbbbbvvvvvvvv"
			       "BBw.VVBZe.w..bx."
			       "MMMMxxx.MMMMMMMM"
			       "jjjjbbbbJJxj...."
			       "p.pp..fF......MM";

static const char two_bytes[] = "MMMMx.....x.xM.B"
				"MMMMMMMMMMMMMMMM"
				"MMMMxxxxMMMMMMMM"
				"......x.8xAxxxxx"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"BBBBMMM.MMxxMMMM"
				"JJJJJJJJJJJJJJJJ"
				"MMMMMMMMMMMMMMMM"
				"...MBMxx...MBMMM"
				"MMMMMMMMMMBMMMMM"
				"MMBMBBBM........"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM";

enum { longest_insn = 15 };

/* An instruction on the way. */
struct x86_reading {
	struct jp_bytes in;
	struct jp_x86_insn *insn;
};

static unsigned next_byte(struct x86_reading *r)
{
	return (unsigned)jp_bytes_uint(&r->in, 1);
}

/* The byte, with the SIB byte and the displacement that it announces. */
static void read_modrm(struct x86_reading *r)
{
	struct jp_x86_insn *x = r->insn;
	unsigned byte = next_byte(r), low = byte & 7;
	x->has_modrm = true;
	x->mod = byte >> 6;
	x->reg = (byte >> 3 & 7) | (x->rex & 4) << 1;
	x->rm = low | (x->rex & 1) << 3;
	if (x->mod == 3)
		return;
	if (low == 4) {
		unsigned sib = next_byte(r);
		low = sib & 7;
		x->index = ((sib >> 3 & 7) | (x->rex & 2) << 2) != 4;
	}
	x->base = low | (x->rex & 1) << 3;
	if (x->mod == 0 && low == 5) {
		x->relative = (byte & 7) == 5;
		x->absolute = true;
		x->base = JP_X86_NO_BASE;
		x->distance = x->relative ? (unsigned)r->in.pos : 0;
		x->disp = jp_bytes_sint(&r->in, 4);
	} else if (x->mod) {
		x->disp = jp_bytes_sint(&r->in, x->mod == 1 ? 1 : 4);
	}
}

/* What the letter announces; false for one that announces no operands. */
static bool read_operands(struct x86_reading *r, char kind)
{
	struct jp_x86_insn *x = r->insn;
	unsigned z = x->narrow && !(x->rex & JP_X86_WIDE) ? 2 : 4;
	switch (kind) {
	case 'M':
	case 'B':
	case 'Z':
	case 'f':
	case 'F': read_modrm(r);
	}
	switch (kind) {
	case '.':
	case 'M': return true;
	case 'b':
	case 'j':
	case 'B': x->immediate = jp_bytes_sint(&r->in, 1); return true;
	case 'z':
	case 'Z': x->immediate = jp_bytes_sint(&r->in, z); return true;
	case 'w': x->immediate = jp_bytes_sint(&r->in, 2); return true;
	case 'e': jp_bytes_seek(&r->in, r->in.pos + 3); return true;
	case 'v':
		x->immediate = x->rex & JP_X86_WIDE ? jp_bytes_sint(&r->in, 8) : (int64_t)jp_bytes_uint(&r->in, z);
		return true;
	case 'o': x->immediate = jp_bytes_sint(&r->in, x->small ? 4 : 8); return true;
	case 'J':
		x->distance = (unsigned)r->in.pos;
		x->branch = true;
		x->immediate = jp_bytes_sint(&r->in, 4);
		return true;
	case 'f':
	case 'F':
		if ((x->reg & 7) < 2)
			x->immediate = jp_bytes_sint(&r->in, kind == 'f' ? 1 : z);
		return true;
	default: return false;
	}
}

/* Opcodes of the maps that VEX and EVEX name; all have a ModRM byte but vzeroupper. */
static bool read_vector(struct x86_reading *r)
{
	unsigned opcode = r->insn->opcode = next_byte(r);
	switch (r->insn->map) {
	case 2: return read_operands(r, two_bytes[opcode] == 'B' || opcode == 0x77 ? two_bytes[opcode] : 'M');
	case 4: return read_operands(r, 'B');
	case 3:
	case 6:
	case 7: return read_operands(r, 'M');
	default: return false;
	}
}

static bool read_vex(struct x86_reading *r, unsigned first)
{
	struct jp_x86_insn *x = r->insn;
	unsigned second = next_byte(r), last = second;
	x->vex = true;
	x->map = 2;
	if (first == 0x62) {
		x->evex = true;
		x->map = (second & 7) + 1;
		next_byte(r);
		next_byte(r);
		return read_vector(r);
	}
	x->rex = second & 0x80 ? 0 : 4;
	if (first == 0xc4) {
		last = next_byte(r);
		x->rex = (~second >> 5 & 7) | (last >> 4 & 8);
		x->map = (second & 0x1f) + 1;
	}
	x->vvvv = ~last >> 3 & 15;
	return read_vector(r);
}

static bool read_opcode(struct x86_reading *r, unsigned opcode)
{
	struct jp_x86_insn *x = r->insn;
	char kind = one_byte[opcode];
	if (kind == 'V' || kind == 'X')
		return read_vex(r, opcode);
	x->map = 1;
	x->opcode = opcode;
	if (kind != 'E')
		return read_operands(r, kind);
	x->map = 2;
	x->opcode = next_byte(r);
	kind = two_bytes[x->opcode];
	if (kind != '8' && kind != 'A')
		return read_operands(r, kind);
	x->map = kind == '8' ? 3 : 4;
	x->opcode = next_byte(r);
	return read_operands(r, kind == '8' ? 'M' : 'B');
}

static void note_prefix(struct jp_x86_insn *x, unsigned byte)
{
	x->narrow = x->narrow || byte == 0x66;
	x->small = x->small || byte == 0x67;
	x->segment = x->segment || byte == 0x64 || byte == 0x65;
	x->repeat = x->repeat || byte == 0xf2 || byte == 0xf3;
}

bool jp_x86_read(const unsigned char *code, size_t len, struct jp_x86_insn *insn)
{
	struct x86_reading r = { .in = { .data = code, .len = len < longest_insn ? len : longest_insn }, .insn = insn };
	*insn = (struct jp_x86_insn){ .base = JP_X86_NO_BASE };
	unsigned byte = next_byte(&r);
	for (; !r.in.bad && one_byte[byte] == 'p'; byte = next_byte(&r))
		note_prefix(insn, byte);
	if (!r.in.bad && one_byte[byte] == 'R') {
		insn->rex = byte;
		byte = next_byte(&r);
	}
	if (r.in.bad || !read_opcode(&r, byte) || r.in.bad)
		return false;
	insn->length = (unsigned)r.in.pos;
	return true;
}
