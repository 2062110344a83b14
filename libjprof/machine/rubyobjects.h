/* The classes and modules that libruby exports as variables. */
#ifndef JP_MACHINE_RUBYOBJECTS_H
#define JP_MACHINE_RUBYOBJECTS_H

/* The name in Ruby of what `variable` (rb_cString, rb_eArgError ...) holds; NULL: not known. */
const char *jp_ruby_variable(const char *variable);

#endif
