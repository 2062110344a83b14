/* A symbolized profile, as jeprof --raw writes and reads it:
 *
 *   --- symbol
 *   binary=PROGRAM
 *   0xADDRESS OUTERMOST--INLINED--INNERMOST     for each address, as looked up
 *   ---
 *   --- heap
 *   the dump as it was, but for the allocator's frames; or, for a sum or difference, gperftools' text form, which no
 * reader scales: heap profile: n: s [an: as] @ heapprofile n: s [an: as] @ 0xA0 0xA1 ... */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/reader.h"
#include "model/profile.h"
#include "ops/findfile.h"
#include "render/render.h"

struct named {
	uint64_t address;
	uint32_t location;
};

static int by_address(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	return (x->address > y->address) - (x->address < y->address);
}

static void put_names(const struct jprof_profile *p, const struct jp_location *l, struct jp_strbuf *out)
{
	jp_strbuf_printf(out, "0x%016llx ", (unsigned long long)l->address);
	for (uint32_t f = l->frame_count; f-- > 0;) {
		const struct jp_frame *frame = &p->frames[l->frame_first + f];
		jp_strbuf_line(out, jp_string(p, p->functions[frame->function].name));
		jp_strbuf_str(out, f ? "--" : "\n");
	}
}

/* Locations that folding made are left out: their origin names all of their frames. */
static int put_symbols(const struct jprof_profile *p, struct jp_strbuf *out)
{
	struct named *all = calloc((size_t)jp_location_count(p) + 1, sizeof *all);
	size_t count = 0;
	if (!all)
		return -1;
	for (uint32_t i = 0; i < jp_location_count(p); i++)
		if (!p->locations[i].folded && p->locations[i].source > JPROF_SOURCE_NONE)
			all[count++] = (struct named){ p->locations[i].address, i };
	qsort(all, count, sizeof *all, by_address);
	for (size_t i = 0; i < count; i++)
		if (!i || all[i].address != all[i - 1].address)
			put_names(p, &p->locations[all[i].location], out);
	free(all);
	return 0;
}

static const char *program_of(const struct jprof_profile *p)
{
	uint32_t object = jp_main_object(p);
	return object == JP_NONE ? "unknown" : jp_string(p, p->objects[object].path);
}

static bool is_zero(const double *v)
{
	return round(v[0]) == 0 && round(v[1]) == 0 && round(v[2]) == 0 && round(v[3]) == 0;
}

static void put_counters(const double *v, struct jp_strbuf *out)
{
	jp_strbuf_printf(out, "%.0f: %.0f [%.0f: %.0f] @", round(v[0]), round(v[1]), round(v[2]), round(v[3]));
}

/* Return addresses again, but for the innermost: readers take one off all the others. */
static void put_stacks(const struct jprof_profile *p, struct jp_strbuf *out)
{
	double total[JPROF_COUNTERS];
	for (int c = 0; c < JPROF_COUNTERS; c++)
		total[c] = jprof_profile_total(p, (enum jprof_counter)c);
	jp_strbuf_str(out, "heap profile: ");
	put_counters(total, out);
	jp_strbuf_str(out, " heapprofile\n");
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		size_t depth;
		const uint32_t *stack = jp_stack_get(p, p->samples[i].stack, &depth);
		if (!depth || is_zero(p->samples[i].value))
			continue;
		put_counters(p->samples[i].value, out);
		for (size_t f = 0; f < depth; f++)
			jp_strbuf_printf(out, " 0x%016llx",
			                 (unsigned long long)(p->locations[stack[f]].address + (f > 0)));
		jp_strbuf_str(out, "\n");
	}
}

static bool in_allocator(const struct jprof_profile *p, uint64_t address)
{
	uint32_t allocator = p->allocator_hint;
	for (size_t i = 0; allocator != JP_NONE && i < p->mapping_count; i++)
		if (p->mappings[i].object == allocator && p->objects[allocator].allocator &&
		    address >= p->mappings[i].map.start && address < p->mappings[i].map.limit)
			return true;
	return false;
}

/* A stack's line without the allocator's frames: readers that go by names would not know those of a stripped
 * one. What becomes the innermost is looked up as it stands, hence the one less. */
static void put_source_stack(const struct jprof_profile *p, struct jp_span line, struct jp_strbuf *out)
{
	struct jp_span rest = line;
	uint64_t address;
	bool innermost = true, dropped = false;
	(void)jp_span_char(&rest, '@');
	for (jp_span_blanks(&rest); jp_span_text(&rest, "0x"); jp_span_blanks(&rest)) {
		if (jp_span_hex(&rest, &address) != JP_NUMBER_OK)
			break;
		if (in_allocator(p, address - !innermost)) {
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

/* The dump as it was, but for the allocator's frames. */
static void put_source(const struct jprof_profile *p, const struct jprof_view_opts *opts, struct jp_strbuf *out)
{
	struct jp_reader reader;
	struct jp_span line;
	bool stacks = true;
	jp_reader_init(&reader, opts->source, opts->source_len);
	while (jp_reader_line(&reader, &line)) {
		stacks = stacks && !jp_span_starts(line, "MAPPED_LIBRARIES:");
		if (stacks && jp_span_starts(line, "@"))
			put_source_stack(p, line, out);
		else
			jp_strbuf_add(out, line.ptr, line.len);
		jp_strbuf_str(out, "\n");
	}
}

int jp_render_raw(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                  struct jprof_error *err)
{
	jp_strbuf_str(out, "--- symbol\nbinary=");
	jp_strbuf_line(out, program_of(profile));
	jp_strbuf_str(out, "\n");
	if (put_symbols(profile, out))
		return jp_error_nomem(err);
	jp_strbuf_str(out, "---\n--- heap\n");
	if (opts->source)
		put_source(profile, opts, out);
	else
		put_stacks(profile, out);
	return 0;
}
