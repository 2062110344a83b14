/* The format, as gperftools writes heap and growth profiles, and jemalloc before 4.0:
 *
 *   heap profile: n: s [an: as] @ TYPE/RATE    sums; TYPE and RATE may be missing
 *   n: s [an: as] @ 0xA0 0xA1 ...              a stack, innermost first
 *   MAPPED_LIBRARIES:   or   --- Memory map:
 *   the text of /proc/PID/maps
 *
 * In a memory map a line "build=DIR" sets what $build stands for in the paths after it. TYPE tells how
 * the counters were sampled, in jeprof's reading:
 *   heapprofile, or no "heap" in it (growthz)  not at all
 *   heap_v2                                    as a Poisson process, as in heap_v2 dumps
 *   heap, any other                            version 1: each RATE/2 bytes
 *   none                                       version 1 if both pairs of sums are equal, else not at all
 * Without RATE it is one in 128 KB. A line with "growth" in it makes a growth profile: same units. */
#include "input/gperf.h"

#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"

static const uint64_t default_step = 131072; /* bytes between two samples, where none is given */

static bool contains(struct jp_span span, const char *text)
{
	return memmem(span.ptr, span.len, text, strlen(text)) != NULL;
}

/* The RATE behind the slash, 0 if there is none. */
static uint64_t rate_of(struct jp_span *type, struct jp_span line)
{
	const char *slash = memchr(line.ptr, '/', line.len);
	uint64_t rate = 0;
	*type = line;
	if (!slash)
		return 0;
	type->len = (size_t)(slash - line.ptr);
	struct jp_span digits = { slash + 1, line.len - type->len - 1 };
	return jp_span_decimal(&digits, &rate) == JP_NUMBER_OK ? rate : 0;
}

static void choose_scaling(struct jprof_dump *dump, struct jp_span line)
{
	const double *sum = dump->info.header;
	struct jp_span type = { 0 };
	jp_span_blanks(&line);
	if (jp_span_char(&line, '@'))
		jp_span_blanks(&line);
	uint64_t rate = rate_of(&type, line);
	if (!type.len)
		dump->scaling = sum[JPROF_INUSE_OBJECTS] == sum[JPROF_ALLOC_OBJECTS] &&
		                        sum[JPROF_INUSE_SPACE] == sum[JPROF_ALLOC_SPACE]
		                    ? JP_SCALE_LINEAR
		                    : JP_SCALE_NONE;
	else if (!contains(type, "heap") || (type.len == strlen("heapprofile") && jp_span_starts(type, "heapprofile")))
		dump->scaling = JP_SCALE_NONE;
	else
		dump->scaling = contains(type, "_v2") ? JP_SCALE_POISSON : JP_SCALE_LINEAR;
	if (dump->scaling == JP_SCALE_POISSON)
		dump->info.rate = rate ? rate : default_step;
	else if (dump->scaling == JP_SCALE_LINEAR)
		dump->info.rate = rate ? rate : 2 * default_step;
}

static int parse_gperf_header(struct jp_parse *p)
{
	struct jprof_dump *dump = p->dump;
	struct jp_span line = { 0 };
	uint64_t count[JPROF_COUNTERS];
	bool too_big = false;
	while (jp_reader_line(&p->reader, &line) && jp_span_starts(line, "%"))
		continue;
	dump->info.format = contains(line, "growth") ? "gperftools growth profile" : "gperftools heap profile";
	if (!jp_span_text(&line, "heap profile:") || !jp_span_counters(&line, count, &too_big) || too_big)
		return jp_error(
		    p->err, JPROF_E_FORMAT, dump->name, p->reader.line,
		    "the first line of a heap profile should read \"heap profile: N: BYTES [N: BYTES] @ TYPE\"");
	for (int c = 0; c < JPROF_COUNTERS; c++)
		dump->info.header[c] = (double)count[c];
	choose_scaling(dump, line);
	return 0;
}

static bool begins_gperf_maps(struct jp_span line)
{
	return jp_span_starts(line, "MAPPED_LIBRARIES:") || jp_span_starts(line, "--- Memory map:");
}

static int parse_gperf_line(struct jp_parse *p, struct jp_span line)
{
	uint64_t count[JPROF_COUNTERS];
	bool too_big = false;
	jp_span_blanks(&line);
	if (!line.len)
		return 0;
	if (!jp_span_counters(&line, count, &too_big))
		return jp_parse_fault(p, p->reader.cut
		                             ? "the file ends inside a line of counters"
		                             : "a line is neither a stack with counters nor MAPPED_LIBRARIES:");
	if (too_big)
		return jp_parse_fault(p, "a counter is beyond 2^63-1, which no heap can reach");
	jp_span_blanks(&line);
	if (!jp_span_char(&line, '@'))
		return jp_parse_fault(p, "there is no @ and no stack after the counters");
	int rc = jp_parse_stack(p, line);
	if (!rc)
		rc = jp_parse_commit(p);
	return rc ? rc : jp_parse_record(p, JP_NONE, count);
}

/* The rest of the file with $build in place; the reader then stands at its start. */
static int expand_build(struct jp_parse *p, struct jp_strbuf *text)
{
	static const char variable[] = "$build";
	struct jp_span build = { "", 0 }, line;
	unsigned before = p->reader.line;
	while (jp_reader_line(&p->reader, &line)) {
		struct jp_span word = line;
		jp_span_blanks(&word);
		if (jp_span_text(&word, "build=")) {
			build = word;
			line.len = 0;
		}
		const char *at = memmem(line.ptr, line.len, variable, sizeof variable - 1);
		size_t head = at ? (size_t)(at - line.ptr) : line.len;
		jp_strbuf_add(text, line.ptr, head);
		if (at) {
			jp_strbuf_add(text, build.ptr, build.len);
			head += sizeof variable - 1;
			jp_strbuf_add(text, line.ptr + head, line.len - head);
		}
		jp_strbuf_str(text, p->reader.cut ? "" : "\n");
	}
	if (text->failed)
		return jp_error_nomem(p->err);
	jp_reader_init(&p->reader, text->text, text->len);
	p->reader.line = before;
	return 0;
}

int jp_parse_gperf(struct jp_parse *p)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) maps = { 0 };
	struct jp_span line;
	int rc = parse_gperf_header(p);
	while (!rc && !p->maps_next && jp_reader_line(&p->reader, &line)) {
		p->maps_next = begins_gperf_maps(line);
		rc = p->maps_next ? 0 : parse_gperf_line(p, line);
	}
	if (rc && (!p->fault.code || rc != p->fault.code))
		return rc;
	jp_parse_find_maps(p, begins_gperf_maps);
	rc = p->maps_next ? expand_build(p, &maps) : 0;
	return rc ? rc : jp_parse_end(p);
}
