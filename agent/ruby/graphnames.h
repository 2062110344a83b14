/* Names for edges of the graph (objectgraph.h): by which constant, variable or Symbol key an object refers to another.
 * What would run code of the program or allocate is asked for in the job: values of global variables, and of what
 * threads have by a key. The rest is read in the child. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ruby/ruby_api.h"

/* In a job, on a Ruby thread; may raise, and may switch threads. Notes what the child may not ask for. Where memory is
 * short, or this Ruby does not export what is needed, no edge has a name. */
void graphnames_list(void);

/* Gives back what graphnames_list() took. */
void graphnames_forget(void);

/* In the child: looks at an object (of `slot` bytes), whose edges are asked for then. */
void graphnames_look_at(VALUE object, size_t slot);

/* Looks at the roots: the global variables. */
void graphnames_look_at_globals(void);

/* The name, a String, by which what was looked at refers to this object; 0: there is none. */
VALUE graphnames_find(VALUE to);

/* The number of a name, from 1 on in the order in which they are asked for; 0: there are too many. */
unsigned graphnames_number(VALUE name, bool *is_new);
