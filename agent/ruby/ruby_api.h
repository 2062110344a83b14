/* What the agent takes of Ruby. Looked up by name where a Ruby is, not by the linker everywhere: every child of the
 * program loads the agent. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t VALUE;

/* An object's type: the five lowest bits of its flags, as all Rubies from 3.1 to 4.0 have them. */
enum {
	T_NONE = 0,
	T_OBJECT = 1,
	T_CLASS = 2,
	T_MODULE = 3,
	T_STRING = 5,
	T_ARRAY = 7,
	T_HASH = 8,
	T_STRUCT = 9,
	T_DATA = 0xc,
	T_SYMBOL = 0x14,
	T_IMEMO = 0x1a,
	T_NODE = 0x1b,
	T_ICLASS = 0x1c,
	T_ZOMBIE = 0x1d, /* it and what is above: no objects */
	T_MASK = 0x1f,
};

/* What each object begins with. */
struct basic {
	VALUE flags, class;
};

/* Whether a value may be an object in memory, and not a number, a Symbol or the like. */
static inline bool is_heap_object(VALUE value)
{
	return value > 4096 && value % sizeof(VALUE) == 0;
}

/* T_NONE of what is no object in memory. */
static inline unsigned type_of(VALUE value)
{
	return is_heap_object(value) ? ((const struct basic *)value)->flags & T_MASK : T_NONE;
}

typedef VALUE block_fn(VALUE yielded, VALUE data, int argc, const VALUE *argv, VALUE block);

/* Where a Ruby is; what it has not got is NULL. The members are named as the symbols are, in the order of
 * ruby_api.c. */
struct ruby_api {
	const char *ruby_version;
	VALUE (*rb_gc_start)(void);
	size_t (*rb_gc_stat)(VALUE hash);
	VALUE (*rb_hash_new)(void);
	void (*rb_hash_foreach)(VALUE hash, int (*each)(VALUE, VALUE, VALUE), VALUE arg);
	uintptr_t (*rb_sym2id)(VALUE symbol);
	const char *(*rb_id2name)(uintptr_t id);
	unsigned long long (*rb_num2ull)(VALUE number);
	int (*ruby_thread_has_gvl_p)(void);
	int (*rb_during_gc)(void);
	int (*rb_postponed_job_register_one)(unsigned flags, void (*run)(void *), void *data);
	unsigned (*rb_postponed_job_preregister)(unsigned flags, void (*run)(void *), void *data);
	void (*rb_postponed_job_trigger)(unsigned job);
	void (*rb_set_end_proc)(void (*run)(VALUE), VALUE data);
	void (*ruby_vm_at_exit)(void (*run)(void *vm));
	int (*ruby_vm_destruct)(void *vm); /* not to be called: who runs in it is found by its bounds */
	int (*ruby_native_thread_p)(void);
	VALUE (*rb_protect)(VALUE (*run)(VALUE), VALUE data, int *state);
	VALUE (*rb_errinfo)(void);
	void (*rb_set_errinfo)(VALUE error);
	const VALUE *rb_cComplex;             /* 0 until the VM is nearly up */
	void *const *ruby_single_main_ractor; /* Ruby 3.0 to 3.2; NULL when there are several */
	VALUE (*rb_path2class)(const char *path);
	uintptr_t (*rb_intern)(const char *name);
	VALUE (*rb_funcall)(VALUE object, uintptr_t method, int argc, ...);
	VALUE (*rb_proc_new)(block_fn *block, VALUE data);
	void *const *ruby_current_vm_ptr; /* Ruby 2.5 to 3.1 */
	void *const *ruby_current_ec;     /* Ruby 3.0 and 3.1: this thread's */
	int (*rb_profile_frames)(int start, int limit, VALUE *frames, int *lines);
	VALUE (*rb_profile_frame_path)(VALUE frame);
	VALUE (*rb_profile_frame_label)(VALUE frame);
	VALUE (*rb_profile_frame_method_name)(VALUE frame);
	VALUE (*rb_profile_frame_singleton_method_p)(VALUE frame);
	VALUE (*rb_mod_name)(VALUE module);
	VALUE (*rb_class_attached_object)(VALUE singleton); /* from Ruby 3.2 on */
	VALUE (*rb_attr_get)(VALUE object, uintptr_t id);
	VALUE (*rb_str_new)(const char *bytes, long len);
	const char *(*rb_sourcefile)(void);
	int (*rb_sourceline)(void);
	VALUE (*rb_module_new)(void);
	VALUE (*rb_singleton_class)(VALUE object);
	void (*rb_define_singleton_method)(VALUE object, const char *name, VALUE (*run)(VALUE self), int argc);
	int (*rb_respond_to)(VALUE object, uintptr_t method);
	VALUE(*rb_block_call)
	(VALUE object, uintptr_t method, int argc, const VALUE *argv, block_fn *block, VALUE data);
	VALUE (*rb_funcall_with_block)(VALUE object, uintptr_t method, int argc, const VALUE *argv, VALUE block);
	VALUE (*rb_id2sym)(uintptr_t id);
	VALUE (*rb_thread_current)(void);
	VALUE (*rb_thread_local_aref)(VALUE thread, uintptr_t id); /* of its fiber */
	void (*rb_postponed_job_flush)(void *vm);
	VALUE (*rb_gc_latest_gc_info)(VALUE key);
	void (*rb_objspace_each_objects)(int (*each)(void *begin, void *end, size_t stride, void *data), void *data);
	size_t (*rb_obj_memsize_of)(VALUE object);
	VALUE (*rb_class_real)(VALUE class);
	VALUE (*rb_const_get)(VALUE module, uintptr_t id);
	VALUE (*rb_ary_entry)(VALUE array, long place);
	void (*rb_objspace_reachable_objects_from)(VALUE object, void (*each)(VALUE, void *), void *data);
	void (*rb_objspace_reachable_objects_from_root)(void (*each)(const char *kind, VALUE, void *), void *data);
	const char *(*rb_objspace_data_type_name)(VALUE object);
	size_t (*rb_hash_size_num)(VALUE hash);
	VALUE (*rb_gc_disable)(void);
	VALUE (*rb_obj_id)(VALUE object);
	size_t (*rb_gc_obj_slot_size)(VALUE object); /* from Ruby 3.2 on */
	VALUE (*rb_gc_enable)(void);
	VALUE (*rb_gc_disable_no_rest)(void); /* where slots have several sizes */
	void (*rb_ivar_foreach)(VALUE object, int (*each)(uintptr_t, VALUE, VALUE), VALUE data);
	void *(*rb_mod_const_at)(VALUE module, void *table);
	void *(*rb_st_init_numtable_with_size)(uintptr_t count);
	int (*rb_st_foreach)(void *table, int (*each)(uintptr_t, uintptr_t, uintptr_t), uintptr_t data);
	void (*rb_st_clear)(void *table);
	void (*rb_st_free_table)(void *table);
	VALUE (*rb_id2str)(uintptr_t id);
	VALUE (*rb_sym2str)(VALUE symbol);
	VALUE (*rb_f_global_variables)(void);
	VALUE (*rb_gv_get)(const char *name);
};

extern struct ruby_api ruby;

bool ruby_api_present(void);

/* In the constructor: it takes the loader's lock. */
void ruby_api_load(void);

/* Where the object that has Ruby is mapped from its first byte on, and its path. */
const void *ruby_api_image(void);
const char *ruby_api_path(void);

/* Does the address lie in the object that has Ruby? Takes no lock. */
bool ruby_api_has(const void *address);
