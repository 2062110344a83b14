#include "input/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checksum.h"

enum { largest_printed = 1 << 20, bytes_of_reference = 4, least_fixed = 16 };

/* Never 0, which says that there is none. */
static uint64_t folded(uint64_t fnv, unsigned bits)
{
	uint64_t hash = (fnv ^ fnv >> (64 - bits)) & ((UINT64_C(1) << bits) - 1);
	return hash ? hash : 1;
}

static int add_callee(struct jp_fingerprints *all, uint64_t target)
{
	size_t function = jp_codefile_function(all->file, target);
	if (jp_array_push(all->callees, all->callee_count, all->callee_cap))
		return -1;
	bool begins = function != SIZE_MAX && all->file->functions[function].start == target;
	all->callees[all->callee_count++] = begins ? (uint32_t)function : UINT32_MAX;
	return 0;
}

/* What the references mean: names of symbols, strings and callees. */
static int print_refs(struct jp_fingerprints *all, struct jp_fingerprint *print)
{
	struct jp_checksum sum = jp_checksum_none();
	bool any = false;
	for (size_t i = 0; i < all->refs.count; i++) {
		const struct jp_code_ref *ref = &all->refs.items[i];
		struct jp_span meaning = jp_codefile_meaning(all->file, ref->target);
		if (meaning.len) {
			jp_checksum_add(&sum, meaning.ptr, meaning.len);
			jp_checksum_add(&sum, "", 1);
			any = true;
		} else if (ref->branch && add_callee(all, ref->target))
			return -1;
	}
	print->named = any ? (uint32_t)folded(sum.fnv, 24) : 0;
	print->callee_count = (uint32_t)(all->callee_count - print->callee_first);
	return 0;
}

int jp_fingerprint_make(struct jp_fingerprints *all, size_t function)
{
	const struct jp_function_bounds *at = &all->file->functions[function];
	struct jp_fingerprint *print = &all->items[function];
	uint64_t size = at->end - at->start;
	if (print->made)
		return 0;
	*print = (struct jp_fingerprint){ .made = true, .callee_first = (uint32_t)all->callee_count };
	if (size > largest_printed)
		return 0;
	print->size = (uint32_t)size;
	if (jp_array_reserve(&all->code, &all->code_cap, (size_t)size, 1))
		return -1;
	size_t room;
	memcpy(all->code, jp_image_bytes(&all->file->code.image, at->start, &room), (size_t)size);
	int rc =
	    jp_machinecode_split(all->file->object->headers.machine, all->code, (size_t)size, at->start, &all->refs);
	if (rc <= 0)
		return rc;
	struct jp_checksum sum = jp_checksum_none();
	jp_checksum_add(&sum, all->code, (size_t)size);
	print->content = folded(sum.fnv, 40);
	uint64_t taken = (uint64_t)all->refs.count * bytes_of_reference;
	print->fixed = taken < size ? (uint32_t)(size - taken) : 0;
	return print_refs(all, print);
}

int jp_fingerprints_begin(const struct jp_codefile *file, struct jp_fingerprints *prints)
{
	*prints = (struct jp_fingerprints){ .file = file, .count = file->function_count };
	prints->items = calloc(file->function_count + 1, sizeof *prints->items);
	return prints->items && file->function_count < UINT32_MAX ? 0 : -1;
}

int jp_fingerprints_make(struct jp_fingerprints *prints)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < prints->count; i++)
		rc = jp_fingerprint_make(prints, i);
	return rc;
}

bool jp_fingerprint_says_something(const struct jp_fingerprint *print)
{
	return print->fixed >= least_fixed || print->named;
}

void jp_fingerprints_release(struct jp_fingerprints *prints)
{
	free(prints->items);
	free(prints->callees);
	free(prints->refs.items);
	free(prints->code);
	*prints = (struct jp_fingerprints){ 0 };
}
