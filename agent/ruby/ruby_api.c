#include "ruby/ruby_api.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void ruby_init(void) __attribute__((weak));

/* No pointers: they would have to be relocated in every process. */
static const char names[][40] = {
	"ruby_version",
	"rb_gc_start",
	"rb_gc_stat",
	"rb_hash_new",
	"rb_hash_foreach",
	"rb_sym2id",
	"rb_id2name",
	"rb_num2ull",
	"ruby_thread_has_gvl_p",
	"rb_during_gc",
	"rb_postponed_job_register_one",
	"rb_postponed_job_preregister",
	"rb_postponed_job_trigger",
	"rb_set_end_proc",
	"ruby_vm_at_exit",
	"ruby_vm_destruct",
	"ruby_native_thread_p",
	"rb_protect",
	"rb_errinfo",
	"rb_set_errinfo",
	"rb_cComplex",
	"ruby_single_main_ractor",
	"rb_path2class",
	"rb_intern",
	"rb_funcall",
	"rb_proc_new",
	"ruby_current_vm_ptr",
	"ruby_current_ec",
	"rb_profile_frames",
	"rb_profile_frame_path",
	"rb_profile_frame_label",
	"rb_profile_frame_method_name",
	"rb_profile_frame_singleton_method_p",
	"rb_mod_name",
	"rb_class_attached_object",
	"rb_attr_get",
	"rb_str_new",
	"rb_sourcefile",
	"rb_sourceline",
	"rb_module_new",
	"rb_singleton_class",
	"rb_define_singleton_method",
	"rb_respond_to",
	"rb_block_call",
	"rb_funcall_with_block",
	"rb_id2sym",
	"rb_thread_current",
	"rb_thread_local_aref",
	"rb_postponed_job_flush",
	"rb_gc_latest_gc_info",
	"rb_objspace_each_objects",
	"rb_obj_memsize_of",
	"rb_class_real",
	"rb_const_get",
	"rb_ary_entry",
	"rb_objspace_reachable_objects_from",
	"rb_objspace_reachable_objects_from_root",
	"rb_objspace_data_type_name",
	"rb_hash_size_num",
	"rb_gc_disable",
	"rb_obj_id",
	"rb_gc_obj_slot_size",
	"rb_gc_enable",
	"rb_gc_disable_no_rest",
	"rb_ivar_foreach",
	"rb_mod_const_at",
	"rb_st_init_numtable_with_size",
	"rb_st_foreach",
	"rb_st_clear",
	"rb_st_free_table",
	"rb_id2str",
	"rb_sym2str",
	"rb_f_global_variables",
	"rb_gv_get",
};

_Static_assert(sizeof(struct ruby_api) == sizeof names / sizeof *names * sizeof(void *), "a name for each member");

struct ruby_api ruby;

bool ruby_api_present(void)
{
	return ruby_init != NULL;
}

static uintptr_t ruby_start_address, ruby_size;
static const char *ruby_path;

/* Where Ruby's object file lies, by its own headers. */
static void find_ruby(void)
{
	Dl_info info;
	uintptr_t low = UINTPTR_MAX, high = 0;
	if (!dladdr((void *)(uintptr_t)ruby_init, &info))
		return;
	const ElfW(Ehdr) *header = info.dli_fbase;
	const ElfW(Phdr) *ph = (const void *)((const char *)info.dli_fbase + header->e_phoff);
	for (const ElfW(Phdr) *end = ph + header->e_phnum; ph < end; ph++) {
		if (ph->p_type != PT_LOAD)
			continue;
		low = ph->p_vaddr < low ? ph->p_vaddr : low;
		high = ph->p_vaddr + ph->p_memsz > high ? ph->p_vaddr + ph->p_memsz : high;
	}
	ruby_start_address = (uintptr_t)info.dli_fbase;
	ruby_path = info.dli_fname;
	ruby_size = high > low ? high - low : 0;
}

void ruby_api_load(void)
{
	void *found[sizeof names / sizeof *names];
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		found[i] = dlsym(RTLD_DEFAULT, names[i]);
	memcpy(&ruby, found, sizeof ruby);
	find_ruby();
}

bool ruby_api_has(const void *address)
{
	return (uintptr_t)address - ruby_start_address < ruby_size;
}

const void *ruby_api_image(void)
{
	return (const void *)ruby_start_address;
}

const char *ruby_api_path(void)
{
	return ruby_path;
}
