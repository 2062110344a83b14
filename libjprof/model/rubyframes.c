#include "model/rubyframes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "input/rubytable.h"

static const char ids_path[] = "/memfd:jprof-ids:", read_version[] = "/memfd:jprof-ids:1 (deleted)";

enum { most_number = INT32_MAX }; /* no number of an agent is as high */

/* ---- places ---------------------------------------------------------------------------------------------- */

static const char object_path[] = "[ruby]";

bool jp_is_ruby_object(const char *path)
{
	return !strcmp(path, object_path);
}

uint32_t jp_ruby_object(struct jprof_profile *profile)
{
	struct jp_object like = { .kind = JP_MAP_SPECIAL, .path = jp_intern_str(&profile->strings, object_path) };
	return like.path == JP_NONE ? JP_NONE : jp_object_id(profile, &like);
}

/* What stands for the linker's name of markers. */
static const char marker[] = "<marker>", aside[] = "<frames left out>", moved[] = "<moved> ";

bool jp_is_ruby_marker(const char *system)
{
	return !strcmp(system, marker);
}

bool jp_is_ruby_aside(const char *system)
{
	return !strcmp(system, aside) || jp_ruby_moved_class(system);
}

const char *jp_ruby_moved_class(const char *system)
{
	return strncmp(system, moved, strlen(moved)) ? NULL : system + strlen(moved);
}

uint32_t jp_ruby_place(struct jprof_profile *profile, uint32_t object, const char *name, const char *system,
                       const char *file, uint32_t line)
{
	struct jp_checksum place = jp_checksum_none();
	jp_checksum_add(&place, name, strlen(name) + 1);
	jp_checksum_add(&place, file ? file : "", file ? strlen(file) : 0);
	jp_checksum_add(&place, &line, sizeof line);
	struct jp_frame frame = { jp_function_named(profile, name, name, system ? system : name, file), line, false };
	if (frame.function == JP_NONE)
		return JP_NONE;
	return jp_location_named(profile, object, place.fnv, 0, &frame, 1, JPROF_SOURCE_RUBY);
}

uint32_t jp_ruby_no_creator(struct jprof_profile *profile, uint32_t object)
{
	return jp_ruby_place(profile, object, JPROF_NO_CREATOR, marker, NULL, 0);
}

uint32_t jp_ruby_moved(struct jprof_profile *profile, uint32_t object, const char *class)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 }, system = { 0 };
	jp_strbuf_printf(&name, "data of %s, moved by a GC", class);
	jp_strbuf_printf(&system, "%s%s", moved, class);
	bool failed = name.failed || system.failed;
	return failed ? JP_NONE : jp_ruby_place(profile, object, name.text, system.text, NULL, 0);
}

int jp_ruby_outside(struct jprof_profile *profile, uint32_t object)
{
	profile->outside_ruby = jp_ruby_place(profile, object, "(no Ruby stack)", marker, NULL, 0);
	return profile->outside_ruby == JP_NONE ? -1 : 0;
}

/* CLASS SEPARATOR METHOD, or the words for a marker. */
static void name_frame(const struct jp_rubytable *t, const struct jp_rubyframe *f, struct jp_strbuf *name)
{
	static const char *const words[] = {
		[JP_RUBY_AFTER_GC] = JPROF_NO_CREATOR,   [JP_RUBY_JOB] = "finalizer or job",
		[JP_RUBY_CUT] = "frames left out",       [JP_RUBY_FULL] = "outer frames not kept",
		[JP_RUBY_BUSY] = "Ruby stack not taken", [JP_RUBY_IN_GC] = JP_COLLECTOR
	};
	jp_strbuf_cut(name, 0);
	if (f->word == JP_RUBY_CUT && f->line)
		jp_strbuf_printf(name, "%u ", f->line);
	if (f->word != JP_RUBY_FRAME && f->word != JP_RUBY_OTHER)
		jp_strbuf_str(name, words[f->word]);
	else if (f->owner != JP_NONE)
		jp_strbuf_printf(name, "%s%c%s", jp_rubytable_text(t, f->owner), f->separator,
		                 jp_rubytable_text(t, f->method));
	else
		jp_strbuf_str(name, jp_rubytable_text(t, f->method));
}

static uint32_t place_of_frame(struct jp_ruby_load *w, uint32_t id)
{
	const struct jp_rubyframe *f = &w->table->frames[id];
	if (w->place[id] == JP_NONE) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
		bool is_frame = f->word == JP_RUBY_FRAME;
		const char *system = is_frame ? NULL : marker;
		const char *file = f->path == JP_NONE ? NULL : jp_rubytable_text(w->table, f->path);
		name_frame(w->table, f, &name);
		if (f->word == JP_RUBY_CUT || f->word == JP_RUBY_FULL)
			system = aside;
		if (!name.failed)
			w->place[id] =
			    jp_ruby_place(w->profile, w->object, name.text, system, file, is_frame ? f->line : 0);
	}
	return w->place[id];
}

/* ---- numbers --------------------------------------------------------------------------------------------- */

static bool has_ruby_ids(const struct jprof_map *map)
{
	return !strncmp(map->path, ids_path, strlen(ids_path));
}

static bool is_epoch(const struct jp_ruby_load *w, uint32_t number)
{
	return w->process != JP_NONE && number >= w->table->epochs && number < w->table->end;
}

static bool is_ruby_tag(const struct jp_ruby_load *w, uint32_t number)
{
	return w->table && number > w->table->tags && number < w->table->epochs;
}

static bool is_node(const struct jp_ruby_load *w, uint32_t number)
{
	if (w->table)
		return number >= w->table->nodes && number < w->table->tags;
	return number < 1 << 18; /* as version 1 has always done */
}

uint32_t jp_ruby_number(struct jp_ruby_load *w, uint64_t address)
{
	const struct jprof_map *map = jp_maps_find(w->maps, address);
	if (!map || !has_ruby_ids(map))
		return 0;
	uint64_t number = (address - map->start) / 2;
	bool known = !strcmp(map->path, read_version) && (!w->table || map->start == w->table->start);
	w->added++;
	return jp_ruby_mark | (uint32_t)(known && number < most_number ? number : most_number);
}

bool jp_ruby_is_stack(const struct jp_ruby_load *w, uint32_t number)
{
	return is_node(w, number & ~jp_ruby_mark);
}

/* Numbers that the agent added to a stack besides that of its Ruby stack; 0: none. */
struct ruby_marks {
	uint32_t epoch; /* the epoch's own */
	uint32_t tag;
};

/* Numbers are given out again after a table was written: what was sampled since then may have one that stands for
 * another stack there. */
static bool is_after_table(const struct jp_ruby_load *w, const struct ruby_marks *marks)
{
	return w->table && w->table->earlier && (!marks->epoch || marks->epoch >= w->table->after);
}

/* Shortens a stack to its places; the frame that its number stands for, or JP_NONE. */
static uint32_t take_ruby_number(struct jp_ruby_load *w, uint32_t *places, uint32_t *depth, struct ruby_marks *marks)
{
	uint32_t kept = 0, frame = JP_NONE;
	bool has_node = false;
	for (uint32_t i = 0; i < *depth; i++) {
		uint32_t number = places[i] & ~jp_ruby_mark;
		if (number == places[i]) {
			places[kept++] = number;
		} else if (is_epoch(w, number)) {
			marks->epoch = number - (uint32_t)w->table->epochs;
		} else if (is_ruby_tag(w, number)) {
			marks->tag = number;
		} else if (!has_node && is_node(w, number)) {
			has_node = true;
			frame = w->table ? jp_rubytable_frame(w->table, number) : JP_NONE;
		}
	}
	if (is_after_table(w, marks)) {
		frame = JP_NONE;
		marks->tag = 0;
	}
	w->found += has_node;
	w->lost += has_node && frame == JP_NONE;
	*depth = kept;
	return frame;
}

/* Stacks without an epoch, where others have one, are from before the agent's first. 0, or -1 when memory is short. */
static int find_stack_epoch(struct jp_ruby_load *w, uint32_t number)
{
	w->epoch = JP_NONE;
	w->dated = w->dated || number;
	if (w->process == JP_NONE)
		return 0;
	w->epoch = jp_epochs_of(&w->profile->epochs, w->process, w->table, number);
	return w->epoch == JP_NONE ? -1 : 0;
}

/* 0, or -1 when memory is short. */
static int find_stack_tag(struct jp_ruby_load *w, uint32_t number)
{
	const struct jp_rubytag *tag = number ? jp_rubytable_tag(w->table, number) : NULL;
	w->tag = JP_NONE;
	if (!number)
		return 0;
	w->tag = jp_tag_id(&w->profile->tags, tag ? tag->kind : JP_TAG_PLAIN,
	                   tag ? jp_rubytable_text(w->table, tag->text) : "(text not known)");
	return w->tag == JP_NONE ? -1 : 0;
}

int jp_ruby_frames(struct jp_ruby_load *w, uint32_t frame, uint32_t *places)
{
	for (; frame != JP_NONE; frame = w->table->frames[frame].parent)
		if ((*places++ = place_of_frame(w, frame)) == JP_NONE)
			return -1;
	return 0;
}

int jp_ruby_label(struct jp_ruby_load *w, uint32_t epoch, uint32_t tag, struct jp_label *label)
{
	if (find_stack_epoch(w, epoch) || find_stack_tag(w, tag ? tag + (uint32_t)w->table->tags : 0))
		return -1;
	label->epoch = w->epoch;
	label->tag = w->tag;
	return 0;
}

const uint32_t *jp_ruby_join(struct jp_ruby_load *w, uint32_t *places, uint32_t *native, uint32_t *depth)
{
	struct ruby_marks marks = { 0, 0 };
	uint32_t frame = take_ruby_number(w, places, native, &marks);
	if (find_stack_epoch(w, marks.epoch) || find_stack_tag(w, marks.tag))
		return NULL;
	*depth = *native;
	w->deepest = *native > w->deepest ? *native : w->deepest;
	if (frame == JP_NONE)
		return places;
	size_t all = (size_t)*native + w->table->frames[frame].depth;
	if (jp_array_reserve(&w->joined, &w->joined_cap, all, sizeof *w->joined))
		return NULL;
	memcpy(w->joined, places, *native * sizeof *places);
	if (jp_ruby_frames(w, frame, w->joined + *native))
		return NULL;
	*depth = (uint32_t)all;
	w->deepest = all > w->deepest ? all : w->deepest;
	return w->joined;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

int jp_ruby_load_init(struct jp_ruby_load *w, struct jprof_profile *profile, const struct jprof_dump *dump,
                      const struct jprof_maps *maps)
{
	*w = (struct jp_ruby_load){ .profile = profile, .table = dump->table, .maps = maps, .process = JP_NONE };
	size_t count = maps ? jprof_maps_count(maps) : 0;
	for (size_t i = 0; i < count; i++)
		w->any = w->any || has_ruby_ids(jprof_maps_at(maps, i));
	if (!w->any || !w->table)
		return 0;
	if (w->table->after && (w->process = jp_epochs_process(&profile->epochs, w->table)) == JP_NONE)
		return -1;
	const char *directory = w->table->directory;
	if (directory && *directory && jp_intern_str(&profile->directories, directory) == JP_NONE)
		return -1;
	if (!w->table->frame_count)
		return 0;
	w->object = jp_ruby_object(profile);
	w->place = jp_none_array(w->table->frame_count);
	if (w->object == JP_NONE || !w->place)
		return -1;
	return jp_ruby_outside(profile, w->object);
}

/* Where there was a table, and it cannot be used. */
static int note_left_out(const struct jp_ruby_load *w, const struct jprof_dump *dump, const struct jprof_error *why)
{
	char line[JPROF_ERROR_LINE];
	return jp_note(w->profile, "%s: the Ruby stacks of %zu stacks are left out: %s", dump->name, w->lost,
	               jprof_error_line(why, line, sizeof line));
}

/* What the dump's rows do not have. */
static int note_slots(const struct jp_ruby_load *w, const struct jprof_dump *dump)
{
	const struct jp_rubytable *t = w->table;
	if (!t || !t->slot_count || !w->no_slots)
		return 0;
	const struct jp_rubyslot_sum sum = jp_rubytable_slot_sum(t);
	const double mb = 1 << 20;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_printf(&text,
	                 "%s: these rows are of malloc alone: objects in slots of Ruby's own heap take %.1f MB "
	                 "(+-%.1f) beside, by %zu samples",
	                 dump->name, sum.bytes / mb, 1.96 * sqrt(sum.variance) / mb, t->slot_count);
	return text.failed ? -1 : jp_note_advised(w->profile, text.text, JPROF_ADVICE_HEAP);
}

int jp_ruby_note(const struct jp_ruby_load *w, const struct jprof_dump *dump)
{
	const struct jp_rubytable *t = w->table;
	if (note_slots(w, dump))
		return -1;
	if (!w->any)
		return 0;
	if (dump->table_error.code)
		return note_left_out(w, dump, &dump->table_error);
	if (w->lost && !t)
		return jp_note(w->profile,
		               "%s: the Ruby stacks of %zu stacks are left out: they need the table that was written "
		               "beside this dump, with .ruby at the end of its name",
		               dump->name, w->lost);
	if (w->lost &&
	    jp_note(w->profile, "%s: its table does not have the Ruby stacks of %zu stacks", dump->name, w->lost))
		return -1;
	if (t && !t->stacks && *t->why && jp_note(w->profile, "%s: no Ruby stacks were taken: %s", dump->name, t->why))
		return -1;
	w->profile->unlearned_ruby = t && w->found && !t->interpreter;
	if (w->profile->unlearned_ruby)
		return jp_note(
		    w->profile,
		    "%s: its agent did not learn where the interpreter's frames begin: native stacks end where names tell it, "
		    "and else go on through the interpreter, with the Ruby stack below",
		    dump->name);
	return 0;
}

void jp_ruby_describe(const struct jp_ruby_load *w, struct jprof_profile_info *info)
{
	if (w->process != JP_NONE)
		w->profile->epochs.processes[w->process].unsure = !w->dated;
	if (!w->any)
		return;
	info->addresses -= w->added;
	info->synthetic = w->added;
	info->depth = w->deepest;
	info->has_ruby = w->found > w->lost;
	info->has_slots = w->table && w->table->slot_rate && !w->no_slots;
}

void jp_ruby_load_release(struct jp_ruby_load *w)
{
	free(w->place);
	free(w->joined);
	w->place = w->joined = NULL;
}
