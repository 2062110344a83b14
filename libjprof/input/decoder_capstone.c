/* x86-64 (in AT&T's syntax, as objdump writes it) and AArch64, by capstone. It uses memory that it did not get. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "input/capstonelib.h"
#include "input/decoder.h"

struct jp_decoder {
	struct jp_capstone cs;
	int machine;
	csh handle;    /* 0 before the first instruction, as the next one */
	cs_insn *insn; /* room for one */
	unsigned unit; /* bytes of the smallest instruction */
};

static bool open_handle(struct jp_decoder *d)
{
	if (d->machine == EM_AARCH64)
		return d->cs.open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle) == CS_ERR_OK;
	return d->cs.open(CS_ARCH_X86, CS_MODE_64, &d->handle) == CS_ERR_OK &&
	       d->cs.option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT) == CS_ERR_OK;
}

int jp_decoder_new(int machine, struct jp_decoder **out, struct jprof_error *err)
{
	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return jp_advise(err, JPROF_ADVICE_FORMAT,
		                 jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
		                          "disasm knows the code of x86-64 and AArch64; this is of ELF machine %d",
		                          machine));
	struct jp_decoder *d = calloc(1, sizeof *d);
	if (!d)
		return jp_error_nomem(err);
	int rc = jp_capstone_load(&d->cs, err);
	if (rc) {
		jp_decoder_free(d);
		return rc;
	}
	d->machine = machine;
	d->unit = machine == EM_AARCH64 ? 4 : 1;
	*out = d;
	return 0;
}

/* "0x1234", or "#0x1234" on AArch64, and nothing else. */
static uint64_t only_address(const char *operands)
{
	char *end;
	operands += *operands == '#';
	uint64_t address = strncmp(operands, "0x", 2) ? 0 : strtoull(operands, &end, 16);
	return address && !*end ? address : 0;
}

static void put_undecoded(const struct jp_decoder *d, const unsigned char *code, size_t len, struct jp_decoded *to)
{
	size_t at = (size_t)snprintf(to->text, sizeof to->text, ".byte ");
	to->size = len < d->unit ? (unsigned)len : d->unit;
	for (unsigned i = 0; i < to->size; i++)
		at += (size_t)snprintf(to->text + at, sizeof to->text - at, "%s0x%02x", i ? ", " : "", code[i]);
}

int jp_decode(struct jp_decoder *d, const unsigned char *code, size_t len, uint64_t vaddr, struct jp_decoded *to)
{
	const unsigned char *at = code;
	size_t left = len;
	uint64_t address = vaddr;
	*to = (struct jp_decoded){ 0 };
	if (!d->insn && open_handle(d))
		d->insn = d->cs.malloc(d->handle);
	if (!d->insn)
		return -1;
	if (!d->cs.disasm_iter(d->handle, &at, &left, &address, d->insn)) {
		put_undecoded(d, code, len, to);
		return 0;
	}
	to->size = d->insn->size;
	to->target = only_address(d->insn->op_str);
	snprintf(to->text, sizeof to->text, "%s%s%s", d->insn->mnemonic, *d->insn->op_str ? " " : "", d->insn->op_str);
	return 0;
}

void jp_decoder_free(struct jp_decoder *d)
{
	if (!d)
		return;
	if (d->insn)
		d->cs.free(d->insn, 1);
	if (d->handle)
		d->cs.close(&d->handle);
	jp_capstone_unload(&d->cs);
	free(d);
}
