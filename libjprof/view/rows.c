#include "view/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/tags.h"
#include "view/origin.h"

int jp_rows_init(struct jp_rows *rows, const struct jp_code *code, const uint32_t *location_of,
                 const struct jprof_view_opts *opts, struct jprof_error *err)
{
	*rows = (struct jp_rows){ .code = code,
		                  .location_of = location_of,
		                  .granularity = opts->granularity,
		                  .full_names = opts->full_names,
		                  .trim = opts->trim_path };
	struct jp_span rules = { opts->rules ? opts->rules : "", opts->rules_len };
	int rc = jp_rows_are_groups(opts->granularity) ? jp_groups_init(&rows->groups, code, rules, err) : 0;
	if (!rc && jp_rows_by_path(opts->granularity) && jp_roles_init(&rows->roles, code))
		rc = jp_error_nomem(err);
	rows->of_frame = jp_none_array(code->frame_count);
	rows->of_object = jp_none_array(code->object_count);
	return rc || (rows->of_frame && rows->of_object) ? rc : jp_error_nomem(err);
}

void jp_rows_release(struct jp_rows *rows)
{
	jp_intern_release(&rows->names);
	free(rows->object);
	free(rows->of_frame);
	free(rows->of_object);
	free(rows->objects);
	free(rows->of_label);
	free(rows->of_row);
	jp_pairs_release(&rows->owners);
	free(rows->of_owner);
	jp_groups_release(&rows->groups);
	jp_roles_release(&rows->roles);
	jp_strbuf_release(&rows->text);
}

/* Of a frame that has one: of a path of Ruby what need not be seen is taken off. */
static const char *shown_file(const struct jp_rows *r, const struct jp_location *l, const struct jp_frame *frame)
{
	const char *file = jp_code_file(r->code, frame->function);
	return l->source == JPROF_SOURCE_RUBY ? jp_shown_path(r->code, file, r->trim) : file;
}

/* "file:line name" of a frame of Ruby; "file" where an extension is loaded, whose name is its path. */
static void name_by_site(struct jp_rows *r, const struct jp_frame *frame)
{
	bool has_file = r->code->functions[frame->function].file != JP_NONE;
	const char *file = has_file ? jp_code_file(r->code, frame->function) : "";
	const char *name = jp_code_name(r->code, frame->function, r->full_names);
	if (has_file)
		jp_put_site(&r->text, r->code, file, frame->line, r->trim);
	if (frame->line || strcmp(file, name) != 0)
		jp_strbuf_printf(&r->text, "%s%s", has_file ? " " : "", name);
}

/* "name (inline)", "name file:line", "address name file:line". */
static void name_by_function(struct jp_rows *r, const struct jp_location *l, const struct jp_frame *frame)
{
	bool has_file = r->code->functions[frame->function].file != JP_NONE, ruby = l->source == JPROF_SOURCE_RUBY;
	if (ruby && r->granularity == JPROF_BY_SITE) {
		name_by_site(r, frame);
		return;
	}
	if (r->granularity == JPROF_BY_ADDRESS && !ruby)
		jp_strbuf_printf(&r->text, "%016llx ", (unsigned long long)l->address);
	jp_strbuf_str(&r->text, jp_code_name(r->code, frame->function, r->full_names));
	if (frame->inlined)
		jp_strbuf_str(&r->text, " (inline)");
	if (r->granularity == JPROF_BY_FUNCTION || r->granularity == JPROF_BY_SITE ||
	    ((ruby || l->source <= JPROF_SOURCE_FDE) && !has_file))
		return;
	if (has_file)
		jp_strbuf_printf(&r->text, " %s:%u", shown_file(r, l, frame), frame->line);
	else
		jp_strbuf_str(&r->text, " ??:0");
}

static void name_by_object(struct jp_rows *r, uint32_t object)
{
	jp_strbuf_printf(&r->text, "%s (no lines)", jp_basename(jp_code_object(r->code, object)));
}

static void name_by_file(struct jp_rows *r, const struct jp_location *l, const struct jp_frame *frame)
{
	if (r->code->functions[frame->function].file != JP_NONE)
		jp_strbuf_str(&r->text, shown_file(r, l, frame));
	else
		name_by_object(r, l->object);
}

/* The row named by r->text, seen in an object. */
static uint32_t row_named(struct jp_rows *r, uint32_t object)
{
	uint32_t known = r->names.count;
	if (r->text.failed || jp_array_push(r->object, known, r->object_cap))
		return JP_NONE;
	uint32_t row = jp_intern(&r->names, r->text.text, r->text.len);
	if (row == known && row != JP_NONE)
		r->object[row] = object;
	return row;
}

static uint32_t row_of_frame(struct jp_rows *r, uint32_t id)
{
	uint32_t *row = &r->of_frame[id];
	if (*row == JP_NONE) {
		const struct jp_location *l = &r->code->locations[r->location_of[id]];
		jp_strbuf_cut(&r->text, 0);
		(r->granularity == JPROF_BY_FILE ? name_by_file : name_by_function)(r, l, &r->code->frames[id]);
		*row = row_named(r, l->object);
	}
	return *row;
}

static uint32_t row_of_object(struct jp_rows *r, uint32_t object)
{
	uint32_t *row = &r->of_object[object];
	if (*row == JP_NONE) {
		jp_strbuf_cut(&r->text, 0);
		jp_object_label(r->code, object, &r->text);
		*row = row_named(r, object);
	}
	return *row;
}

/* An owner's label follows from its object and that of the extension which called it. */
static uint32_t row_of_owner(struct jp_rows *r, size_t depth, size_t owner)
{
	uint32_t via = jp_owner_via(&r->roles, r->objects, depth, owner);
	uint32_t known = r->owners.index.count, id = jp_pair_id(&r->owners, r->objects[owner], via);
	if (id != known || id == JP_NONE)
		return id == JP_NONE ? JP_NONE : r->of_owner[id];
	if (jp_array_push(r->of_owner, id, r->of_owner_cap))
		return JP_NONE;
	jp_strbuf_cut(&r->text, 0);
	jp_owner_label(&r->roles, r->objects, depth, &r->text);
	return r->of_owner[id] = row_named(r, r->objects[owner]);
}

/* A place without frames has a row of its own, which needs nothing here, but for files. */
static int row_of_nameless(struct jp_rows *r, uint32_t place)
{
	uint32_t object = r->code->locations[place].object, *row = &r->of_object[object];
	if (r->granularity == JPROF_BY_FILE && *row == JP_NONE) {
		jp_strbuf_cut(&r->text, 0);
		name_by_object(r, object);
		*row = row_named(r, object);
		return *row == JP_NONE ? -1 : 0;
	}
	return 0;
}

int jp_rows_of_frames(struct jp_rows *r, uint32_t first, uint32_t count)
{
	if (first >= r->code->frame_count)
		return row_of_nameless(r, first - r->code->frame_count);
	for (uint32_t i = 0; i < count; i++)
		if (row_of_frame(r, first + i) == JP_NONE)
			return -1;
	return 0;
}

static int add_to_path(struct jp_path *path, uint32_t row)
{
	if (row == JP_NONE || jp_array_push(path->rows, path->count, path->cap))
		return -1;
	path->rows[path->count++] = row;
	return 0;
}

/* The row of the code that a frame of Ruby is of: "application", a gem, Ruby's own. */
static uint32_t row_of_origin(struct jp_rows *r, uint32_t location)
{
	uint32_t label = r->origins->of[location].label - 1;
	if (!r->of_label && !(r->of_label = jp_none_array(r->origins->labels.count)))
		return JP_NONE;
	uint32_t *row = &r->of_label[label];
	if (*row == JP_NONE) {
		jp_strbuf_cut(&r->text, 0);
		jp_strbuf_str(&r->text, jp_origin_label(r->origins, &r->origins->of[location]));
		*row = row_named(r, r->code->locations[location].object);
	}
	return *row;
}

static uint32_t row_of_place(struct jp_rows *r, uint32_t location, uint32_t object)
{
	return r->origins && r->origins->of[location].label ? row_of_origin(r, location) : row_of_object(r, object);
}

/* The rows of the places [from, to), each once in a run; `before` stands inside of them. */
static int add_place_rows(struct jp_rows *r, const uint32_t *places, size_t from, size_t to, uint32_t before,
                          struct jp_path *path)
{
	const uint32_t *objects = r->objects;
	bool by_object = !r->origins;
	for (size_t i = from; i < to;) {
		uint32_t row = row_of_place(r, places[i], objects[i]);
		if (row == JP_NONE || (row != before && add_to_path(path, row)))
			return -1;
		before = row;
		i++;
		while (i < to && by_object && objects[i] == objects[i - 1])
			i++;
	}
	return 0;
}

/* How many places are native: all but the outer ones of Ruby. */
static size_t native_depth(const struct jp_rows *r, const uint32_t *places, size_t depth)
{
	while (r->origins && depth && r->origins->of[places[depth - 1]].label)
		depth--;
	return depth;
}

/* A foreign native object decides, else the innermost code of Ruby that is not its own, else what is native. */
static uint32_t owner_of_stack(struct jp_rows *r, const uint32_t *places, size_t depth, size_t *owner)
{
	size_t native = native_depth(r, places, depth);
	*owner = native ? jp_owner_place(&r->roles, r->objects, native) : 0;
	if (native && r->roles.of[r->objects[*owner]].role <= JP_ROLE_PROGRAM)
		return row_of_owner(r, native, *owner);
	size_t code = r->origins ? jp_origins_owner(r->origins, places, native, depth) : depth;
	if (code < depth)
		*owner = code;
	return code < depth || !native ? row_of_place(r, places[*owner], r->objects[*owner])
	                               : row_of_owner(r, native, *owner);
}

/* The row of the stack's kind, or of its group. */
static uint32_t row_of_group(struct jp_rows *r, const uint32_t *places, size_t depth)
{
	const struct jp_group_stack stack = { .places = places,
		                              .objects = r->objects,
		                              .depth = depth,
		                              .native = native_depth(r, places, depth),
		                              .roles = &r->roles };
	uint32_t known = r->names.count;
	jp_strbuf_cut(&r->text, 0);
	const struct jp_rule *rule = jp_put_group(&r->groups, &stack, r->granularity == JPROF_BY_GROUP, &r->text);
	if (jp_array_push(r->of_row, known, r->of_row_cap))
		return JP_NONE;
	uint32_t row = row_named(r, r->objects[0]);
	if (row == known)
		r->of_row[row] = rule;
	return row;
}

static uint32_t row_of_tag(struct jp_rows *r, uint32_t tag)
{
	jp_strbuf_cut(&r->text, 0);
	jp_put_tag(r->tags, tag, &r->text);
	return row_named(r, r->objects[0]);
}

int jp_rows_path(struct jp_rows *r, const uint32_t *places, size_t depth, uint32_t tag, struct jp_path *path)
{
	path->inner = path->count = 0;
	if (jp_array_reserve(&r->objects, &r->objects_cap, depth + 1, sizeof *r->objects))
		return -1;
	const struct jp_location *locations = r->code->locations;
	uint32_t *objects = r->objects;
	for (size_t i = 0; i < depth; i++)
		objects[i] = locations[places[i]].object;
	if (!depth)
		return 0;
	if (r->granularity == JPROF_BY_TAG)
		return add_to_path(path, row_of_tag(r, tag));
	if (r->granularity != JPROF_BY_LIBRARY)
		return add_to_path(path, row_of_group(r, places, depth));
	size_t owner;
	uint32_t row = owner_of_stack(r, places, depth, &owner);
	if (row == JP_NONE || add_place_rows(r, places, 0, owner + 1, JP_NONE, path))
		return -1;
	path->inner = path->count;
	uint32_t before = row_of_place(r, places[owner], r->objects[owner]);
	if (before == JP_NONE || add_to_path(path, row))
		return -1;
	return add_place_rows(r, places, owner + 1, depth, before, path);
}
