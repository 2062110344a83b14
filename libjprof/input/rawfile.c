/* The format, as jeprof --raw, ClickHouse and others write it:
 *
 *   --- symbol
 *   binary=/path/of/the/program
 *   0xA outer--inlined--innermost      names of a lookup address, outermost first
 *   ---
 *   --- heap                           or growth
 *   a whole heap_v2 dump or heap profile of gperftools
 *
 * Lookup addresses are return addresses less one (the innermost of a stack as it is), with any number of
 * leading zeros. The section of symbols may be missing. */
#include "input/rawfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "input/gperf.h"
#include "input/heapfile.h"
#include "input/sniff.h"
#include "input/unpack.h"

static int add_given_name(struct jp_parse *p, uint64_t address, struct jp_span text)
{
	struct jprof_dump *dump = p->dump;
	if (jp_array_push(dump->given, dump->given_count, dump->given_cap))
		return jp_error_nomem(p->err);
	uint32_t id = jp_intern(&dump->names, text.ptr, text.len);
	dump->given[dump->given_count++] = (struct jp_given_name){ address, id };
	return id == JP_NONE ? jp_error_nomem(p->err) : 0;
}

static int parse_symbol(struct jp_parse *p, struct jp_span line)
{
	uint64_t address;
	if (!jp_span_text(&line, "0x"))
		return 0; /* binary=, or what a later version may add */
	if (jp_span_hex(&line, &address) != JP_NUMBER_OK)
		return jp_parse_warn(p, "an address of the symbols is wrong; it keeps no name") ? jp_error_nomem(p->err)
		                                                                                : 0;
	jp_span_blanks(&line);
	return line.len && !memchr(line.ptr, '\0', line.len) ? add_given_name(p, address, line) : 0;
}

static int by_given_address(const void *a, const void *b)
{
	const struct jp_given_name *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->text > y->text) - (x->text < y->text);
}

/* Up to the line of the body's section, which goes to *section. */
static int parse_symbols(struct jp_parse *p, struct jp_span *section)
{
	int rc = 0;
	while (!rc && jp_reader_line(&p->reader, section)) {
		if (jp_span_starts(*section, "--- ") && !jp_span_starts(*section, "--- symbol"))
			return 0;
		if (!jp_span_starts(*section, "---"))
			rc = parse_symbol(p, *section);
	}
	*section = (struct jp_span){ 0 };
	return rc;
}

static int parse_body(struct jp_parse *p)
{
	int rc;
	jp_reader_peek(&p->reader, jp_sniff_enough);
	switch (jp_sniff(p->reader.rest.ptr, p->reader.rest.len)) {
	case JP_FORMAT_HEAP:
		rc = jp_parse_heap(p);
		p->dump->info.format = "symbolized heap_v2";
		return rc;
	case JP_FORMAT_GPERF:
		rc = jp_parse_gperf(p);
		p->dump->info.format = "symbolized gperftools profile";
		return rc;
	default:
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line + 1,
		                "a symbolized profile should go on with \"heap_v2/RATE\" or \"heap profile:\" here");
	}
}

int jp_parse_raw(struct jp_parse *p)
{
	struct jp_span section;
	int rc = parse_symbols(p, &section);
	if (rc)
		return rc;
	if (!section.len)
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
		                "%s; no stack before it is sound, make a new one",
		                p->damage->code ? p->damage->text : "the symbolized file ends inside its names");
	if (!jp_span_starts(section, "--- heap") && !jp_span_starts(section, "--- growth"))
		return jp_error(p->err, JPROF_E_FORMAT, p->dump->name, p->reader.line,
		                "holds no heap profile, but \"%.*s\": it counts time or locks, and jprof reads memory",
		                (int)(section.len < 40 ? section.len : 40), section.ptr);
	if (p->dump->given_count)
		qsort(p->dump->given, p->dump->given_count, sizeof *p->dump->given, by_given_address);
	return parse_body(p);
}
