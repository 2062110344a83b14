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
 * leading zeros. The section of symbols may be missing.
 *
 * Lines of symbols that begin with # are jprof's own; other readers pass over them. ^I is a tab:
 *
 *   #allocator=KIND^IPREFIX^IPATH
 *   #file=...                          model/fileproof.h
 *   #function=LINKER^INAME^ISHORT^IFILE
 *   #frames=F:LINE F:LINE
 *
 * KIND is none, library (PATH is nothing else), part (PATH has it inside, and PREFIX stands before malloc there) or
 * unknown (the same, and the prefix is not known). The first function has the number 0; FILE may be empty. Frames are
 * those of the address before, outermost first: numbers of functions, and lines, 0 where they are not known. A first
 * word "wrapper" says that an allocation wrapper calls it. */
#include "input/rawfile.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
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
	dump->given[dump->given_count++] = (struct jp_given_name){ .address = address, .text = id };
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

/* ---- jprof's own lines ----------------------------------------------------------------------------- */

/* The id of a field's text; JP_NONE where it is empty. `failed` is set when memory is short. */
static uint32_t field_id(struct jp_parse *p, struct jp_span field, bool *failed)
{
	uint32_t id = field.len ? jp_intern(&p->dump->names, field.ptr, field.len) : JP_NONE;
	*failed = *failed || (field.len && id == JP_NONE);
	return id;
}

/* One that lacks a name counts, so that the others keep their numbers; frames of it are not taken. */
static int parse_given_function(struct jp_parse *p, struct jp_span line)
{
	struct jprof_dump *dump = p->dump;
	struct jp_given_function f;
	bool failed = jp_array_push(dump->given_functions, dump->given_function_count, dump->given_function_cap);
	f.system = field_id(p, jp_span_field(&line), &failed);
	f.name = field_id(p, jp_span_field(&line), &failed);
	f.brief = field_id(p, jp_span_field(&line), &failed);
	f.file = field_id(p, jp_span_field(&line), &failed);
	if (failed)
		return jp_error_nomem(p->err);
	dump->given_functions[dump->given_function_count++] = f;
	return 0;
}

static bool is_given_function(const struct jprof_dump *dump, uint64_t i)
{
	if (i >= dump->given_function_count)
		return false;
	const struct jp_given_function *f = &dump->given_functions[i];
	return f->system != JP_NONE && f->name != JP_NONE && f->brief != JP_NONE;
}

static bool take_given_frame(const struct jprof_dump *dump, struct jp_span *line, struct jp_given_frame *frame)
{
	uint64_t function, number;
	if (jp_span_decimal(line, &function) != JP_NUMBER_OK || !jp_span_char(line, ':') ||
	    jp_span_decimal(line, &number) != JP_NUMBER_OK || !is_given_function(dump, function) || number > UINT32_MAX)
		return false;
	*frame = (struct jp_given_frame){ (uint32_t)function, (uint32_t)number };
	jp_span_blanks(line);
	return true;
}

/* All of them, or none: then the text of the address counts. */
static int parse_given_frames(struct jp_parse *p, struct jp_span line)
{
	struct jprof_dump *dump = p->dump;
	struct jp_given_name *name = dump->given_count ? &dump->given[dump->given_count - 1] : NULL;
	size_t first = dump->given_frame_count, count = first;
	if (!name || name->frame_count || first > UINT32_MAX)
		return 0;
	name->wrapper = jp_span_text(&line, "wrapper ");
	for (struct jp_given_frame frame; line.len; dump->given_frames[count++] = frame) {
		if (!take_given_frame(dump, &line, &frame) || count - first == UINT32_MAX)
			return 0;
		if (jp_array_push(dump->given_frames, count, dump->given_frame_cap))
			return jp_error_nomem(p->err);
	}
	name->frame_first = (uint32_t)first;
	name->frame_count = (uint32_t)(count - first);
	dump->given_frame_count = count;
	return 0;
}

static int parse_given_allocator(struct jp_parse *p, struct jp_span line)
{
	struct jp_given_allocator *a = &p->dump->allocator;
	struct jp_span kind = jp_span_field(&line), prefix = jp_span_field(&line), path = jp_span_field(&line);
	bool failed = false, part = jp_span_starts(kind, "part");
	*a = (struct jp_given_allocator){ .known = true, .library = jp_span_starts(kind, "library") };
	a->path = field_id(p, path, &failed);
	a->prefix = part ? jp_intern(&p->dump->names, prefix.ptr, prefix.len) : JP_NONE;
	return failed || (part && a->prefix == JP_NONE) ? jp_error_nomem(p->err) : 0;
}

static int parse_given_file(struct jp_parse *p, struct jp_span line)
{
	struct jprof_dump *dump = p->dump;
	bool failed = jp_array_push(dump->given_files, dump->given_file_count, dump->given_file_cap);
	uint32_t id = field_id(p, line, &failed);
	if (!failed && id != JP_NONE)
		dump->given_files[dump->given_file_count++] = id;
	return failed ? jp_error_nomem(p->err) : 0;
}

static int parse_own_line(struct jp_parse *p, struct jp_span line)
{
	if (memchr(line.ptr, '\0', line.len))
		return 0;
	if (jp_span_text(&line, "#function="))
		return parse_given_function(p, line);
	if (jp_span_text(&line, "#frames="))
		return parse_given_frames(p, line);
	if (jp_span_text(&line, JP_FILEPROOF_BEGIN))
		return parse_given_file(p, line);
	return jp_span_text(&line, "#allocator=") ? parse_given_allocator(p, line) : 0;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static int by_given_address(const void *a, const void *b)
{
	const struct jp_given_name *x = a, *y = b;
	return jp_order_by(x->address, y->address, jp_order(x->text, y->text));
}

/* Up to the line of the body's section, which goes to *section. */
static int parse_symbols(struct jp_parse *p, struct jp_span *section)
{
	int rc = 0;
	while (!rc && jp_reader_line(&p->reader, section)) {
		if (jp_span_starts(*section, "--- ") && !jp_span_starts(*section, "--- symbol"))
			return 0;
		if (jp_span_starts(*section, "#"))
			rc = parse_own_line(p, *section);
		else if (!jp_span_starts(*section, "---"))
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
	p->dump->symbolized = true;
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
