/* Ruby stacks become places of a profile. A frame of Ruby is a place without an address, under one pseudo object, known
 * by its content: path, line, class and method; so it is the same place in every process and every dump. */
#pragma once

#include "input/dumpdata.h"
#include "model/profile.h"

/* The name of what the garbage collector allocates for itself. */
#define JP_COLLECTOR "the garbage collector"

/* Whether the linker's name of a function is that of a marker: one at which memory was allocated, as far as is known;
 * one that only stands between frames. */
bool jp_is_ruby_marker(const char *system);
bool jp_is_ruby_aside(const char *system);

/* The pseudo object, made when it is new; JP_NONE when memory is short. And whether a path is its. */
uint32_t jp_ruby_object(struct jprof_profile *profile);
bool jp_is_ruby_object(const char *path);

/* The place of a function without an address: its object, its name, the linker's name of markers (else NULL), file and
 * line. JP_NONE when memory is short. */
uint32_t jp_ruby_place(struct jprof_profile *profile, uint32_t object, const char *name, const char *system,
                       const char *file, uint32_t line);

/* The place that stands for no creator, at the outer end of a stack of what a collection moved; and the one that says
 * whose data it was, between the native part and the stack of the object that has it. JP_NONE when memory is short. */
uint32_t jp_ruby_no_creator(struct jprof_profile *profile, uint32_t object);
uint32_t jp_ruby_moved(struct jprof_profile *profile, uint32_t object, const char *class);

/* The class in the linker's name of such a place; NULL: it is another one. */
const char *jp_ruby_moved_class(const char *system);

/* Makes the place that stands for no Ruby stack: profile->outside_ruby. 0, or -1 when memory is short. */
int jp_ruby_outside(struct jprof_profile *profile, uint32_t object) jp_must_check;

/* What the agent added to the stacks of one dump, on its way into a profile. */
struct jp_ruby_load {
	struct jprof_profile *profile;
	const struct jp_rubytable *table; /* NULL: none */
	const struct jprof_maps *maps;
	uint32_t object;
	uint32_t *place;  /* by frame of the table: its location, or JP_NONE */
	uint32_t *joined; /* the stack under way */
	size_t joined_cap;
	uint32_t process;   /* of the profile's epochs, where the dump has any; else JP_NONE */
	uint32_t epoch;     /* of the last stack: its id in the profile, or JP_NONE */
	uint32_t tag;       /* likewise */
	size_t found, lost; /* stacks that have a Ruby stack, and those whose number has no meaning here */
	size_t added;       /* addresses that are none of code */
	size_t deepest;     /* frames of the deepest stack, without what the agent added */
	bool any;           /* the dump has such addresses */
	bool no_slots;      /* samples of objects in slots are not asked for */
	bool dated;         /* a stack has an epoch */
};

/* In place of a location: what the agent added. The rest is its number. */
#define jp_ruby_mark (UINT32_C(1) << 31)

/* 0, or -1 when memory is short; to be released in either case. */
int jp_ruby_load_init(struct jp_ruby_load *load, struct jprof_profile *profile, const struct jprof_dump *dump,
                      const struct jprof_maps *maps) jp_must_check;

/* What stands for an address that the agent added: the mark and a number; 0: it is another one. */
uint32_t jp_ruby_number(struct jp_ruby_load *load, uint64_t address);

/* Whether such a number stands for a Ruby stack. */
bool jp_ruby_is_stack(const struct jp_ruby_load *load, uint32_t number);

/* Takes what the agent added off a stack of *native places, which it shortens, and gives all of it with the Ruby stack
 * at its outer end: the same places where it has none, else *depth others, until the next call. NULL when memory is
 * short. load->epoch and load->tag are its own then. */
const uint32_t *jp_ruby_join(struct jp_ruby_load *load, uint32_t *places, uint32_t *native, uint32_t *depth);

/* The places of a frame of the table and of its callers, as many as it is deep. 0, or -1 when memory is short. */
int jp_ruby_frames(struct jp_ruby_load *load, uint32_t frame, uint32_t *places) jp_must_check;

/* Epoch and tag of a label, by their numbers in the table; 0: none. 0, or -1 when memory is short. */
int jp_ruby_label(struct jp_ruby_load *load, uint32_t epoch, uint32_t tag, struct jp_label *label) jp_must_check;

/* Tells a profile's user of it. */
void jp_ruby_describe(const struct jp_ruby_load *load, struct jprof_profile_info *info);

/* Says what was left out, and why. 0, or -1 when memory is short. */
int jp_ruby_note(const struct jp_ruby_load *load, const struct jprof_dump *dump) jp_must_check;

void jp_ruby_load_release(struct jp_ruby_load *load);
