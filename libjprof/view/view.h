/* A view: what reports are made of. It is made once, of a profile whose names were found, and never changes.
 *
 *   place   a location, of which folding may have taken some frames
 *   frame   one function at a place; its id is that of jp_code.frames. A place without frames, of a lean profile,
 * counts as one: its id is the number of frames plus the place stack   places, innermost first: folded, filtered, of
 * one thread, with its values. A stack of which a filter left nothing has no places; its values count in totals only
 *   row     the name under which values are added up, at the view's granularity
 *   path    the rows of a stack, innermost first: a frame's row each; by library, its owner and the object files that
 *           called it
 *
 * Stacks and rows have ids from 0 on, in the order of first sight. A stack is laid out in frames and rows by
 * view/walk.h; what is stored of it are places, the profile's own where folding took off the inner end alone. */
#pragma once

#include "model/ages.h"
#include "model/code.h"
#include "statistics/evidence.h"
#include "statistics/scaling.h"

struct jp_view_stack {
	const uint32_t *places; /* location ids */
	uint32_t depth;         /* number of places */
	uint32_t skip : 31;     /* frames of the innermost place that folding took off */
	uint32_t managed : 1;   /* Ruby's garbage collector may free it: view/managed.h. With errors alone, else 0 */
	uint32_t thread;        /* string id of the label, or JP_NONE */
	uint32_t tag;           /* id in the profile's tags, or JP_NONE: none */
};

/* A stack with its labels, where views keep them apart. */
struct jp_labelled_stack {
	struct jp_view_stack stack;
	uint32_t worker; /* string id, or JP_NONE */
	const char *age; /* static: "last hour", "older", "startup", "before the fork"; NULL: not known */
};

/* What the two numbers of a row rest on. */
struct jp_row_evidence {
	struct jp_evidence flat, cum;
};

/* The row of a place without frames. */
struct jp_nameless_row {
	double flat, cum;
};

/* The rows of a stack where they are not those of its frames: by library. */
struct jp_view_path {
	const uint32_t *rows;
	uint32_t inner, length; /* inside of the path, rows that count for cum alone; in all */
};

/* What a stack or row has of one epoch. */
struct jp_view_slice {
	uint32_t owner; /* id of the stack, or of the row */
	uint32_t epoch; /* id in view->ages; JP_NONE: not known */
	double value, samples;
	/* Of a difference of what is in use: */
	double base;        /* what was subtracted, by the view's counter, */
	double late, early; /* and about how many sampled objects either side has */
};

/* Slices by their owner; zero bytes are none. */
struct jp_view_slices {
	struct jp_view_slice *items;
	uint32_t *first; /* by owner: items[first[id]] ... items[first[id + 1] - 1] are its own */
	size_t count, cap;
};

struct jprof_view {
	struct jp_code code;
	struct jprof_view_info info;
	double total[JPROF_COUNTERS], base_total[JPROF_COUNTERS]; /* over all stacks */
	bool percent_of_base, percent_of_changes;
	struct jp_lineage lineage;
	const struct jprof_profile *profile; /* whose code and notes these are; only to be handed on */
	const uint32_t *location_of;         /* by frame */
	const struct jp_origins *origins;    /* of places; NULL: there is no Ruby */
	struct jp_view_stack *stacks;
	uint32_t stack_count;
	struct jp_labelled_stack *labelled;   /* by stack; NULL: labels were not asked for */
	double *values[JPROF_COUNTERS];       /* by stack; NULL: all are 0 */
	double *bases;                        /* by stack, of the view's counter: what was subtracted; NULL: nothing */
	double *base_objects;                 /* likewise, objects in use; NULL also in the view of one thread */
	struct jp_view_path *paths;           /* by stack, by library only; else NULL */
	size_t deepest, longest;              /* frames, and rows, of any stack at most */
	const struct jp_ages *ages;           /* NULL: not asked for, as the next two */
	struct jp_view_slices slices;         /* of stacks */
	struct jp_view_slices row_slices;     /* of rows */
	struct jp_evidence *evidence;         /* of each stack's value; NULL: errors were not asked for */
	struct jprof_row *rows;               /* by id, those of zeros too; a table works out the ranges of its rows */
	struct jp_row_evidence *row_evidence; /* by id; NULL: errors were not asked for */
	struct jp_nameless_row *nameless; /* by place, NULL: there are none; their ids are row_count plus the place */
	uint32_t *row_object;             /* by row: the object where it was seen first */
	uint32_t row_count;
	uint32_t *row_of_frame;  /* by frame; JP_NONE: in no stack, or by library */
	uint32_t *row_of_object; /* by object; JP_NONE: in no stack, or not by library */
	const uint32_t *threads; /* string ids of the labels, t2 before t10 */
	size_t thread_count;
	uint32_t *by_thread,
	    *thread_first;           /* stacks of thread i: by_thread[thread_first[i]] ... [thread_first[i + 1] - 1] */
	struct jp_view_store *store; /* what is behind frames, paths and names */
	const struct jprof_view *whole; /* of a view of one thread: that of all, whose tables it shares; else NULL */
};

/* Whether this is the first time that something is met in a stack, however often recursion passes through it. `seen`
 * is 0 at first and remembers. */
static inline bool jp_first_in_stack(uint32_t *seen, uint32_t stack)
{
	bool first = *seen != stack + 1;
	*seen = stack + 1;
	return first;
}

/* The value of a stack by any counter, and by the view's. */
static inline double jp_stack_number(const struct jprof_view *view, uint32_t stack, enum jprof_counter counter)
{
	return view->values[counter] ? view->values[counter][stack] : 0;
}

static inline double jp_stack_value(const struct jprof_view *view, uint32_t stack)
{
	return jp_stack_number(view, stack, view->info.counter);
}

/* Its objects, in use or ever allocated as the view's counter has it, and their bytes. */
static inline double jp_stack_objects(const struct jprof_view *view, uint32_t stack, double *bytes)
{
	*bytes = jp_stack_number(view, stack, jp_bytes_of(view->info.counter));
	return jp_stack_number(view, stack, jp_objects_of(view->info.counter));
}

/* What was subtracted from it. */
static inline double jp_stack_base(const struct jprof_view *view, uint32_t stack)
{
	return view->bases ? view->bases[stack] : 0;
}

/* The name of a frame (full if the view has full names), and its location. */
static inline const char *jp_frame_name(const struct jprof_view *view, uint32_t frame)
{
	return jp_code_name(&view->code, view->code.frames[frame].function, view->info.full_names);
}

static inline const struct jp_location *jp_frame_location(const struct jprof_view *view, uint32_t frame)
{
	uint32_t known = view->code.frame_count;
	return &view->code.locations[frame < known ? view->location_of[frame] : frame - known];
}

/* The row of a frame, not by library. Where a place has no frames it is its own row, or by file that of its object. */
static inline uint32_t jp_row_of_frame(const struct jprof_view *view, uint32_t frame)
{
	if (frame < view->code.frame_count)
		return view->row_of_frame[frame];
	uint32_t place = frame - view->code.frame_count;
	return view->info.granularity == JPROF_BY_FILE ? view->row_of_object[view->code.locations[place].object]
	                                               : view->row_count + place;
}

/* Whether a stack's memory counts where a line of Ruby allocated it, which need not be its innermost frame. */
static inline bool jp_view_has_sites(const struct jprof_view *view)
{
	return view->origins && view->info.granularity == JPROF_BY_SITE;
}

/* The name of the i-th of view->profile->input_count inputs, and of what was subtracted; NULL: nothing. */
static inline const char *jp_view_input(const struct jprof_view *view, size_t i)
{
	return jp_code_string(&view->code, view->profile->inputs[i]);
}

static inline const char *jp_view_base(const struct jprof_view *view)
{
	return view->profile->base_input == JP_NONE ? NULL : jp_code_string(&view->code, view->profile->base_input);
}

/* How many objects in use were. */
static inline double jp_stack_base_objects(const struct jprof_view *view, uint32_t stack)
{
	return view->base_objects ? view->base_objects[stack] : 0;
}

/* The first frame of the i-th place of a stack, and how many follow. */
static inline uint32_t jp_place_frames(const struct jprof_view *view, const struct jp_view_stack *stack, uint32_t i,
                                       uint32_t *count)
{
	const struct jp_location *l = &view->code.locations[stack->places[i]];
	uint32_t skip = i ? 0 : stack->skip;
	if (!l->frame_count) {
		*count = 1;
		return view->code.frame_count + stack->places[i];
	}
	*count = l->frame_count - skip;
	return l->frame_first + skip;
}
