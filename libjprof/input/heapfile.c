/* The format, as jemalloc 4 to 5.3 writes it:
 *
 *   heap_v2/RATE                       RATE = 2^lg_prof_sample, bytes
 *     t*: n: s [an: as]                sums: objects, bytes, [ever allocated: objects, bytes]
 *     tN: n: s [an: as] NAME           one line a thread; the name runs to the end of the line
 *   @ 0xA0 0xA1 ...                    a stack, innermost first; what follows belongs to it
 *     t*: n: s [an: as]
 *     tN: n: s [an: as]
 *                                      (a blank line)
 *   MAPPED_LIBRARIES:
 *   the text of /proc/PID/maps
 *
 * Lines that begin with % may stand before the first; "%warn TEXT" is a message to the reader.
 * A1 and all further addresses are return addresses: the call is one byte before. jeprof looks
 * A0 up as it is; so is done here. */
#include "input/heapfile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/reader.h"
#include "input/maps.h"

enum { max_depth = 1 << 16 }; /* jemalloc writes 128, 256 at most in some builds */

/* A parse under way. */
struct parse {
	struct jprof_dump *dump;
	struct jp_reader reader;
	struct jprof_error *err;
	struct jprof_error fault; /* where the sound part ends; code 0: nowhere yet */
	uint64_t *stack;          /* the stack whose counters are still to come */
	size_t depth, stack_cap;
	bool open_stack; /* there is one */
	bool maps_next;  /* the line MAPPED_LIBRARIES: was read */
};

static int fault(struct parse *p, const char *fmt, ...) jp_printf(2, 3);

static int fault(struct parse *p, const char *fmt, ...)
{
	char text[256];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return jp_error(&p->fault, JPROF_E_FORMAT, p->dump->name, p->reader.line, "%s", text);
}

static int warn(struct jprof_dump *dump, const struct jprof_error *what)
{
	if (jp_array_push(dump->warnings, dump->warning_count, dump->warning_cap))
		return JPROF_E_NOMEM;
	dump->warnings[dump->warning_count++] = *what;
	return 0;
}

static int warn_line(struct parse *p, const char *text)
{
	struct jprof_error what = { 0 };
	jp_error(&what, 0, p->dump->name, p->reader.line, "%s", text);
	return warn(p->dump, &what);
}

/* ---- the first line -------------------------------------------------------------------- */

static bool is_dump_line(struct jp_span line)
{
	return jp_span_starts(line, "heap_v");
}

bool jprof_dump_probe(const void *data, size_t len)
{
	struct jp_reader reader;
	struct jp_span line;
	jp_reader_init(&reader, data, len);
	while (jp_reader_line(&reader, &line))
		if (!jp_span_starts(line, "%"))
			return is_dump_line(line);
	return false;
}

/* Says what a file is that is no heap_v2 dump, and what to do with it. */
static int refuse(struct parse *p, struct jp_span first, size_t len)
{
	static const struct {
		const char *start, *says;
	} known[] = {
		{ "\177ELF", "is a program, not a heap dump; the order is: jprof PROGRAM DUMP" },
		{ "#!", "is a script, not a heap dump; the order is: jprof PROGRAM DUMP" },
		{ "\037\213", "is compressed; unpack it first: gzip -dc" },
		{ "\xfd"
		  "7zXZ",
		  "is compressed; unpack it first: xz -dc" },
		{ "\x28\xb5\x2f\xfd", "is compressed; unpack it first: zstd -dc" },
		{ "heap profile:",
		  "is a heap profile of gperftools or jemalloc 3; jprof reads heap_v2 of jemalloc 4 and later" },
		{ "--- ", "is a symbolized profile, which this version does not read; give the dump itself" },
		{ "heap_v2", "has no sampling rate in its first line (\"heap_v2/524288\"); make a new dump" },
		{ "heap_v", "is a dump of a version that jprof does not know; it reads heap_v2" },
	};
	uint64_t rate;
	if (!len)
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, 0, "is empty; make a new dump");
	struct jp_span line = first;
	if (jp_span_text(&line, "heap_v2/") && jp_span_decimal(&line, &rate) == JP_NUMBER_TOO_BIG)
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
		                "the sampling rate in its first line is longer than 64 bits; make a new dump");
	for (size_t i = 0; i < jp_count(known); i++)
		if (jp_span_starts(first, known[i].start))
			return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line, "%s", known[i].says);
	return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
	                "is no heap dump: its first line should read \"heap_v2/RATE\"");
}

static int parse_first_line(struct parse *p, size_t len)
{
	struct jp_span line = { 0 }, whole;
	while (jp_reader_line(&p->reader, &line) && jp_span_char(&line, '%')) {
		if (jp_span_text(&line, "warn ")) {
			char text[128];
			snprintf(text, sizeof text, "%.*s", (int)(line.len < 120 ? line.len : 120), line.ptr);
			if (warn_line(p, text))
				return jp_error_nomem(p->err);
		}
		line = (struct jp_span){ 0 };
	}
	whole = line;
	if (!jp_span_text(&line, "heap_v2/") || jp_span_decimal(&line, &p->dump->info.rate) != JP_NUMBER_OK || line.len)
		return refuse(p, whole, len);
	if (!p->dump->info.rate && warn_line(p, "the sampling rate is 0: counters are taken as they are"))
		return jp_error_nomem(p->err);
	return 0;
}

/* ---- counter lines ----------------------------------------------------------------------- */

enum counter_line { NOT_COUNTERS, COUNTERS, COUNTERS_TOO_BIG };

struct counters {
	bool total; /* t*, else thread `id` */
	uint64_t id;
	uint64_t count[JPROF_COUNTERS];
	struct jp_span name;
};

/* A counter is at most 2^63-1: what is above comes from a difference that went below zero. */
static bool read_counter(struct jp_span *line, uint64_t *value, bool *too_big)
{
	jp_span_blanks(line);
	enum jp_number n = jp_span_decimal(line, value);
	if (n == JP_NUMBER_TOO_BIG || (n == JP_NUMBER_OK && *value > INT64_MAX))
		*too_big = true;
	return n != JP_NUMBER_NONE;
}

static enum counter_line read_counters(struct jp_span line, struct counters *c)
{
	bool too_big = false;
	jp_span_blanks(&line);
	if (!jp_span_char(&line, 't'))
		return NOT_COUNTERS;
	c->total = jp_span_char(&line, '*');
	if (!c->total && jp_span_decimal(&line, &c->id) != JP_NUMBER_OK)
		return NOT_COUNTERS;
	if (!jp_span_char(&line, ':') || !read_counter(&line, &c->count[0], &too_big) || !jp_span_char(&line, ':') ||
	    !read_counter(&line, &c->count[1], &too_big))
		return NOT_COUNTERS;
	jp_span_blanks(&line);
	if (!jp_span_char(&line, '[') || !read_counter(&line, &c->count[2], &too_big) || !jp_span_char(&line, ':') ||
	    !read_counter(&line, &c->count[3], &too_big) || !jp_span_char(&line, ']'))
		return NOT_COUNTERS;
	jp_span_blanks(&line);
	c->name = line;
	return too_big ? COUNTERS_TOO_BIG : COUNTERS;
}

/* ---- threads ------------------------------------------------------------------------------- */

static int add_thread(struct jprof_dump *dump, const struct counters *c)
{
	if (jp_array_push(dump->threads, dump->info.threads, dump->thread_cap))
		return -1;
	uint32_t name = jp_intern(&dump->names, c->name.ptr, c->name.len);
	dump->threads[dump->info.threads++] = (struct jp_thread){ .pub.id = c->id, .name = name };
	return name == JP_NONE ? -1 : 0;
}

static int by_id(const void *a, const void *b)
{
	const struct jp_thread *x = a, *y = b;
	return (x->pub.id > y->pub.id) - (x->pub.id < y->pub.id);
}

static uint32_t find_thread(const struct jprof_dump *dump, uint64_t id)
{
	const struct jp_thread key = { .pub.id = id }, *found = NULL;
	if (dump->info.threads)
		found = bsearch(&key, dump->threads, dump->info.threads, sizeof key, by_id);
	return found ? (uint32_t)(found - dump->threads) : JP_NONE;
}

/* Lines before the first stack: a thread's name may hold anything, so what is not understood is
 * no fault here. Returns with the first line that is a stack or the end. */
static int parse_header(struct parse *p, struct jp_span *line, bool *more)
{
	struct jprof_dump *dump = p->dump;
	while ((*more = jp_reader_line(&p->reader, line)) && !jp_span_starts(*line, "@") &&
	       !jp_span_starts(*line, "MAPPED_LIBRARIES:")) {
		struct counters c = { 0 };
		if (read_counters(*line, &c) == NOT_COUNTERS)
			continue;
		for (int i = 0; c.total && i < JPROF_COUNTERS; i++)
			dump->info.header[i] = (double)c.count[i];
		if (!c.total && add_thread(dump, &c))
			return jp_error_nomem(p->err);
	}
	if (dump->info.threads)
		qsort(dump->threads, dump->info.threads, sizeof *dump->threads, by_id);
	return 0;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

/* `line` is what follows the @. */
static int parse_stack(struct parse *p, struct jp_span line)
{
	p->depth = 0;
	p->open_stack = false;
	for (jp_span_blanks(&line); line.len; jp_span_blanks(&line)) {
		uint64_t address;
		if (!jp_span_text(&line, "0x"))
			return fault(p, "an address should start with 0x");
		enum jp_number n = jp_span_hex(&line, &address);
		if (n != JP_NUMBER_OK)
			return fault(p, n == JP_NUMBER_NONE ? "an address has no digits"
			                                    : "an address is longer than 64 bits");
		if (line.len && *line.ptr != ' ')
			return fault(p, "an address ends in a character that is no digit");
		if (p->depth == max_depth)
			return fault(p, "a stack is deeper than %d frames", max_depth);
		if (jp_array_push(p->stack, p->depth, p->stack_cap))
			return jp_error_nomem(p->err);
		p->stack[p->depth++] = address;
	}
	p->open_stack = true;
	return p->reader.cut ? fault(p, "the file ends inside a stack") : 0;
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

/* The stack has counters: it becomes part of the dump. */
static int commit_stack(struct parse *p)
{
	struct jprof_dump *dump = p->dump;
	struct jp_stack stack = { .first = dump->frame_count, .depth = (uint32_t)p->depth };
	if (!p->depth && warn_line(p, "a stack without addresses: its bytes are in the total and in no row"))
		return -1;
	for (size_t i = 0; i < p->depth; i++)
		if (add_frame(dump, p->stack[i] - (i && p->stack[i])))
			return -1;
	if (jp_array_push(dump->stacks, dump->info.stacks, dump->stack_cap))
		return -1;
	dump->stacks[dump->info.stacks++] = stack;
	if (p->depth > dump->info.depth)
		dump->info.depth = p->depth;
	p->open_stack = false;
	return 0;
}

static int add_record(struct jp_records *to, uint32_t stack, uint32_t thread, const struct counters *c)
{
	if (jp_array_push(to->items, to->count, to->cap))
		return -1;
	struct jp_record *record = &to->items[to->count++];
	*record = (struct jp_record){ .stack = stack, .thread = thread };
	memcpy(record->count, c->count, sizeof record->count);
	return 0;
}

static int parse_counters(struct parse *p, struct jp_span line)
{
	struct jprof_dump *dump = p->dump;
	struct counters c = { 0 };
	enum counter_line kind = read_counters(line, &c);
	if (kind == NOT_COUNTERS || c.name.len)
		return fault(p, p->reader.cut ? "the file ends inside a line of counters"
		                              : "a line is neither a stack, counters nor MAPPED_LIBRARIES:");
	if (kind == COUNTERS_TOO_BIG)
		return fault(p, "a counter is beyond 2^63-1, which no heap can reach");
	if (c.total && c.count[0] && !c.count[1] &&
	    warn_line(p, "objects without bytes cannot be scaled; they count as they are"))
		return jp_error_nomem(p->err);
	if (c.total && p->open_stack && commit_stack(p))
		return jp_error_nomem(p->err);
	uint32_t thread = c.total ? JP_NONE : find_thread(dump, c.id);
	if (p->open_stack || !dump->info.stacks || (!c.total && thread == JP_NONE))
		return 0;
	struct jp_records *to = c.total ? &dump->totals : &dump->per_thread;
	return add_record(to, (uint32_t)dump->info.stacks - 1, thread, &c) ? jp_error_nomem(p->err) : 0;
}

static int parse_body_line(struct parse *p, struct jp_span line)
{
	if (!line.len)
		return 0;
	if (jp_span_text(&line, "MAPPED_LIBRARIES:")) {
		p->maps_next = true;
		return 0;
	}
	return jp_span_char(&line, '@') ? parse_stack(p, line) : parse_counters(p, line);
}

/* Stacks up to the maps, the end, or the first fault. */
static int parse_stacks(struct parse *p, struct jp_span line, bool more)
{
	int rc = 0;
	while (more && !rc) {
		rc = parse_body_line(p, line);
		if (rc || p->maps_next)
			break;
		more = jp_reader_line(&p->reader, &line);
	}
	if (p->open_stack && !rc)
		rc = fault(p, "the last stack has no counters");
	return p->fault.code && rc == p->fault.code ? 0 : rc;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static void find_maps_after_fault(struct parse *p)
{
	struct jp_span line;
	while (!p->maps_next && jp_reader_line(&p->reader, &line))
		p->maps_next = jp_span_starts(line, "MAPPED_LIBRARIES:");
}

/* Reads the maps; *why tells where they end before their time. */
static int parse_maps(struct parse *p, struct jprof_error *why)
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

/* One warning says where the sound part ends; if there is none, that is the error. */
static int conclude(struct parse *p, const struct jprof_error *maps)
{
	struct jprof_dump *dump = p->dump;
	const struct jprof_error *why = p->fault.code ? &p->fault : maps;
	if (!why->code && dump->maps)
		return 0;
	const char *what = why->code ? why->text : "the file ends without MAPPED_LIBRARIES:";
	unsigned line = why->code ? why->line : p->reader.line;
	if (!dump->info.stacks && (p->fault.code || !dump->maps))
		return jp_error(p->err, JPROF_E_FORMAT, dump->name, line,
		                "%s; no stack before it is sound, make a new dump", what);
	struct jprof_error warning = { 0 };
	jp_error(&warning, 0, dump->name, line, "%s; %zu stack%s read", what, dump->info.stacks,
	         dump->info.stacks == 1 ? " was" : "s were");
	return warn(dump, &warning) ? jp_error_nomem(p->err) : 0;
}

static void add_up(struct jprof_dump *dump)
{
	double value[JPROF_COUNTERS];
	for (size_t i = 0; i < dump->totals.count; i++) {
		jp_unbias_record(dump->info.rate, dump->totals.items[i].count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->info.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->per_thread.count; i++) {
		jp_unbias_record(dump->info.rate, dump->per_thread.items[i].count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->threads[dump->per_thread.items[i].thread].pub.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->info.threads; i++)
		dump->threads[i].pub.name = jp_intern_get(&dump->names, dump->threads[i].name);
	dump->info.has_alloc = dump->info.total[JPROF_ALLOC_OBJECTS] > 0;
}

static int parse_all(struct parse *p, size_t len)
{
	struct jp_span line = { 0 };
	bool more;
	int rc = parse_first_line(p, len);
	if (!rc)
		rc = parse_header(p, &line, &more);
	if (!rc)
		rc = parse_stacks(p, line, more);
	if (rc)
		return rc;
	if (p->fault.code)
		find_maps_after_fault(p);
	struct jprof_error maps = { 0 };
	if (p->maps_next)
		rc = parse_maps(p, &maps);
	if (!rc)
		rc = conclude(p, &maps);
	add_up(p->dump);
	return rc;
}

int jprof_dump_parse(const void *data, size_t len, const char *name, struct jprof_dump **out, struct jprof_error *err)
{
	struct parse p = { .dump = calloc(1, sizeof *p.dump), .err = err };
	if (!p.dump)
		return jp_error_nomem(err);
	p.dump->name = strdup(name ? name : "");
	jp_reader_init(&p.reader, data, len);
	int rc = p.dump->name ? parse_all(&p, len) : jp_error_nomem(err);
	free(p.stack);
	if (rc)
		jprof_dump_free(p.dump);
	else
		*out = p.dump;
	return rc;
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
	free(dump->warnings);
	free(dump->name);
	free(dump);
}

/* With r = mean size / rate, an object of mean size is sampled with probability 1 - exp(-r)
 * (jemalloc's prof.c draws the distance between samples from a geometric distribution; the same
 * formula stands in jeprof's AdjustSamples). */
void jp_unbias(uint64_t rate, uint64_t objects, uint64_t bytes, double *true_objects, double *true_bytes)
{
	double n = (double)objects, s = (double)bytes, k = 1;
	if (objects && bytes && rate) {
		double r = s / n / (double)rate, p = 1 - exp(-r);
		k = 1 / (p > 0 ? p : -expm1(-r)); /* p is lost in rounding where r is below 1e-16 */
	}
	*true_objects = n * k;
	*true_bytes = s * k;
}

void jp_unbias_record(uint64_t rate, const uint64_t count[JPROF_COUNTERS], double value[JPROF_COUNTERS])
{
	jp_unbias(rate, count[0], count[1], &value[0], &value[1]);
	jp_unbias(rate, count[2], count[3], &value[2], &value[3]);
}
