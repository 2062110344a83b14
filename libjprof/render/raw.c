/* A symbolized profile, as jeprof --raw writes and reads it:
 *
 *   --- symbol
 *   binary=PROGRAM
 *   0xADDRESS OUTERMOST--INLINED--INNERMOST     for each address, as looked up
 *   #...                                        what these names lack, for jprof: input/rawfile.c
 *   ---
 *   --- heap
 *   the dump as it was, but for the allocator's frames; or, for a sum or difference, gperftools' text form, which no
 * reader scales: heap profile: n: s [an: as] @ heapprofile n: s [an: as] @ 0xA0 0xA1 ... */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/reader.h"
#include "base/search.h"
#include "model/fileproof.h"
#include "render/render.h"

struct named {
	uint64_t address;
	uint32_t location;
};

/* The functions that were written, by their numbers plus 1. */
struct raw_functions {
	uint32_t *number;
	uint32_t count;
};

/* Functions that have no number yet. */
static void put_raw_functions(const struct jp_code *code, const struct jp_location *l, struct raw_functions *w,
                              struct jp_strbuf *out)
{
	for (uint32_t i = 0; i < l->frame_count; i++) {
		uint32_t id = code->frames[l->frame_first + i].function;
		const struct jp_function *f = &code->functions[id];
		const uint32_t fields[] = { f->system, f->name, f->brief, f->file };
		if (w->number[id])
			continue;
		w->number[id] = ++w->count;
		for (size_t n = 0; n < jp_count(fields); n++) {
			jp_strbuf_str(out, n ? "\t" : "#function=");
			jp_strbuf_line(out, jp_code_string(code, fields[n]));
		}
		jp_strbuf_str(out, "\n");
	}
}

static void put_raw_frames(const struct jp_code *code, const struct jp_location *l, const struct raw_functions *w,
                           struct jp_strbuf *out)
{
	jp_strbuf_str(out, l->wrapper ? "#frames=wrapper" : "#frames=");
	for (uint32_t i = l->frame_count; i-- > 0;) {
		const struct jp_frame *frame = &code->frames[l->frame_first + i];
		jp_strbuf_printf(out, "%s%u:%u", l->wrapper || i + 1 < l->frame_count ? " " : "",
		                 w->number[frame->function] - 1, frame->line);
	}
	jp_strbuf_str(out, "\n");
}

static void put_raw_names(const struct jp_code *code, const struct jp_location *l, struct raw_functions *w,
                          struct jp_strbuf *out)
{
	put_raw_functions(code, l, w, out);
	jp_strbuf_printf(out, "0x%016llx ", (unsigned long long)l->address);
	for (uint32_t f = l->frame_count; f-- > 0;) {
		jp_strbuf_line(out, jp_code_name(code, code->frames[l->frame_first + f].function, true));
		jp_strbuf_str(out, f ? "--" : "\n");
	}
	put_raw_frames(code, l, w, out);
	jp_strbuf_drain(out);
}

/* Whether something is known of a place but where it is. */
static bool is_worth_a_name(const struct jp_code *code, const struct jp_location *l)
{
	return l->source != JPROF_SOURCE_RUBY && l->frame_count &&
	       (l->source > JPROF_SOURCE_NONE || code->frames[l->frame_first].line);
}

/* All addresses of the profile, for a dump that is repeated has those of the allocator, too. */
static int put_symbols(const struct jp_code *code, struct jp_strbuf *out)
{
	struct named *all = calloc((size_t)code->location_count + 1, sizeof *all);
	struct raw_functions functions = { calloc((size_t)code->function_count + 1, sizeof(uint32_t)), 0 };
	size_t count = 0;
	for (uint32_t i = 0; all && i < code->location_count; i++)
		if (is_worth_a_name(code, &code->locations[i]))
			all[count++] = (struct named){ code->locations[i].address, i };
	if (all)
		qsort(all, count, sizeof *all, jp_by_first);
	for (size_t i = 0; functions.number && i < count; i++)
		if (!i || all[i].address != all[i - 1].address)
			put_raw_names(code, &code->locations[all[i].location], &functions, out);
	bool failed = !all || !functions.number;
	free(all);
	free(functions.number);
	return failed ? -1 : 0;
}

/* Which file has the allocator, and how it is known in there: a reader without that file cannot tell. */
static void put_raw_allocator(const struct jp_code *code, struct jp_strbuf *out)
{
	const struct jp_object *o = code->allocator == JP_NONE ? NULL : &code->objects[code->allocator];
	bool known = o && o->entry_prefix != JP_NONE;
	jp_strbuf_printf(out, "#allocator=%s\t", !o ? "none" : o->allocator ? "library" : known ? "part" : "unknown");
	jp_strbuf_line(out, known ? jp_code_string(code, o->entry_prefix) : "");
	jp_strbuf_str(out, "\t");
	jp_strbuf_line(out, o ? jp_code_string(code, o->path) : "");
	jp_strbuf_str(out, "\n");
}

/* Objects with code in the report; of a dump that is repeated all that it has. NULL when memory is short. */
static bool *raw_objects(const struct jprof_view *view, bool all)
{
	const struct jp_code *code = &view->code;
	bool *has = calloc((size_t)code->object_count + 1, sizeof *has);
	for (uint32_t i = 0; has && all && i < code->location_count; i++)
		has[code->locations[i].object] = true;
	for (uint32_t s = 0; has && !all && s < view->stack_count; s++)
		for (uint32_t i = 0; i < view->stacks[s].depth; i++)
			has[code->locations[view->stacks[s].places[i]].object] = true;
	return has;
}

/* Which builds ran, and whose names are in doubt. 0, or -1 when memory is short. */
static int put_raw_files(const struct jprof_view *view, bool all, struct jp_strbuf *out)
{
	bool *has = raw_objects(view, all);
	for (uint32_t i = 0; has && i < view->code.object_count; i++)
		if (has[i] && jp_fileproof_put(&view->code, i, true, out)) {
			jp_strbuf_line(out, jp_code_object(&view->code, i));
			jp_strbuf_str(out, "\n");
		}
	int rc = has ? 0 : -1;
	free(has);
	return rc;
}

static const char *program_of(const struct jp_code *code)
{
	uint32_t object = jp_code_program(code);
	return object == JP_NONE ? "unknown" : jp_code_object(code, object);
}

static bool is_zero(const double *v)
{
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (round(v[c]) != 0)
			return false;
	return true;
}

static void put_raw_counters(const double *v, struct jp_strbuf *out)
{
	jp_strbuf_printf(out, "%.0f: %.0f [%.0f: %.0f] @", round(v[JPROF_INUSE_OBJECTS]), round(v[JPROF_INUSE_SPACE]),
	                 round(v[JPROF_ALLOC_OBJECTS]), round(v[JPROF_ALLOC_SPACE]));
}

/* Return addresses again, but for the innermost: readers take one off all the others. */
static void put_raw_stack(const struct jprof_view *view, uint32_t id, struct jp_strbuf *out)
{
	const struct jp_view_stack *stack = &view->stacks[id];
	double value[JPROF_COUNTERS];
	for (int c = 0; c < JPROF_COUNTERS; c++)
		value[c] = jp_stack_number(view, id, c);
	if (!stack->depth || is_zero(value))
		return;
	put_raw_counters(value, out);
	for (uint32_t i = 0; i < stack->depth; i++)
		if (view->code.locations[stack->places[i]].source != JPROF_SOURCE_RUBY)
			jp_strbuf_printf(
			    out, " 0x%016llx",
			    (unsigned long long)(view->code.locations[stack->places[i]].address + (i > 0)));
	jp_strbuf_str(out, "\n");
	jp_strbuf_drain(out);
}

/* Mappings of the dump, few of all: those of one file. */
struct raw_ranges {
	const struct jprof_map **maps;
	size_t count;
};

/* Those whose addresses are left out: the allocator's, and those that stand for a Ruby stack or an epoch, and for no
 * code. Each frame of the dump is looked up in them. */
struct raw_left_out {
	struct raw_ranges allocator, numbers;
};

static bool in_ranges(const struct raw_ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (address >= ranges->maps[i]->start && address < ranges->maps[i]->limit)
			return true;
	return false;
}

/* 0, or -1 when memory is short. */
static int find_left_out(const struct jp_code *code, struct raw_left_out *left_out)
{
	static const char ids[] = "/memfd:jprof-ids:";
	struct raw_ranges *allocator = &left_out->allocator, *numbers = &left_out->numbers;
	allocator->maps = calloc((size_t)code->mapping_count + 1, sizeof *allocator->maps);
	numbers->maps = calloc((size_t)code->mapping_count + 1, sizeof *numbers->maps);
	if (!allocator->maps || !numbers->maps)
		return -1;
	for (size_t i = 0; i < code->mapping_count; i++) {
		const struct jp_mapping *m = &code->mappings[i];
		if (m->object == code->allocator && code->objects[m->object].allocator)
			allocator->maps[allocator->count++] = &m->map;
		if (!strncmp(jp_code_object(code, m->object), ids, sizeof ids - 1))
			numbers->maps[numbers->count++] = &m->map;
	}
	return 0;
}

/* The line without numbers, which stand at its outer end. */
static struct jp_span without_numbers(const struct raw_left_out *left_out, struct jp_span line)
{
	struct jp_span rest = line;
	uint64_t address;
	bool innermost = true;
	(void)jp_span_char(&rest, '@');
	for (; left_out->numbers.count; innermost = false) {
		size_t before = (size_t)(rest.ptr - line.ptr);
		jp_span_blanks(&rest);
		if (!jp_span_text(&rest, "0x") || jp_span_hex(&rest, &address) != JP_NUMBER_OK)
			return line;
		if (in_ranges(&left_out->numbers, address - !innermost))
			return (struct jp_span){ line.ptr, before };
	}
	return line;
}

/* A stack's line without the allocator's frames: readers that go by names would not know those of a stripped
 * one. What becomes the innermost is looked up as it stands, hence the one less. */
static void put_source_stack(const struct raw_left_out *left_out, struct jp_span line, struct jp_strbuf *out)
{
	line = without_numbers(left_out, line);
	struct jp_span rest = line;
	uint64_t address;
	bool innermost = true, dropped = false;
	(void)jp_span_char(&rest, '@');
	for (jp_span_blanks(&rest); jp_span_text(&rest, "0x"); jp_span_blanks(&rest)) {
		if (jp_span_hex(&rest, &address) != JP_NUMBER_OK)
			break;
		if (in_ranges(&left_out->allocator, address - !innermost)) {
			dropped = true;
			innermost = false;
			continue;
		}
		if (!dropped)
			break;
		jp_strbuf_printf(out, "@ 0x%llx%.*s", (unsigned long long)(address - 1), (int)rest.len, rest.ptr);
		return;
	}
	jp_strbuf_add(out, line.ptr, line.len);
}

/* The dump as it was, but for the allocator's frames. 0, or -1 when memory is short. */
static int put_raw_source(const struct jp_code *code, const struct jprof_report_opts *opts, struct jp_strbuf *out)
{
	struct raw_left_out left_out = { 0 };
	struct jp_reader reader;
	struct jp_span line;
	bool stacks = true;
	int rc = find_left_out(code, &left_out);
	jp_reader_init(&reader, opts->source, opts->source_len);
	while (!rc && jp_reader_line(&reader, &line)) {
		stacks = stacks && !jp_span_starts(line, "MAPPED_LIBRARIES:");
		if (stacks && jp_span_starts(line, "@"))
			put_source_stack(&left_out, line, out);
		else
			jp_strbuf_add(out, line.ptr, line.len);
		jp_strbuf_str(out, "\n");
		jp_strbuf_drain(out);
	}
	free(left_out.allocator.maps);
	free(left_out.numbers.maps);
	return rc;
}

int jp_render_raw(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                  struct jprof_error *err)
{
	jp_strbuf_str(out, "--- symbol\nbinary=");
	jp_strbuf_line(out, program_of(&view->code));
	jp_strbuf_str(out, "\n");
	put_raw_allocator(&view->code, out);
	if (put_raw_files(view, opts->source, out) || put_symbols(&view->code, out))
		return jp_error_nomem(err);
	jp_strbuf_str(out, "---\n--- heap\n");
	if (opts->source)
		return put_raw_source(&view->code, opts, out) ? jp_error_nomem(err) : 0;
	jp_strbuf_str(out, "heap profile: ");
	put_raw_counters(view->total, out);
	jp_strbuf_str(out, " heapprofile\n");
	for (uint32_t i = 0; i < view->stack_count; i++)
		put_raw_stack(view, i, out);
	return 0;
}
