#include "input/x86code.h"

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

struct x86_reading {
	const unsigned char *code;
	size_t len, pos;
	bool ended; /* more was wanted than there is */
	bool short_operand, short_address, wide;
	struct jp_x86_insn *insn;
};

static unsigned next_byte(struct x86_reading *r)
{
	if (r->pos < r->len)
		return r->code[r->pos++];
	r->ended = true;
	return 0;
}

static void pass_bytes(struct x86_reading *r, size_t count)
{
	if (count > r->len - r->pos)
		r->ended = true;
	else
		r->pos += count;
}

static void take_distance(struct x86_reading *r, bool branch)
{
	r->insn->distance = (unsigned)r->pos;
	r->insn->branch = branch;
	pass_bytes(r, 4);
}

/* The byte, with the SIB byte and the displacement that it announces. Its value. */
static unsigned pass_modrm(struct x86_reading *r)
{
	unsigned modrm = next_byte(r), mod = modrm >> 6, rm = modrm & 7;
	if (mod == 3)
		return modrm;
	unsigned base = rm == 4 ? next_byte(r) & 7 : rm;
	if (mod == 1)
		pass_bytes(r, 1);
	else if (mod == 0 && rm == 5)
		take_distance(r, false);
	else if (mod == 2 || base == 5)
		pass_bytes(r, 4);
	return modrm;
}

static size_t operand_bytes(const struct x86_reading *r)
{
	return r->short_operand && !r->wide ? 2 : 4;
}

/* What the letter announces; false for one that announces no operands. */
static bool pass_operands(struct x86_reading *r, char kind)
{
	unsigned modrm;
	switch (kind) {
	case '.': return true;
	case 'M': pass_modrm(r); return true;
	case 'B':
		pass_modrm(r);
		pass_bytes(r, 1);
		return true;
	case 'Z':
		pass_modrm(r);
		pass_bytes(r, operand_bytes(r));
		return true;
	case 'b':
	case 'j': pass_bytes(r, 1); return true;
	case 'z': pass_bytes(r, operand_bytes(r)); return true;
	case 'w': pass_bytes(r, 2); return true;
	case 'e': pass_bytes(r, 3); return true;
	case 'v': pass_bytes(r, r->wide ? 8 : operand_bytes(r)); return true;
	case 'o': pass_bytes(r, r->short_address ? 4 : 8); return true;
	case 'J': take_distance(r, true); return true;
	case 'f':
	case 'F':
		modrm = pass_modrm(r);
		if ((modrm >> 3 & 7) < 2)
			pass_bytes(r, kind == 'f' ? 1 : operand_bytes(r));
		return true;
	default: return false;
	}
}

/* Opcodes of the maps that VEX and EVEX name; all have a ModRM byte but vzeroupper. */
static bool read_vector(struct x86_reading *r, unsigned map)
{
	unsigned opcode = next_byte(r);
	switch (map) {
	case 1: return pass_operands(r, two_bytes[opcode] == 'B' || opcode == 0x77 ? two_bytes[opcode] : 'M');
	case 3: return pass_operands(r, 'B');
	case 2:
	case 5:
	case 6: return pass_operands(r, 'M');
	default: return false;
	}
}

static bool read_vex(struct x86_reading *r, unsigned first)
{
	unsigned map = 1, second = next_byte(r);
	if (first == 0xc4) {
		map = second & 0x1f;
		next_byte(r);
	} else if (first == 0x62) {
		map = second & 7;
		pass_bytes(r, 2);
	}
	return read_vector(r, map);
}

static bool read_opcode(struct x86_reading *r, unsigned opcode)
{
	char kind = one_byte[opcode];
	if (kind == 'V' || kind == 'X')
		return read_vex(r, opcode);
	if (kind != 'E')
		return pass_operands(r, kind);
	kind = two_bytes[next_byte(r)];
	if (kind != '8' && kind != 'A')
		return pass_operands(r, kind);
	next_byte(r);
	return pass_operands(r, kind == '8' ? 'M' : 'B');
}

bool jp_x86_read(const unsigned char *code, size_t len, struct jp_x86_insn *insn)
{
	struct x86_reading r = { .code = code, .len = len < longest_insn ? len : longest_insn, .insn = insn };
	*insn = (struct jp_x86_insn){ 0 };
	unsigned byte = next_byte(&r);
	while (!r.ended && one_byte[byte] == 'p') {
		r.short_operand = r.short_operand || byte == 0x66;
		r.short_address = r.short_address || byte == 0x67;
		byte = next_byte(&r);
	}
	if (!r.ended && one_byte[byte] == 'R') {
		r.wide = byte & 8;
		byte = next_byte(&r);
	}
	if (r.ended || !read_opcode(&r, byte) || r.ended)
		return false;
	insn->length = (unsigned)r.pos;
	return true;
}
