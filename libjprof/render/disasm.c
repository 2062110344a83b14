/* --disasm=RE: the machine code of each function that matches, every instruction with what was allocated there (flat)
 * and there or in something called from there (cumulative), between the lines that it was made of; laid out as jeprof
 * does. The code is read from the file that gave the names. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "input/askcode.h"
#include "input/askdecoded.h"
#include "ops/reopen.h"
#include "render/errors.h"
#include "render/render.h"
#include "render/select.h"
#include "render/source.h"
#include "render/values.h"

/* Of a function longer than `whole`, what is `around` instructions from one with memory. */
enum { whole = 300, around = 20, largest_function = 16 << 20 };

/* A place of a stack. */
struct site {
	uint64_t vaddr; /* first: sites of an object are searched by it */
	uint32_t object, location;
	uint32_t routine; /* JP_NONE: of none that is wanted */
	uint32_t seen;    /* 1 + the last sample that counted it */
	double flat, cum;
};

struct code_routine {
	uint32_t object, function;
	uint64_t start, end;
	uint32_t seen;
	double flat, cum;
};

struct disasm {
	const char *doubt; /* why source files that the function at hand names are not to be read; NULL: nothing */
	const struct jprof_view *view;
	const struct jp_code *code;
	const struct jprof_report_opts *opts;
	enum jp_unit unit;
	struct jp_intern keys; /* (object, vaddr) of sites */
	uint32_t *site_of;     /* by location, JP_NONE: not in this view */
	struct site *sites;    /* sorted by object and vaddr once all are there */
	size_t site_count, site_cap;
	struct code_routine *routines;
	size_t routine_count, routine_cap;
	struct jp_objfile **files; /* by object, those that are open */
	struct jp_debug_where where;
	struct jp_arena arena;      /* what is said of the code */
	struct jprof_error trouble; /* the first file that could not be used */
	struct jp_intern source_paths;
	struct jp_source *sources; /* by path */
	size_t source_count, source_cap;
	struct jp_strbuf *out;
};

/* ---- sites -------------------------------------------------------------------------------------------- */

static uint32_t site_of(struct disasm *d, uint32_t location)
{
	const struct jp_location *l = &d->code->locations[location];
	bool known_file = d->code->objects[l->object].file != JP_NONE; /* without it vaddr is not known */
	uint64_t vaddr = jp_code_vaddr(d->code, l);
	const uint64_t key[] = { l->object, known_file ? vaddr : location, known_file };
	uint32_t known = d->keys.count, id = jp_intern(&d->keys, key, sizeof key);
	if (id == JP_NONE || id != known)
		return id;
	if (jp_array_push(d->sites, d->site_count, d->site_cap))
		return JP_NONE;
	d->sites[d->site_count++] =
	    (struct site){ .vaddr = vaddr, .object = l->object, .location = location, .routine = JP_NONE };
	return id;
}

static int add_sites(struct disasm *d)
{
	d->site_of = jp_none_array(d->code->location_count);
	if (!d->site_of)
		return -1;
	for (uint32_t i = 0; i < d->view->stack_count; i++) {
		const struct jp_view_stack *stack = &d->view->stacks[i];
		for (uint32_t k = 0; k < stack->depth; k++) {
			uint32_t location = stack->places[k];
			if (d->site_of[location] == JP_NONE && (d->site_of[location] = site_of(d, location)) == JP_NONE)
				return -1;
		}
	}
	return 0;
}

static int sites_by_address(const void *a, const void *b)
{
	const struct site *x = a, *y = b;
	return jp_order_by(x->object, y->object, jp_order(x->vaddr, y->vaddr));
}

/* Sorts the sites; site_of is led to their new places. */
static int sort_sites(struct disasm *d)
{
	uint32_t *moved = calloc(d->site_count + 1, sizeof *moved);
	if (!moved)
		return -1;
	for (uint32_t i = 0; i < d->site_count; i++)
		d->sites[i].seen = i;
	if (d->site_count)
		qsort(d->sites, d->site_count, sizeof *d->sites, sites_by_address);
	for (uint32_t i = 0; i < d->site_count; i++) {
		moved[d->sites[i].seen] = i;
		d->sites[i].seen = 0;
	}
	for (uint32_t l = 0; l < d->code->location_count; l++)
		if (d->site_of[l] != JP_NONE)
			d->site_of[l] = moved[d->site_of[l]];
	free(moved);
	return 0;
}

/* The sites of one object. */
static struct site *sites_from(const struct disasm *d, uint32_t object, size_t *count)
{
	size_t first = 0, end;
	while (first < d->site_count && d->sites[first].object != object)
		first++;
	for (end = first; end < d->site_count && d->sites[end].object == object;)
		end++;
	*count = end - first;
	return d->sites + first;
}

/* ---- routines ------------------------------------------------------------------------------------------ */

/* By the function that was called; with `inlined` by those that were inlined into it. */
static bool is_wanted_site(const struct disasm *d, struct jp_pattern *pattern, const struct site *site, bool inlined)
{
	const struct jp_location *l = &d->code->locations[site->location];
	const struct jp_frame *frames = &d->code->frames[l->frame_first];
	bool found = false;
	for (uint32_t i = inlined || !l->frame_count ? 0 : l->frame_count - 1; !found && i < l->frame_count; i++)
		found = jp_matches_function(d->view, pattern, frames[i].function);
	return found;
}

/* What is known of addresses that ascend; NULL when memory is short. */
static struct jp_code_place *ask_code(struct disasm *d, uint32_t object, const uint64_t *vaddrs, size_t count)
{
	struct jprof_error err = { 0 };
	struct jp_code_place *places = calloc(count + 1, sizeof *places);
	bool failed = places && jp_ask_code(d->files[object], &d->where, vaddrs, count, &d->arena, places, &err);
	if (err.code && !d->trouble.code)
		d->trouble = err;
	if (failed)
		free(places);
	return failed ? NULL : places;
}

static int add_routine(struct disasm *d, struct site *site, const struct jp_code_place *place)
{
	const struct jp_location *l = &d->code->locations[site->location];
	if (place->start >= place->end) {
		if (!d->trouble.code)
			jp_error(&d->trouble, JPROF_E_UNSUPPORTED, jp_code_object(d->code, site->object), 0,
			         "has neither a symbol nor unwind tables that say where the function at 0x%llx ends",
			         (unsigned long long)site->vaddr);
		return 0;
	}
	const struct code_routine *last = d->routine_count ? &d->routines[d->routine_count - 1] : NULL;
	if (!last || last->object != site->object || last->start != place->start) {
		if (jp_array_push(d->routines, d->routine_count, d->routine_cap))
			return -1;
		d->routines[d->routine_count++] =
		    (struct code_routine){ .object = site->object,
			                   .function = d->code->frames[l->frame_first + l->frame_count - 1].function,
			                   .start = place->start,
			                   .end = place->end };
	}
	site->routine = (uint32_t)d->routine_count - 1;
	return 0;
}

/* All sites of a routine that is wanted belong to it, by whatever name they go. */
static void claim(struct disasm *d)
{
	for (size_t r = 0; r < d->routine_count; r++) {
		size_t count;
		struct site *sites = sites_from(d, d->routines[r].object, &count);
		for (size_t i = jp_count_below(sites, count, sizeof *sites, d->routines[r].start);
		     i < count && sites[i].vaddr < d->routines[r].end; i++)
			sites[i].routine = (uint32_t)r;
	}
}

/* Those sites, which are of one object, in ascending order. */
static int add_routines(struct disasm *d, struct site *const *wanted, size_t count)
{
	uint32_t object = wanted[0]->object;
	struct jprof_error err;
	int rc = d->files[object] ? 0 : jp_reopen(d->code, object, &d->files[object], &err);
	if (rc && !d->trouble.code)
		d->trouble = err;
	if (rc)
		return rc == JPROF_E_NOMEM ? -1 : 0;
	uint64_t *vaddrs = calloc(count, sizeof *vaddrs);
	for (size_t i = 0; vaddrs && i < count; i++)
		vaddrs[i] = wanted[i]->vaddr;
	struct jp_code_place *places = vaddrs ? ask_code(d, object, vaddrs, count) : NULL;
	for (size_t i = 0; places && !rc && i < count; i++)
		rc = add_routine(d, wanted[i], &places[i]);
	rc = places ? rc : -1;
	free(vaddrs);
	free(places);
	return rc;
}

static int find_routines(struct disasm *d, struct jp_pattern *pattern, bool inlined, bool *any)
{
	struct site **wanted = calloc(d->site_count + 1, sizeof *wanted);
	size_t count = 0;
	int rc = wanted ? 0 : -1;
	*any = false;
	for (size_t i = 0; !rc && i <= d->site_count; i++) {
		struct site *site = i < d->site_count ? &d->sites[i] : NULL;
		if (count && (!site || site->object != wanted[0]->object)) {
			rc = add_routines(d, wanted, count);
			count = 0;
		}
		if (site && is_wanted_site(d, pattern, site, inlined))
			wanted[count++] = site;
		*any = *any || count;
	}
	free(wanted);
	claim(d);
	return rc;
}

/* ---- values --------------------------------------------------------------------------------------------- */

static void add_to_sites(struct disasm *d, uint32_t id)
{
	const struct jp_view_stack *stack = &d->view->stacks[id];
	double value = jp_stack_value(d->view, id);
	for (uint32_t i = 0; i < stack->depth; i++) {
		struct site *site = &d->sites[d->site_of[stack->places[i]]];
		struct code_routine *routine = site->routine == JP_NONE ? NULL : &d->routines[site->routine];
		site->flat += i ? 0 : value;
		site->cum += jp_first_in_stack(&site->seen, id) ? value : 0;
		if (!routine)
			continue;
		routine->flat += i ? 0 : value;
		routine->cum += jp_first_in_stack(&routine->seen, id) ? value : 0;
	}
}

/* ---- one routine ----------------------------------------------------------------------------------------- */

struct code_row {
	struct jp_instruction instruction;
	const char *file;    /* NULL: not known */
	const char *inlined; /* the function that was inlined there, or NULL */
	const char *target;  /* the function that begins where it goes to, or NULL */
	unsigned line;
	double flat, cum;
};

struct rows {
	struct code_row *items;
	size_t count, cap;
};

/* None where the file holds no code there, or why there is none: then *err has a text. */
static int decode(struct disasm *d, const struct code_routine *r, struct rows *rows, struct jprof_error *err)
{
	struct jp_instructions code = { 0 };
	int rc = r->end - r->start > largest_function
	             ? 0
	             : jp_ask_decoded(d->files[r->object], d->where.finder, r->start, r->end, &d->arena, &code, err);
	if (!rc && jp_array_reserve(&rows->items, &rows->cap, code.count, sizeof *rows->items))
		rc = jp_error_nomem(err);
	for (size_t i = 0; !rc && i < code.count; i++)
		rows->items[rows->count++] = (struct code_row){ .instruction = code.items[i] };
	free(code.items);
	return rc;
}

/* The addresses of instructions and of where they go to, ascending; NULL when memory is short. */
static uint64_t *code_addresses(const struct rows *rows, size_t *count)
{
	uint64_t *vaddrs = calloc(2 * rows->count + 1, sizeof *vaddrs);
	*count = 0;
	for (size_t i = 0; vaddrs && i < rows->count; i++) {
		const struct jp_instruction *in = &rows->items[i].instruction;
		vaddrs[(*count)++] = in->vaddr;
		if (in->target)
			vaddrs[(*count)++] = in->target;
	}
	if (vaddrs)
		qsort(vaddrs, *count, sizeof *vaddrs, jp_by_first);
	return vaddrs;
}

/* The instructions' lines, of the innermost function there, and the names of what they call. */
static int find_code_lines(struct disasm *d, const struct code_routine *r, struct rows *rows)
{
	size_t count;
	uint64_t *vaddrs = code_addresses(rows, &count);
	struct jp_code_place *places = vaddrs ? ask_code(d, r->object, vaddrs, count) : NULL;
	for (size_t i = 0; places && i < rows->count; i++) {
		struct code_row *row = &rows->items[i];
		const struct jp_code_place *own =
		    &places[jp_count_below(vaddrs, count, sizeof *vaddrs, row->instruction.vaddr)];
		row->file = own->file;
		row->line = own->line;
		row->inlined = own->inlined;
		if (!row->instruction.target)
			continue;
		const struct jp_code_place *target =
		    &places[jp_count_below(vaddrs, count, sizeof *vaddrs, row->instruction.target)];
		row->target = target->start == row->instruction.target ? target->name : NULL;
	}
	int rc = places ? 0 : -1;
	free(vaddrs);
	free(places);
	return rc;
}

static void find_values(const struct disasm *d, const struct code_routine *r, struct rows *rows)
{
	size_t count;
	const struct site *sites = sites_from(d, r->object, &count);
	for (size_t i = 0; i < rows->count; i++) {
		struct code_row *row = &rows->items[i];
		uint64_t start = row->instruction.vaddr, end = start + row->instruction.size;
		for (size_t k = jp_count_below(sites, count, sizeof *sites, start); k < count && sites[k].vaddr < end;
		     k++) {
			row->flat += sites[k].flat;
			row->cum += sites[k].cum;
		}
	}
}

/* The source file of that path, read when it is asked for first; NULL when memory is short. */
static const struct jp_source *source_of(struct disasm *d, const char *path)
{
	static const struct jp_source none;
	if (d->doubt && !d->opts->source_path)
		return &none;
	uint32_t known = d->source_paths.count, id = jp_intern_str(&d->source_paths, path);
	if (id == known && id != JP_NONE) {
		if (jp_array_push(d->sources, d->source_count, d->source_cap) ||
		    jp_source_open(&d->sources[d->source_count++], path, d->doubt, d->code, d->opts))
			return NULL;
	}
	return id == JP_NONE ? NULL : &d->sources[id];
}

static void put_code_values(const struct disasm *d, double flat, double cum)
{
	jp_strbuf_printf(d->out, "%6s %6s ", jp_shown_value_or_dot(flat, d->unit).text,
	                 jp_shown_value_or_dot(cum, d->unit).text);
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void put_code_file(const struct disasm *d, const struct code_row *row)
{
	jp_strbuf_str(d->out, "-------------------- ");
	jp_strbuf_visible(d->out, row->file ? row->file : "??");
	if (row->inlined) {
		jp_strbuf_str(d->out, " (inlined ");
		jp_strbuf_visible(d->out, row->inlined);
		jp_strbuf_str(d->out, ")");
	}
	jp_strbuf_str(d->out, "\n");
}

/* The line that the rows [i, end) were made of. */
static int put_code_line(struct disasm *d, const struct rows *rows, size_t i, size_t end)
{
	const struct code_row *row = &rows->items[i];
	double flat = 0, cum = 0;
	const struct jp_source *source = row->file && row->line ? source_of(d, row->file) : NULL;
	if (!row->file || !row->line)
		return 0;
	if (!source)
		return -1;
	for (size_t k = i; k < end; k++) {
		flat += rows->items[k].flat;
		cum += rows->items[k].cum;
	}
	put_code_values(d, flat, cum);
	jp_strbuf_printf(d->out, "%5u: ", row->line);
	jp_source_put(source, row->line, d->out);
	jp_strbuf_str(d->out, "\n");
	return 0;
}

static void put_instruction(const struct disasm *d, const struct code_row *row)
{
	const struct jp_instruction *in = &row->instruction;
	put_code_values(d, row->flat, row->cum);
	jp_strbuf_printf(d->out, "   %8llx: ", (unsigned long long)in->vaddr);
	jp_strbuf_visible(d->out, in->text);
	if (row->target) {
		jp_strbuf_str(d->out, " <");
		jp_strbuf_visible(d->out, row->target);
		jp_strbuf_str(d->out, ">");
	}
	jp_strbuf_str(d->out, "\n");
}

static bool has_value(const struct code_row *row)
{
	return row->flat != 0 || row->cum != 0;
}

/* How many instructions from `i` on are far from memory, in a routine too long to be shown as a whole. */
static size_t cold(const struct rows *rows, size_t i)
{
	size_t next = i, last = SIZE_MAX;
	if (rows->count <= whole)
		return 0;
	for (size_t k = i; k-- > 0 && i - k <= around;)
		if (has_value(&rows->items[k]))
			last = k;
	if (last != SIZE_MAX)
		return 0;
	while (next < rows->count && !has_value(&rows->items[next]))
		next++;
	size_t stop = next == rows->count ? next : next > i + around ? next - around : i;
	return stop - i;
}

static int put_rows(struct disasm *d, const struct code_routine *r, const struct rows *rows)
{
	const struct code_row *before = NULL;
	if (!rows->count) {
		jp_strbuf_str(d->out, "(no code: ");
		jp_strbuf_visible(d->out, d->files[r->object]->path);
		jp_strbuf_printf(d->out, " holds none at 0x%llx)\n", (unsigned long long)r->start);
	}
	for (size_t i = 0, end; i < rows->count; i = end) {
		const struct code_row *row = &rows->items[i];
		size_t skip = cold(rows, i);
		if (skip) {
			jp_strbuf_printf(d->out, "--- %zu instructions without memory\n", skip);
			before = NULL;
			end = i + skip;
			continue;
		}
		if (!before || !is_same_text(row->file, before->file) || !is_same_text(row->inlined, before->inlined))
			put_code_file(d, row);
		before = row;
		for (end = i + 1; end < rows->count && rows->items[end].line == row->line &&
		                  is_same_text(rows->items[end].file, row->file) &&
		                  is_same_text(rows->items[end].inlined, row->inlined) && !cold(rows, end);)
			end++;
		if (put_code_line(d, rows, i, end))
			return -1;
		for (size_t k = i; k < end; k++)
			put_instruction(d, &rows->items[k]);
	}
	return 0;
}

static void put_routine_head(const struct disasm *d, const struct code_routine *r)
{
	jp_strbuf_str(d->out, "ROUTINE ====================== ");
	jp_strbuf_visible(d->out, jp_code_name(d->code, r->function, d->view->info.full_names));
	jp_strbuf_printf(d->out, "\n%6s %6s %s (flat, cumulative) %s of total\n", jp_shown_value(r->flat, d->unit).text,
	                 jp_shown_value(r->cum, d->unit).text, jp_unit_name(d->unit),
	                 jp_shown_percent(r->cum, jp_scale_of(d->view)).text);
}

/* Where nothing decodes any code, the report ends; a file whose code nobody decodes is trouble. */
static int put_code(struct disasm *d, const struct code_routine *r, struct jprof_error *err)
{
	struct rows rows = { 0 };
	struct jprof_error why = { 0 };
	int rc = decode(d, r, &rows, &why);
	bool shown = !rc;
	if (rc && rc != JPROF_E_NOMEM && *why.path) {
		d->trouble = d->trouble.code ? d->trouble : why;
		rc = 0;
	}
	if (rc && err)
		*err = why;
	if (shown && rows.count && find_code_lines(d, r, &rows))
		rc = jp_error_nomem(err);
	if (!rc && shown) {
		put_routine_head(d, r);
		d->doubt = jp_source_doubt(d->code, r->object);
		find_values(d, r, &rows);
		rc = put_rows(d, r, &rows) ? jp_error_nomem(err) : 0;
	}
	free(rows.items);
	return rc;
}

/* ---- all of them -------------------------------------------------------------------------------------------- */

static int routines_by_cum(const void *a, const void *b)
{
	const struct code_routine *x = a, *y = b;
	return jp_order_by(fabs(y->cum), fabs(x->cum), jp_order_by(x->object, y->object, jp_order(x->start, y->start)));
}

static int disassemble(struct disasm *d, struct jp_pattern *pattern, struct jprof_error *err)
{
	bool any;
	d->files = calloc((size_t)d->code->object_count + 1, sizeof(struct jp_objfile *));
	if (!d->files || add_sites(d) || sort_sites(d) || find_routines(d, pattern, false, &any) ||
	    (!any && find_routines(d, pattern, true, &any)))
		return jp_error_nomem(err);
	if (jp_pattern_check(pattern, "disasm", err))
		return JPROF_E_ARGUMENT;
	if (!any)
		return jp_error_no_match(err, "disasm", d->opts);
	if (!d->routine_count) {
		if (err)
			*err = d->trouble;
		return d->trouble.code;
	}
	for (uint32_t i = 0; i < d->view->stack_count; i++)
		add_to_sites(d, i);
	size_t left = d->opts->top ? d->opts->top : SIZE_MAX;
	int rc = 0;
	if (d->opts->total)
		jp_put_total(d->view, d->opts, d->unit, d->out);
	if (d->routine_count)
		qsort(d->routines, d->routine_count, sizeof *d->routines, routines_by_cum);
	for (size_t i = 0; !rc && i < d->routine_count && left; i++)
		if (d->routines[i].flat != 0 || d->routines[i].cum != 0) {
			rc = put_code(d, &d->routines[i], err);
			jp_strbuf_drain(d->out);
			left--;
		}
	if (!rc && d->trouble.code && d->routine_count)
		jp_strbuf_printf(d->out, "(not shown: %s: %s)\n", d->trouble.path, d->trouble.text);
	return rc;
}

static void disasm_release(struct disasm *d)
{
	for (uint32_t i = 0; d->files && i < d->code->object_count; i++)
		jp_objfile_close(d->files[i]);
	for (size_t i = 0; i < d->source_count; i++)
		jp_source_release(&d->sources[i]);
	jp_intern_release(&d->keys);
	jp_intern_release(&d->source_paths);
	jp_arena_release(&d->arena);
	free(d->files);
	free(d->sources);
	free(d->site_of);
	free(d->sites);
	free(d->routines);
}

int jp_render_disasm(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                     struct jprof_error *err)
{
	struct disasm d = { .view = view,
		            .code = &view->code,
		            .opts = opts,
		            .unit = jp_unit_of(view, opts),
		            .out = out,
		            .where = jp_where_remembered(&view->code) };
	struct jp_pattern *pattern;
	d.where.finder = opts->finder;
	int rc = jp_view_pattern(opts, "disasm", &pattern, err);
	if (rc)
		return rc;
	rc = disassemble(&d, pattern, err);
	jp_pattern_free(pattern);
	disasm_release(&d);
	return rc;
}
