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

#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"

static const char maps_line[] = "MAPPED_LIBRARIES:";

/* ---- the first line -------------------------------------------------------------------- */

static int parse_first_line(struct jp_parse *p)
{
	struct jp_span line = { 0 };
	while (jp_reader_line(&p->reader, &line) && jp_span_char(&line, '%')) {
		if (jp_span_text(&line, "warn ") &&
		    jp_parse_warn(p, "%.*s", (int)(line.len < 120 ? line.len : 120), line.ptr))
			return jp_error_nomem(p->err);
		line = (struct jp_span){ 0 };
	}
	if (jp_span_starts(line, "heap_v") && !jp_span_starts(line, "heap_v2"))
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
		                "is a dump of a version that jprof does not know; it reads heap_v2");
	enum jp_number rate = JP_NUMBER_NONE;
	if (jp_span_text(&line, "heap_v2/"))
		rate = jp_span_decimal(&line, &p->dump->info.rate);
	if (rate == JP_NUMBER_TOO_BIG)
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
		                "the sampling rate in its first line is longer than 64 bits; make a new dump");
	if (rate != JP_NUMBER_OK || line.len)
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
		                "has no sampling rate in its first line (\"heap_v2/524288\"); make a new dump");
	if (!p->dump->info.rate && jp_parse_warn(p, "the sampling rate is 0: counters are taken as they are"))
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

static enum counter_line read_counters(struct jp_span line, struct counters *c)
{
	bool too_big = false;
	jp_span_blanks(&line);
	if (!jp_span_char(&line, 't'))
		return NOT_COUNTERS;
	c->total = jp_span_char(&line, '*');
	if (!c->total && jp_span_decimal(&line, &c->id) != JP_NUMBER_OK)
		return NOT_COUNTERS;
	if (!jp_span_char(&line, ':') || !jp_span_counters(&line, c->count, &too_big))
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
	return jp_order(x->pub.id, y->pub.id);
}

static uint32_t find_dump_thread(const struct jprof_dump *dump, uint64_t id)
{
	const struct jp_thread key = { .pub.id = id }, *found = NULL;
	if (dump->info.threads)
		found = bsearch(&key, dump->threads, dump->info.threads, sizeof key, by_id);
	return found ? (uint32_t)(found - dump->threads) : JP_NONE;
}

/* Lines before the first stack: a thread's name may hold anything, so what is not understood is
 * no fault here. Returns with the first line that is a stack or the end. */
static int parse_heap_header(struct jp_parse *p, struct jp_span *line, bool *more)
{
	struct jprof_dump *dump = p->dump;
	while ((*more = jp_reader_line(&p->reader, line)) && !jp_span_starts(*line, "@") &&
	       !jp_span_starts(*line, maps_line)) {
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

static int parse_counters(struct jp_parse *p, struct jp_span line)
{
	struct counters c = { 0 };
	enum counter_line kind = read_counters(line, &c);
	if (kind == NOT_COUNTERS || c.name.len)
		return jp_parse_fault(p, p->reader.cut ? "the file ends inside a line of counters"
		                                       : "a line is neither a stack, counters nor MAPPED_LIBRARIES:");
	if (kind == COUNTERS_TOO_BIG)
		return jp_parse_fault(p, "a counter is beyond 2^63-1, which no heap can reach");
	if (c.total && c.count[JPROF_INUSE_OBJECTS] && !c.count[JPROF_INUSE_SPACE] &&
	    jp_parse_warn(p, "objects without bytes cannot be scaled; they count as they are"))
		return jp_error_nomem(p->err);
	if (c.total && p->open_stack && jp_parse_commit(p))
		return JPROF_E_NOMEM;
	uint32_t thread = c.total ? JP_NONE : find_dump_thread(p->dump, c.id);
	if (p->open_stack || !p->dump->info.stacks || (!c.total && thread == JP_NONE))
		return 0;
	return jp_parse_record(p, thread, c.count);
}

static bool begins_maps(struct jp_span line)
{
	return jp_span_starts(line, maps_line);
}

int jp_parse_heap(struct jp_parse *p)
{
	struct jp_span line = { 0 };
	bool more = false;
	p->dump->info.format = "heap_v2";
	int rc = parse_first_line(p);
	if (!rc)
		rc = parse_heap_header(p, &line, &more);
	/* Stacks up to the maps, the end, or the first fault. */
	while (!rc && more && !p->maps_next) {
		if (jp_span_text(&line, maps_line))
			p->maps_next = true;
		else if (line.len)
			rc = jp_span_char(&line, '@') ? jp_parse_stack(p, line) : parse_counters(p, line);
		if (!rc && !p->maps_next)
			more = jp_reader_line(&p->reader, &line);
	}
	if (!rc && p->open_stack)
		rc = jp_parse_fault(p, "the last stack has no counters");
	if (rc && rc != p->fault.code)
		return rc;
	jp_parse_find_maps(p, begins_maps);
	return jp_parse_end(p);
}
