/* The classes and modules that libruby exports as variables. */
#pragma once

/* The name in Ruby of what `variable` (rb_cString, rb_eArgError ...) holds; NULL: not known. */
const char *jp_ruby_variable(const char *variable);
