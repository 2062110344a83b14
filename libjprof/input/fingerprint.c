#include "input/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checksum.h"
#include "input/machinecode.h"

enum { largest_printed = 1 << 20, bytes_of_reference = 4 };

struct printing {
	const struct jp_codefile *file;
	struct jp_fingerprints *prints;
	struct jp_code_refs refs;
	unsigned char *code; /* a copy that may be changed */
	size_t cap;
};

/* Never 0, which says that there is none. */
static uint64_t folded(uint64_t fnv, unsigned bits)
{
	uint64_t hash = (fnv ^ fnv >> (64 - bits)) & ((UINT64_C(1) << bits) - 1);
	return hash ? hash : 1;
}

static int add_callee(struct printing *p, uint64_t target)
{
	struct jp_fingerprints *all = p->prints;
	size_t function = jp_codefile_function(p->file, target);
	if (jp_array_push(all->callees, all->callee_count, all->callee_cap))
		return -1;
	bool begins = function != SIZE_MAX && p->file->functions[function].start == target;
	all->callees[all->callee_count++] = begins ? (uint32_t)function : UINT32_MAX;
	return 0;
}

/* What the references mean: names of symbols, strings and callees. */
static int print_refs(struct printing *p, struct jp_fingerprint *print)
{
	struct jp_checksum sum = jp_checksum_none();
	bool any = false;
	for (size_t i = 0; i < p->refs.count; i++) {
		const struct jp_code_ref *ref = &p->refs.items[i];
		struct jp_span meaning = jp_codefile_meaning(p->file, ref->target);
		if (meaning.len) {
			jp_checksum_add(&sum, meaning.ptr, meaning.len);
			jp_checksum_add(&sum, "", 1);
			any = true;
		} else if (ref->branch && add_callee(p, ref->target))
			return -1;
	}
	print->named = any ? (uint32_t)folded(sum.fnv, 24) : 0;
	print->callee_count = (uint32_t)(p->prints->callee_count - print->callee_first);
	return 0;
}

static int print_function(struct printing *p, size_t function)
{
	const struct jp_codebounds *at = &p->file->functions[function];
	struct jp_fingerprint *print = &p->prints->items[function];
	const struct jp_codesection *section = jp_codefile_section(p->file, at->start);
	uint64_t size = at->end - at->start;
	*print = (struct jp_fingerprint){ .callee_first = (uint32_t)p->prints->callee_count };
	if (size > largest_printed)
		return 0;
	print->size = (uint32_t)size;
	if (jp_array_reserve(&p->code, &p->cap, (size_t)size, 1))
		return -1;
	memcpy(p->code, section->bytes + (at->start - section->start), (size_t)size);
	int rc = jp_machinecode_split(p->file->object->headers.machine, p->code, (size_t)size, at->start, &p->refs);
	if (rc <= 0)
		return rc;
	struct jp_checksum sum = jp_checksum_none();
	jp_checksum_add(&sum, p->code, (size_t)size);
	print->content = folded(sum.fnv, 40);
	uint64_t taken = (uint64_t)p->refs.count * bytes_of_reference;
	print->fixed = taken < size ? (uint32_t)(size - taken) : 0;
	return print_refs(p, print);
}

int jp_fingerprints_make(const struct jp_codefile *file, struct jp_fingerprints *prints)
{
	struct printing p = { .file = file, .prints = prints };
	*prints = (struct jp_fingerprints){ 0 };
	prints->items = calloc(file->function_count + 1, sizeof *prints->items);
	int rc = prints->items && file->function_count < UINT32_MAX ? 0 : -1;
	for (size_t i = 0; !rc && i < file->function_count; i++, prints->count++)
		rc = print_function(&p, i);
	free(p.code);
	free(p.refs.items);
	return rc;
}

void jp_fingerprints_release(struct jp_fingerprints *prints)
{
	free(prints->items);
	free(prints->callees);
	*prints = (struct jp_fingerprints){ 0 };
}
