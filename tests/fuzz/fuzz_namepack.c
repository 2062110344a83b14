/* Target: packs of names, whose checksum is set right so that what is behind it is read. Asserts that a refusal is a
 * text, that callees are functions of the pack, and that it is written and read again as it was. */
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "fuzz.h"
#include "input/namepack.h"

enum { checksum_at = 8, summed_at = 16 };

static void check_pack(const struct jp_namepack *p)
{
	uint32_t callees = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		const struct jp_packed_function *f = &p->functions[i];
		must(f->name && f->callee_first == callees);
		callees += f->callee_count;
		must(callees <= p->callee_count);
	}
	must(callees == p->callee_count);
	for (uint32_t i = 0; i < callees; i++)
		must(p->callees[i] < p->count || p->callees[i] == UINT32_MAX);
}

static void check_again(const struct jp_namepack *p)
{
	struct jp_strbuf out = { 0 };
	struct jp_namepack again;
	must(!jp_namepack_write(p, &out, NULL));
	must(!jp_namepack_read(out.text, out.len, &again, NULL));
	must(again.count == p->count && again.callee_count == p->callee_count);
	must(!strcmp(again.label.soname, p->label.soname) && again.label.machine == p->label.machine);
	for (uint32_t i = 0; i < p->count; i++) {
		const struct jp_packed_function *f = &p->functions[i], *g = &again.functions[i];
		must(f->content == g->content && f->named == g->named && f->size == g->size &&
		     !strcmp(f->name, g->name));
	}
	jp_namepack_release(&again);
	jp_strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_namepack pack;
	struct jprof_error err = { 0 };
	struct jp_checksum sum = jp_checksum_none();
	unsigned char *copy = malloc(size + 1);
	must(copy);
	if (size)
		memcpy(copy, data, size);
	if (size > summed_at)
		jp_checksum_add(&sum, copy + summed_at, size - summed_at);
	for (size_t i = 0; i < 8 && size > summed_at; i++)
		copy[checksum_at + i] = (unsigned char)(sum.fnv >> 8 * i);
	int rc = jp_namepack_read(copy, size, &pack, &err);
	must(!rc == !*err.text);
	if (!rc) {
		check_pack(&pack);
		check_again(&pack);
	}
	jp_namepack_release(&pack);
	free(copy);
	return 0;
}
