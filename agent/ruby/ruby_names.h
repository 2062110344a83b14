/* The names of a Ruby frame, read where nothing may be allocated or raised: in a sampled allocation. So Ruby's strings
 * and method entries are read by their layout, which is learned by what is known of an own one. */
#pragma once

#include <stdbool.h>

#include "ruby/ruby_api.h"
#include "ruby/texts.h"

struct ruby_names {
	struct text_span path, class, method; /* Ruby's memory */
	char kind;                            /* of stacktree.h */
};

/* On a Ruby thread, in a job; may raise. False where strings have a layout that is not known. */
bool ruby_names_learn(void);

/* Likewise, from within the method `id` of the singleton class `class`, whose frame this is. */
void ruby_names_learn_method(VALUE frame, VALUE class, uintptr_t id);

/* Is the frame given as its method, whose path it then gets? Else it is given as its own code. */
bool ruby_names_by_method(VALUE frame);

/* A String's bytes, in Ruby's memory; none of what is no String. */
struct text_span ruby_names_text(VALUE string);

/* Without a path it is a C method's. */
void ruby_names_of(VALUE frame, struct ruby_names *names);
