#include "input/dumpdata.h"

#include <stdlib.h>

#include "base/array.h"
#include "input/rubytable.h"

/* Numbers of seven bits a byte, the lowest first; all but the last have the eighth bit. */
static size_t pack_number(unsigned char *to, uint64_t n)
{
	size_t len = 0;
	for (; n > 0x7f; n >>= 7)
		to[len++] = (unsigned char)(n | 0x80);
	to[len++] = (unsigned char)n;
	return len;
}

static uint64_t unpack_number(const unsigned char *from, size_t *at)
{
	uint64_t n = 0;
	for (unsigned shift = 0;; shift += 7) {
		unsigned char byte = from[(*at)++];
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte <= 0x7f)
			return n;
	}
}

int jp_records_add(struct jp_records *records, const struct jp_record *record)
{
	enum { longest = 10, numbers = 2 + JPROF_COUNTERS };
	if (jp_array_reserve(&records->bytes, &records->cap, records->len + longest * numbers, 1))
		return -1;
	unsigned char *bytes = records->bytes;
	records->len += pack_number(bytes + records->len, record->stack - records->last);
	records->len += pack_number(bytes + records->len, (uint64_t)(uint32_t)(record->thread + 1));
	for (int c = 0; c < JPROF_COUNTERS; c++)
		records->len += pack_number(bytes + records->len, record->count[c]);
	records->last = record->stack;
	return 0;
}

bool jp_records_next(const struct jp_records *records, size_t *at, struct jp_record *record)
{
	if (*at == records->len)
		return false;
	record->stack += (uint32_t)unpack_number(records->bytes, at);
	record->thread = (uint32_t)unpack_number(records->bytes, at) - 1;
	for (int c = 0; c < JPROF_COUNTERS; c++)
		record->count[c] = unpack_number(records->bytes, at);
	return true;
}

void jp_dump_trim(struct jprof_dump *dump)
{
	jp_index_rest(&dump->address_ids); /* no address comes any more */
	jp_array_trim(&dump->addresses, &dump->address_cap, dump->info.addresses, sizeof *dump->addresses);
	jp_array_trim(&dump->frames, &dump->frame_cap, dump->frame_count, sizeof *dump->frames);
	jp_array_trim(&dump->depths, &dump->depth_cap, dump->info.stacks, sizeof *dump->depths);
	jp_array_trim(&dump->totals.bytes, &dump->totals.cap, dump->totals.len, 1);
	jp_array_trim(&dump->per_thread.bytes, &dump->per_thread.cap, dump->per_thread.len, 1);
}

void jp_dump_drop_addresses(struct jprof_dump *dump)
{
	free(dump->addresses);
	dump->addresses = NULL;
}

void jp_dump_drop_stacks(struct jprof_dump *dump)
{
	jp_dump_drop_addresses(dump);
	free(dump->frames);
	free(dump->depths);
	free(dump->totals.bytes);
	free(dump->per_thread.bytes);
	free(dump->given);
	free(dump->given_functions);
	free(dump->given_frames);
	free(dump->given_files);
	dump->frames = dump->depths = NULL;
	dump->totals = dump->per_thread = (struct jp_records){ 0 };
	dump->given = NULL;
	dump->given_functions = NULL;
	dump->given_frames = NULL;
	dump->given_files = NULL;
	dump->given_count = dump->given_function_count = dump->given_frame_count = dump->given_file_count = 0;
}

int jp_dump_warn(struct jprof_dump *dump, const struct jprof_error *what)
{
	if (jp_array_push(dump->warnings, dump->warning_count, dump->warning_cap))
		return JPROF_E_NOMEM;
	dump->warnings[dump->warning_count++] = *what;
	return 0;
}

const struct jprof_dump_info *jprof_dump_info(const struct jprof_dump *dump)
{
	return dump ? &dump->info : NULL;
}

const struct jprof_dump_thread *jprof_dump_thread(const struct jprof_dump *dump, size_t i)
{
	return dump && i < dump->info.threads ? &dump->threads[i].pub : NULL;
}

const struct jprof_maps *jprof_dump_maps(const struct jprof_dump *dump)
{
	return dump ? dump->maps : NULL;
}

size_t jprof_dump_warnings(const struct jprof_dump *dump)
{
	return dump ? dump->warning_count : 0;
}

const struct jprof_error *jprof_dump_warning(const struct jprof_dump *dump, size_t i)
{
	return dump && i < dump->warning_count ? &dump->warnings[i] : NULL;
}

void jprof_dump_free(struct jprof_dump *dump)
{
	if (!dump)
		return;
	jp_intern_release(&dump->names);
	jp_index_release(&dump->address_ids);
	jprof_maps_free(dump->maps);
	jp_dump_drop_stacks(dump);
	free(dump->threads);
	free(dump->warnings);
	jp_rubytable_free(dump->table);
	free(dump->name);
	free(dump);
}
