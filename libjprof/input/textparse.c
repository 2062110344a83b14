#include "input/textparse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "input/maps.h"

enum { max_depth = 1 << 16 }; /* jemalloc writes 128, 256 at most in some builds */

/* ---- faults ------------------------------------------------------------------------------- */

int jp_parse_fault(struct jp_parse *p, const char *fmt, ...)
{
	char text[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return jp_error(&p->fault, JPROF_E_FORMAT, p->dump->name, p->reader.line, "%s", text);
}

int jp_parse_warn(struct jp_parse *p, const char *fmt, ...)
{
	struct jprof_error what = { 0 };
	char text[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	jp_error(&what, 0, p->dump->name, p->reader.line, "%s", text);
	return jp_dump_warn(p->dump, &what);
}

/* ---- counters ------------------------------------------------------------------------------ */

static bool read_counter(struct jp_span *line, uint64_t *value, bool *too_big)
{
	jp_span_blanks(line);
	enum jp_number n = jp_span_decimal(line, value);
	if (n == JP_NUMBER_TOO_BIG || (n == JP_NUMBER_OK && *value > INT64_MAX))
		*too_big = true;
	return n != JP_NUMBER_NONE;
}

bool jp_span_counters(struct jp_span *line, uint64_t count[JPROF_COUNTERS], bool *too_big)
{
	if (!read_counter(line, &count[JPROF_INUSE_OBJECTS], too_big) || !jp_span_char(line, ':') ||
	    !read_counter(line, &count[JPROF_INUSE_SPACE], too_big))
		return false;
	jp_span_blanks(line);
	return jp_span_char(line, '[') && read_counter(line, &count[JPROF_ALLOC_OBJECTS], too_big) &&
	       jp_span_char(line, ':') && read_counter(line, &count[JPROF_ALLOC_SPACE], too_big) &&
	       jp_span_char(line, ']');
}

int jp_parse_record(struct jp_parse *p, uint32_t thread, const uint64_t count[JPROF_COUNTERS])
{
	struct jp_records *to = thread == JP_NONE ? &p->dump->totals : &p->dump->per_thread;
	struct jp_record record = { .stack = (uint32_t)p->dump->info.stacks - 1, .thread = thread };
	memcpy(record.count, count, sizeof record.count);
	return jp_records_add(to, &record) ? jp_error_nomem(p->err) : 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* Room for all addresses that are as long as usual. */
static int reserve_stack(struct jp_parse *p, size_t len)
{
	enum { usual = sizeof " 0x7f0123456789" - 1 };
	size_t need = len / usual + 1;
	return jp_array_reserve(&p->stack, &p->stack_cap, need < max_depth ? need : max_depth, sizeof *p->stack);
}

int jp_parse_stack(struct jp_parse *p, struct jp_span line)
{
	p->depth = 0;
	p->open_stack = false;
	if (reserve_stack(p, line.len))
		return jp_error_nomem(p->err);
	for (;;) {
		uint64_t address;
		size_t room = p->stack_cap < max_depth ? p->stack_cap : max_depth;
		p->depth += jp_span_addresses(&line, p->stack + p->depth, room - p->depth);
		jp_span_blanks(&line);
		if (!line.len)
			break;
		if (line.len < 2 || line.ptr[0] != '0' || line.ptr[1] != 'x')
			return jp_parse_fault(p, "an address should start with 0x");
		line.ptr += 2;
		line.len -= 2;
		enum jp_number n = jp_span_hex(&line, &address);
		if (n != JP_NUMBER_OK)
			return jp_parse_fault(p, n == JP_NUMBER_NONE ? "an address has no digits"
			                                             : "an address is longer than 64 bits");
		if (line.len && *line.ptr != ' ')
			return jp_parse_fault(p, "an address ends in a character that is no digit");
		if (p->depth == max_depth)
			return jp_parse_fault(p, "a stack is deeper than %d frames", max_depth);
		if (jp_array_push(p->stack, p->depth, p->stack_cap))
			return jp_error_nomem(p->err);
		p->stack[p->depth++] = address;
	}
	p->open_stack = true;
	return p->reader.cut ? jp_parse_fault(p, "the file ends inside a stack") : 0;
}

/* The addresses of the stack as they are looked up: those of return addresses lie in the call. */
static int push_frames(struct jp_parse *p)
{
	struct jprof_dump *dump = p->dump;
	for (size_t i = 1; i < p->depth; i++)
		p->stack[i] -= p->stack[i] != 0;
	if (jp_array_reserve(&dump->frames, &dump->frame_cap, dump->frame_count + p->depth, sizeof *dump->frames) ||
	    jp_index_words(&dump->address_ids, &dump->addresses, &dump->address_cap, p->stack, p->depth,
	                   dump->frames + dump->frame_count))
		return -1;
	dump->frame_count += p->depth;
	dump->info.addresses = dump->address_ids.count;
	return 0;
}

int jp_parse_commit(struct jp_parse *p)
{
	struct jprof_dump *dump = p->dump;
	if (!p->depth && jp_parse_warn(p, "a stack without addresses: its bytes are in the row [without addresses]"))
		return jp_error_nomem(p->err);
	if (p->depth && push_frames(p))
		return jp_error_nomem(p->err);
	if (jp_array_push(dump->depths, dump->info.stacks, dump->depth_cap))
		return jp_error_nomem(p->err);
	dump->depths[dump->info.stacks++] = (uint32_t)p->depth;
	if (p->depth > dump->info.depth)
		dump->info.depth = p->depth;
	p->open_stack = false;
	return 0;
}

/* ---- the end ----------------------------------------------------------------------------------- */

void jp_parse_find_maps(struct jp_parse *p, bool (*is_maps_line)(struct jp_span line))
{
	struct jp_span line;
	while (p->fault.code && !p->maps_next && jp_reader_line(&p->reader, &line))
		p->maps_next = is_maps_line(line);
}

/* Reads the maps; *why tells where they end before their time. */
static int parse_maps(struct jp_parse *p, struct jprof_error *why)
{
	int rc = jp_maps_read(&p->reader, p->dump->name, &p->dump->maps, why);
	if (rc && rc != JPROF_E_FORMAT)
		return jp_error_nomem(p->err);
	if (rc && (p->reader.cut || jprof_maps_count(p->dump->maps)))
		snprintf(why->text, sizeof why->text, "%s",
		         p->reader.cut ? "the file is cut short inside its maps" : "what follows the maps is not read");
	if (!jprof_maps_count(p->dump->maps)) {
		jprof_maps_free(p->dump->maps);
		p->dump->maps = NULL;
	}
	return 0;
}

int jp_parse_end(struct jp_parse *p)
{
	struct jprof_dump *dump = p->dump;
	struct jprof_error maps = { 0 }, warning = { 0 };
	int rc = p->maps_next ? parse_maps(p, &maps) : 0;
	const struct jprof_error *why = p->damage->code ? p->damage : p->fault.code ? &p->fault : &maps;
	if (rc || (!why->code && dump->maps))
		return rc;
	const char *what = why->code ? why->text : "the file ends without MAPPED_LIBRARIES:";
	unsigned line = why->line ? why->line : p->reader.line;
	if (!dump->info.stacks && (p->fault.code || p->damage->code || !dump->maps))
		return jp_error(p->err, JPROF_E_FORMAT, dump->name, line,
		                "%s; no stack before it is sound, make a new dump", what);
	jp_error(&warning, 0, dump->name, line, "%s; %zu stack%s read", what, dump->info.stacks,
	         dump->info.stacks == 1 ? " was" : "s were");
	return jp_dump_warn(dump, &warning) ? jp_error_nomem(p->err) : 0;
}
