/* What the types of Ruby's objects are called. */
#pragma once

enum { jp_ruby_types = 32 }; /* the five lowest bits of an object's flags, from Ruby 3.1 to 4.0 */

/* As the agent calls it (agent/ruby/ruby_objects.c); NULL: it is no object. */
const char *jp_ruby_type_name(unsigned type);
