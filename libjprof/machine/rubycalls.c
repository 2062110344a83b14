#include "machine/rubycalls.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

/* Sorted by function. Source: Ruby's include/ruby/internal (method.h, module.h, intern/struct.h). */
static const struct jp_ruby_call calls[] = {
	{ "rb_const_get", JP_CALL_CONSTANT, 0, -1, 1, -1, NULL },
	{ "rb_const_get_at", JP_CALL_CONSTANT, 0, -1, 1, -1, NULL },
	{ "rb_define_alloc_func", JP_CALL_ALLOCATE, 0, -1, -1, 1, NULL },
	{ "rb_define_class", JP_CALL_CLASS, -1, 0, -1, -1, NULL },
	{ "rb_define_class_id_under", JP_CALL_CLASS, 0, -1, 1, -1, NULL },
	{ "rb_define_class_under", JP_CALL_CLASS, 0, 1, -1, -1, NULL },
	{ "rb_define_global_function", JP_CALL_METHOD, -1, 0, -1, 1, "Kernel" },
	{ "rb_define_method", JP_CALL_METHOD, 0, 1, -1, 2, NULL },
	{ "rb_define_method_id", JP_CALL_METHOD, 0, -1, 1, 2, NULL },
	{ "rb_define_module", JP_CALL_CLASS, -1, 0, -1, -1, NULL },
	{ "rb_define_module_function", JP_CALL_SINGLETON, 0, 1, -1, 2, NULL },
	{ "rb_define_module_id_under", JP_CALL_CLASS, 0, -1, 1, -1, NULL },
	{ "rb_define_module_under", JP_CALL_CLASS, 0, 1, -1, -1, NULL },
	{ "rb_define_private_method", JP_CALL_METHOD, 0, 1, -1, 2, NULL },
	{ "rb_define_protected_method", JP_CALL_METHOD, 0, 1, -1, 2, NULL },
	{ "rb_define_singleton_method", JP_CALL_SINGLETON, 0, 1, -1, 2, NULL },
	{ "rb_intern", JP_CALL_ID, -1, 0, -1, -1, NULL },
	{ "rb_intern2", JP_CALL_ID, -1, 0, -1, -1, NULL },
	{ "rb_intern3", JP_CALL_ID, -1, 0, -1, -1, NULL },
	{ "rb_path2class", JP_CALL_PATH, -1, 0, -1, -1, NULL },
	{ "rb_singleton_class", JP_CALL_META, 0, -1, -1, -1, NULL },
	{ "rb_struct_define", JP_CALL_CLASS, -1, 0, -1, -1, "Struct" },
	{ "rb_struct_define_under", JP_CALL_CLASS, 0, 1, -1, -1, NULL },
};

static int by_ruby_call(const void *a, const void *b)
{
	return strcmp(a, ((const struct jp_ruby_call *)b)->function);
}

const struct jp_ruby_call *jp_ruby_call_of(const char *function)
{
	return bsearch(function, calls, jp_count(calls), sizeof *calls, by_ruby_call);
}
