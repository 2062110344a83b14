/* Dumps in text: what their formats share, and which one a file is. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "input/heapfile.h"
#include "input/maps.h"
#include "input/sniff.h"
#include "input/unpack.h"

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

int jp_dump_warn(struct jprof_dump *dump, const struct jprof_error *what)
{
	if (jp_array_push(dump->warnings, dump->warning_count, dump->warning_cap))
		return JPROF_E_NOMEM;
	dump->warnings[dump->warning_count++] = *what;
	return 0;
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
	if (!read_counter(line, &count[0], too_big) || !jp_span_char(line, ':') ||
	    !read_counter(line, &count[1], too_big))
		return false;
	jp_span_blanks(line);
	return jp_span_char(line, '[') && read_counter(line, &count[2], too_big) && jp_span_char(line, ':') &&
	       read_counter(line, &count[3], too_big) && jp_span_char(line, ']');
}

int jp_parse_record(struct jp_parse *p, uint32_t thread, const uint64_t count[JPROF_COUNTERS])
{
	struct jp_records *to = thread == JP_NONE ? &p->dump->totals : &p->dump->per_thread;
	if (jp_array_push(to->items, to->count, to->cap))
		return jp_error_nomem(p->err);
	struct jp_record *record = &to->items[to->count++];
	*record = (struct jp_record){ .stack = (uint32_t)p->dump->info.stacks - 1, .thread = thread };
	memcpy(record->count, count, sizeof record->count);
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

int jp_parse_stack(struct jp_parse *p, struct jp_span line)
{
	p->depth = 0;
	p->open_stack = false;
	for (jp_span_blanks(&line); line.len; jp_span_blanks(&line)) {
		uint64_t address;
		if (!jp_span_text(&line, "0x"))
			return jp_parse_fault(p, "an address should start with 0x");
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

static int add_frame(struct jprof_dump *dump, uint64_t address)
{
	uint32_t id = jp_intern(&dump->address_ids, &address, sizeof address);
	if (id == JP_NONE || jp_array_push(dump->frames, dump->frame_count, dump->frame_cap) ||
	    jp_array_reserve(&dump->addresses, &dump->address_cap, (size_t)id + 1, sizeof *dump->addresses))
		return -1;
	dump->addresses[id] = address;
	dump->info.addresses = dump->address_ids.count;
	dump->frames[dump->frame_count++] = id;
	return 0;
}

int jp_parse_commit(struct jp_parse *p)
{
	struct jprof_dump *dump = p->dump;
	struct jp_stack stack = { .first = dump->frame_count, .depth = (uint32_t)p->depth };
	if (!p->depth && jp_parse_warn(p, "a stack without addresses: its bytes are in the total and in no row"))
		return jp_error_nomem(p->err);
	for (size_t i = 0; i < p->depth; i++)
		if (add_frame(dump, p->stack[i] - (i && p->stack[i])))
			return jp_error_nomem(p->err);
	if (jp_array_push(dump->stacks, dump->info.stacks, dump->stack_cap))
		return jp_error_nomem(p->err);
	dump->stacks[dump->info.stacks++] = stack;
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
	const struct jprof_error *why = p->damage.code ? &p->damage : p->fault.code ? &p->fault : &maps;
	if (rc || (!why->code && dump->maps))
		return rc;
	const char *what = why->code ? why->text : "the file ends without MAPPED_LIBRARIES:";
	unsigned line = why->line ? why->line : p->reader.line;
	if (!dump->info.stacks && (p->fault.code || p->damage.code || !dump->maps))
		return jp_error(p->err, JPROF_E_FORMAT, dump->name, line,
		                "%s; no stack before it is sound, make a new dump", what);
	jp_error(&warning, 0, dump->name, line, "%s; %zu stack%s read", what, dump->info.stacks,
	         dump->info.stacks == 1 ? " was" : "s were");
	return jp_dump_warn(dump, &warning) ? jp_error_nomem(p->err) : 0;
}

static void add_up(struct jprof_dump *dump)
{
	double value[JPROF_COUNTERS];
	for (size_t i = 0; i < dump->totals.count; i++) {
		jp_scale_record(dump->scaling, dump->info.rate, dump->totals.items[i].count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->info.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->per_thread.count; i++) {
		jp_scale_record(dump->scaling, dump->info.rate, dump->per_thread.items[i].count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->threads[dump->per_thread.items[i].thread].pub.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->info.threads; i++)
		dump->threads[i].pub.name = jp_intern_get(&dump->names, dump->threads[i].name);
	dump->info.has_alloc = dump->info.total[JPROF_ALLOC_OBJECTS] > 0;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

bool jprof_dump_probe(const void *data, size_t len)
{
	return jp_sniff(data, len) != JP_FORMAT_UNKNOWN;
}

static int parse_text(struct jp_parse *p, const void *data, size_t len)
{
	jp_reader_init(&p->reader, data, len);
	switch (jp_sniff(data, len)) {
	case JP_FORMAT_HEAP: return jp_parse_heap(p);
	case JP_FORMAT_GPERF: return jp_parse_gperf(p);
	case JP_FORMAT_RAW: return jp_parse_raw(p);
	default: return jp_sniff_refuse(data, len, p->dump->name, p->err);
	}
}

static int parse_any(struct jp_parse *p, const void *data, size_t len)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) unpacked = { 0 };
	if (!jp_is_packed(data, len))
		return parse_text(p, data, len);
	int rc = jp_unpack(data, len, p->dump->name, &jp_unpack_default, &unpacked, &p->damage, p->err);
	if (!rc && p->damage.code && !unpacked.len)
		rc = jp_error(p->err, JPROF_E_FORMAT, p->dump->name, 0,
		              "the compressed data is cut or damaged from its start on; copy it again");
	return rc ? rc : parse_text(p, unpacked.text, unpacked.len);
}

int jp_dump_parse(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                  struct jprof_dump **out, struct jprof_error *err)
{
	struct jp_parse p = { .dump = calloc(1, sizeof *p.dump), .err = err };
	if (!p.dump)
		return jp_error_nomem(err);
	if (damage)
		p.damage = *damage;
	p.dump->name = strdup(name ? name : "");
	int rc = p.dump->name ? parse_any(&p, data, len) : jp_error_nomem(err);
	free(p.stack);
	if (rc) {
		jprof_dump_free(p.dump);
		return rc;
	}
	add_up(p.dump);
	*out = p.dump;
	return 0;
}

int jprof_dump_parse(const void *data, size_t len, const char *name, struct jprof_dump **out, struct jprof_error *err)
{
	return jp_dump_parse(data, len, name, NULL, out, err);
}

int jprof_dump_open(const char *path, struct jprof_dump **dump, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct stat st;
	int rc = jp_file_read(path, &text, &st, err);
	if (!rc)
		rc = jprof_dump_parse(text.text, text.len, strcmp(path, "-") ? path : "<stdin>", dump, err);
	if (!rc && S_ISREG(st.st_mode))
		(*dump)->mtime = st.st_mtime;
	return rc;
}

const struct jprof_dump_info *jprof_dump_info(const struct jprof_dump *dump)
{
	return &dump->info;
}

const struct jprof_dump_thread *jprof_dump_thread(const struct jprof_dump *dump, size_t i)
{
	return &dump->threads[i].pub;
}

const struct jprof_maps *jprof_dump_maps(const struct jprof_dump *dump)
{
	return dump->maps;
}

size_t jprof_dump_warnings(const struct jprof_dump *dump)
{
	return dump->warning_count;
}

const struct jprof_error *jprof_dump_warning(const struct jprof_dump *dump, size_t i)
{
	return &dump->warnings[i];
}

void jprof_dump_free(struct jprof_dump *dump)
{
	if (!dump)
		return;
	jp_intern_release(&dump->names);
	jp_intern_release(&dump->address_ids);
	jprof_maps_free(dump->maps);
	free(dump->addresses);
	free(dump->frames);
	free(dump->stacks);
	free(dump->totals.items);
	free(dump->per_thread.items);
	free(dump->threads);
	free(dump->given);
	free(dump->warnings);
	free(dump->name);
	free(dump);
}
