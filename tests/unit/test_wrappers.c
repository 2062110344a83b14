#include "harness.h"
#include "ops/wrapper_table.h"
#include "ops/wrappers.h"

typedef bool test_fn(const char *name);

static struct jp_wrappers table;

static bool is_wrapper(const char *name)
{
	return jp_is_wrapper_name(&table, name);
}

static void check(test_fn *is, bool should, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is(names[i]) != should)
			fail_msg("%s", names[i]);
}

#define all_are(is, ...)                                                                                               \
	check(is, true, (const char *const[]){ __VA_ARGS__ }, jp_count(((const char *const[]){ __VA_ARGS__ })))
#define none_is(is, ...)                                                                                               \
	check(is, false, (const char *const[]){ __VA_ARGS__ }, jp_count(((const char *const[]){ __VA_ARGS__ })))

/* jeprof's skip names that allocate: of 5.3.0, and what later versions added. */
TEST(test_entry_points)
{
	all_are(jp_is_allocator_name, "malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc",
	        "valloc", "pvalloc", "mallocx", "rallocx", "xallocx", "newImpl", "void* newImpl", "__builtin_new",
	        "__builtin_vec_new", "operator new", "operator new[]", "_malloc", "__malloc", "fallbackNewImpl",
	        "malloc.cold", "imalloc_body.constprop.0", "irallocx_prof", "do_rallocx", "je_malloc_default");
	none_is(jp_is_allocator_name, "", "main", "mallo", "malloc2", "my_malloc", "ruby_xmalloc", "operator new_thing",
	        "row_new", "mallopt", "operator()", "newImpl2", "a::malloc", ".malloc");
}

TEST(test_prefixed_entry_points)
{
	all_are(jp_is_prefixed_allocator_name, "je_malloc", "_rjem_mallocx", "_rjem_je_calloc", "xx_posix_memalign",
	        "je_malloc.cold", "je_aligned_alloc", "_malloc");
	none_is(jp_is_prefixed_allocator_name, "malloc", "jemalloc", "je_mallocs", "je_free", "", "_",
	        "je_malloc_stats");
}

TEST(test_internals)
{
	all_are(jp_is_allocator_internal, "je_prof_backtrace", "prof_backtrace_impl", "_rjem_je_prof_tctx_create",
	        "imalloc", "imalloc_body", "prof_alloc_prep", "je_malloc_default", "je_arena_malloc_hard",
	        "je_large_malloc", "imalloc_no_sample.isra.0");
	none_is(jp_is_allocator_internal, "", "main", "row_new", "prof", "malloc_row", "vm_exec");
}

TEST(test_wrappers_of_languages)
{
	all_are(is_wrapper, "ruby_xmalloc", "ruby_xmalloc2", "ruby_xcalloc", "ruby_xrealloc2", "ruby_xmalloc_body",
	        "ruby_mimmalloc", "objspace_xmalloc0", "objspace_xrealloc.isra.0", "rb_mem_clear", "rb_xmalloc_mul_add",
	        "rb_alloc_tmp_buffer_with_count", "__rust_alloc", "__rust_realloc", "__rdl_alloc", "__rg_alloc_zeroed",
	        "alloc::alloc::alloc", "alloc::alloc::exchange_malloc", "alloc::alloc::Global::alloc_impl",
	        "<A as core::alloc::global::GlobalAlloc>::alloc",
	        "<alloc::alloc::Global as core::alloc::Allocator>::allocate");
	none_is(is_wrapper, "", "main", "malloc", "ruby_xfree", "ruby_exec_node", "rb_str_new", "rb_ary_new",
	        "st_init_table", "alloc::vec::Vec::push", "str_alloc_heap", "row_new", "__rust_dealloc", "rb_memory_id",
	        "<A as core::ops::drop::Drop>::drop");
}

/* As the programs call them, read from their symbols: those of Debian's packages and the projects' own builds. */
TEST(test_wrappers_of_projects)
{
	all_are(is_wrapper, "zmalloc", "zmalloc_usable", "ztrycalloc_usable", "zrealloc_usable", "_sdsnewlen");
	all_are(is_wrapper, "isc__mem_get", "isc__mem_allocate", "isc__mem_strdup", "isc__mempool_get");
	all_are(is_wrapper, "CRYPTO_malloc", "CRYPTO_zalloc", "CRYPTO_realloc", "CRYPTO_strdup", "CRYPTO_strndup",
	        "CRYPTO_memdup", "OPENSSL_LH_insert", "BUF_MEM_grow", "BUF_MEM_grow_clean");
	all_are(is_wrapper, "my_malloc", "my_realloc", "my_strdup", "my_multi_malloc", "alloc_root", "multi_alloc_root",
	        "strdup_root", "ut_allocator::allocate", "mem_heap_create_block_func");
	all_are(is_wrapper, "palloc", "palloc0", "palloc_extended", "repalloc", "repalloc_huge", "pstrdup",
	        "MemoryContextAlloc", "MemoryContextAllocZeroAligned", "AllocSetAlloc",
	        "AllocSetContextCreateInternal");
	all_are(is_wrapper, "os::malloc", "os::realloc", "AllocateHeap", "Arena::grow", "Arena::Amalloc_4",
	        "Chunk::operator new", "CHeapObj::operator new", "resource_allocate_bytes");
	all_are(is_wrapper, "v8::internal::Malloced::operator new", "v8::internal::AlignedAllocWithRetry",
	        "v8::internal::AllocWithRetry", "node::UncheckedMalloc");
	all_are(is_wrapper, "MPL_Get", "sma_alloc", "sml_getspace", "ObjGetSpace", "VFP_GetStorage",
	        "sma_alloc.isra.0");
	all_are(is_wrapper, "PyMem_Malloc", "PyMem_RawRealloc", "PyObject_Malloc", "_PyObject_GC_New",
	        "_PyObject_GC_NewVar", "PyType_GenericAlloc");
	all_are(is_wrapper, "sqlite3Malloc", "sqlite3MallocZero", "sqlite3_malloc64", "sqlite3DbMallocRawNN",
	        "xmlMalloc", "xmlStrndup", "g_malloc", "g_malloc0", "g_slice_alloc", "g_strdup", "xmalloc", "xstrdup",
	        "x2nrealloc", "apr_palloc", "apr_allocator_alloc", "uv__malloc", "uv__strdup", "ngx_palloc_large",
	        "talloc_strdup", "__strdup", "zmalloc.constprop.0");
	none_is(is_wrapper, "zmallo", "zfree", "zslInsert", "hashTypeSet", "CRYPTO_free", "CRYPTO_THREAD_lock_new",
	        "palmier", "AllocateRow", "os::init", "Arena", "Arena::draw", "PyMem", "PyDict_New", "sqlite3BtreeOpen",
	        "g_hash_table_insert", "xmlParseDocument", "xml_load", "my_rows", "alloc_rooted", "by_malloc", "xrow");
}

/* Each pattern begins with a letter that the table is indexed by, and is found again by a name made of it. */
TEST(test_the_whole_table)
{
	size_t patterns = 0;
	for (const struct jp_wrapper_row *row = jp_wrapper_table; row->project; row++)
		for (size_t i = 0; row->names[i]; i++, patterns++) {
			char name[256];
			size_t n = 0;
			assert_true(strcspn(row->names[i], "*?[") >= 2 || !strncmp(row->names[i], "<*", 2));
			for (const char *s = row->names[i]; *s; s++) {
				bool set = *s == '[';
				name[n++] = set ? s[1] : *s == '*' ? 'q' : *s;
				s += set ? strcspn(s, "]") : 0;
			}
			name[n] = '\0';
			if (!is_wrapper(name))
				fail_msg("%s: %s is no %s", row->project, name, row->names[i]);
			name[0] = '!';
			assert_false(is_wrapper(name));
		}
	assert_true(patterns > 300);
}

TEST(test_plumbing)
{
	all_are(jp_is_plumbing_name, "vm_exec_core", "rb_vm_exec", "vm_call_cfunc", "vm_call_cfunc_with_frame.isra.0",
	        "rb_yield", "rb_ensure", "rb_protect", "vm_sendish", "rb_funcallv", "__libc_start_main", "_start");
	all_are(jp_is_plumbing_name, "_PyEval_EvalFrameDefault", "_PyEval_EvalFrameDefault.cold", "_PyEval_Vector",
	        "PyEval_EvalCodeEx", "do_call_core", "_PyFunction_Vectorcall", "_PyObject_MakeTpCall",
	        "PyObject_CallMethodObjArgs", "cfunction_vectorcall_FASTCALL", "method_vectorcall_NOARGS",
	        "_PyRun_SimpleFileObject", "Py_RunMain");
	none_is(jp_is_plumbing_name, "PyBytes_FromStringAndSize", "_PyEval_GetBuiltin", "_PyEval_InitState",
	        "import_name", "PyEval_GetFrame", "type_call", "PyObject_Str", "PyImport_ImportModule", "list_resize");
	none_is(jp_is_plumbing_name, "", "main", "rb_str_new", "rb_ary_push", "rb_hash_aset", "row_new",
	        "vm_exec_cores", "rb_gc_start", "iseq_compile_each", "rb_class_new_instance");
}

TEST(test_very_long_names)
{
	char name[5000] = "ruby_xmalloc";
	memset(name + strlen(name), 'x', sizeof name - strlen(name) - 1);
	none_is(jp_is_allocator_name, name);
	none_is(jp_is_prefixed_allocator_name, name);
	none_is(jp_is_plumbing_name, name);
}

int main(void)
{
	if (jp_wrappers_init(&table))
		return 1;
	int failed = run_listed(NULL, NULL);
	jp_wrappers_release(&table);
	return failed;
}
