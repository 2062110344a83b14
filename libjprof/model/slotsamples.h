/* Samples of objects in slots of Ruby's own heap become samples of a profile, beside those of malloc. Such a stack
 * begins, at its inner end, with a place for the object's class under one pseudo object, and goes on in Ruby. */
#pragma once

#include "model/rubyframes.h"

/* Whether a path is that of the pseudo object. */
bool jp_is_slot_object(const char *path);

/* Whether a stack is that of objects in slots. */
bool jp_is_slot_stack(const struct jprof_profile *profile, uint32_t stack);

/* Whether a heap holds what a stack allocated. */
bool jp_is_of_heap(const struct jprof_profile *profile, uint32_t stack, enum jprof_heap heap);

/* The class of a sampled object, or its type where that is not known. */
const char *jp_slot_class(const struct jp_rubytable *table, const struct jp_rubyslot *slot);

/* Adds the samples of a dump's table, whose thread is not known, with this worker (a string id, or JP_NONE). 0, or -1
 * when memory is short. */
int jp_slot_samples_add(struct jp_ruby_load *load, uint32_t worker) jp_must_check;

/* Makes nothing of them: the profile has malloc's alone then. */
void jp_slot_samples_drop(struct jprof_profile *profile);
