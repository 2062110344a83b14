#include "ops/wrappers.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "ops/wrapper_table.h"

/* Compilers append ".constprop.0", ".isra.3", ".part.1", ".cold" to the clones they make. */
static size_t stem(const char *name)
{
	return strcspn(name, ".");
}

static bool in_table(const char *name, const char *const *table, size_t count)
{
	size_t n = stem(name);
	for (size_t i = 0; i < count; i++)
		if (strlen(table[i]) == n && !memcmp(table[i], name, n))
			return true;
	return false;
}

/* Patterns as in a shell; the stem of the name is matched. */
static bool matches(const char *name, const char *const *patterns, size_t count)
{
	char text[1024];
	size_t n = stem(name);
	if (n >= sizeof text)
		return false;
	memcpy(text, name, n);
	text[n] = '\0';
	for (size_t i = 0; i < count; i++) {
		if (patterns[i][0] != text[0] && patterns[i][0] != '*')
			continue;
		size_t literal = strcspn(patterns[i], "*[");
		if (!strncmp(patterns[i], text, literal) && !fnmatch(patterns[i] + literal, text + literal, 0))
			return true;
	}
	return false;
}

/* Those of jeprof's skip names that allocate (5.3.0 and later), with jemalloc's slow paths. */
static const char *const entries[] = {
	"malloc", "calloc",  "realloc", "memalign", "posix_memalign", "aligned_alloc",
	"valloc", "pvalloc", "mallocx", "rallocx",  "xallocx",        "reallocarray",
};

static const char *const exact[] = {
	"newImpl",       "void* newImpl",     "fallbackNewImpl",   "void* fallbackNewImpl", "handleOOM",
	"__builtin_new", "__builtin_vec_new", "imalloc",           "imalloc_body",          "irallocx_prof",
	"do_rallocx",    "prof_alloc_prep",   "je_malloc_default", "fallback_impl",         "malloc_default",
};

bool jp_is_allocator_name(const char *name)
{
	while (*name == '_' && strncmp(name, "__builtin", 9))
		name++;
	return in_table(name, entries, jp_count(entries)) || in_table(name, exact, jp_count(exact)) ||
	       !strcmp(name, "operator new") || !strcmp(name, "operator new[]");
}

size_t jp_allocator_prefix(const char *name)
{
	size_t n = stem(name);
	for (size_t i = 0; i < jp_count(entries); i++) {
		size_t e = strlen(entries[i]);
		if (n > e && !memcmp(name + n - e, entries[i], e) && name[n - e - 1] == '_')
			return n - e;
	}
	return 0;
}

bool jp_is_prefixed_allocator_name(const char *name)
{
	return jp_allocator_prefix(name);
}

bool jp_is_allocator_internal(const char *name)
{
	static const char *const patterns[] = {
		"*prof_backtrace*",
		"*prof_tctx_create*",
		"*prof_alloc_prep*",
		"*prof_lookup*",
		"*prof_malloc_sample*",
		"imalloc*",
		"ialloc*",
		"iralloc*",
		"*malloc_default*",
		"*do_rallocx*",
		"*arena_malloc*",
		"*arena_palloc*",
		"*arena_ralloc*",
		"*tcache_alloc*",
		"*large_malloc*",
		"*large_palloc*",
		"*large_ralloc*",
		"*hpa_*",
	};
	return matches(name, patterns, jp_count(patterns));
}

/* ---- the table, by first letter ---------------------------------------------------------------------- */

static size_t count_patterns(void)
{
	size_t n = 0;
	for (const struct jp_wrapper_row *row = jp_wrapper_table; row->names; row++)
		for (size_t i = 0; row->names[i]; i++)
			n++;
	return n;
}

/* By two letters, but of "<TYPE as TRAIT>" by the first. */
static unsigned bin_of(const char *text)
{
	return *text && *text != '<' ? ((unsigned char)text[0] * 31U + (unsigned char)text[1]) % jp_wrapper_bins
	                             : (unsigned char)*text;
}

int jp_wrappers_init(struct jp_wrappers *w)
{
	size_t next[jp_wrapper_bins] = { 0 }, first = 0;
	*w = (struct jp_wrappers){ .patterns = calloc(count_patterns() + 1, sizeof *w->patterns) };
	if (!w->patterns)
		return -1;
	for (const struct jp_wrapper_row *row = jp_wrapper_table; row->names; row++)
		for (size_t i = 0; row->names[i]; i++)
			next[bin_of(row->names[i])]++;
	for (size_t bin = 0; bin < jp_wrapper_bins; bin++) {
		w->first[bin] = first;
		first += next[bin];
		next[bin] = w->first[bin];
	}
	w->first[jp_wrapper_bins] = first;
	for (const struct jp_wrapper_row *row = jp_wrapper_table; row->names; row++)
		for (size_t i = 0; row->names[i]; i++)
			w->patterns[next[bin_of(row->names[i])]++] =
			    (struct jp_wrapper_pattern){ row->names[i], strcspn(row->names[i], "*[") };
	return 0;
}

void jp_wrappers_release(struct jp_wrappers *w)
{
	free(w->patterns);
}

/* strncmp, for texts that differ early. */
static bool begins_as(const char *name, const char *prefix, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (name[i] != prefix[i])
			return false;
	return true;
}

bool jp_is_wrapper_name(const struct jp_wrappers *w, const char *name)
{
	unsigned bin = bin_of(name);
	for (size_t i = w->first[bin]; i < w->first[bin + 1]; i++)
		if (begins_as(name, w->patterns[i].text, w->patterns[i].literal) &&
		    matches(name, &w->patterns[i].text, 1))
			return true;
	return false;
}

/* Frames that say "a script runs", of which there are many in a row. */
static bool is_plumbing_of_ruby(const char *name)
{
	static const char *const patterns[] = {
		"vm_exec_core",
		"rb_vm_exec",
		"vm_exec",
		"vm_sendish*",
		"vm_call_*",
		"vm_cfp_*",
		"rb_vm_call0",
		"vm_call0_*",
		"rb_vm_call_cfunc*",
		"rb_call0",
		"rb_call",
		"rb_funcall*",
		"rb_call_super*",
		"rb_yield*",
		"yield_under",
		"invoke_*",
		"vm_invoke_*",
		"vm_yield_*",
		"rb_vm_invoke_proc*",
		"rb_proc_call*",
		"rb_method_call*",
		"rb_ensure",
		"rb_protect",
		"rb_rescue*",
		"rb_catch*",
		"rb_iterate*",
		"rb_block_call*",
		"rb_ec_exec_node",
		"rb_ec_error*",
		"ruby_exec_node",
		"ruby_run_node",
		"rb_main",
		"__libc_start*",
		"_start",
		"thread_start_func*",
		"thread_do_start*",
		"call_without_gvl",
		"rb_nogvl",
		"*clone3",
		"start_thread",
		"rb_class_new_instance_pass_kw",
		"rb_obj_call_init*",
		"int_dotimes",
	};
	return matches(name, patterns, jp_count(patterns));
}

static bool is_plumbing_of_python(const char *name)
{
	static const char *const patterns[] = {
		"_PyEval_EvalFrame*",
		"_PyEval_EvalCode*",
		"_PyEval_Vector",
		"_PyEval_CallTracing",
		"PyEval_Eval*",
		"PyEval_Call*",
		"PyObject_Call*",
		"_PyObject_Call*",
		"_PyObject_FastCall*",
		"PyObject_Vectorcall*",
		"_PyObject_Vectorcall*",
		"_PyObject_MakeTpCall",
		"PyVectorcall_Call",
		"_PyVectorcall_*",
		"_PyFunction_Vectorcall",
		"_PyFunction_FastCall*",
		"_PyMethodDef_RawFastCall*",
		"PyCFunction_Call",
		"_PyCFunction_FastCall*",
		"cfunction_vectorcall_*",
		"cfunction_call",
		"do_call_core",
		"method_vectorcall_*",
		"slot_tp_call",
		"slot_tp_init",
		"PyRun_*",
		"_PyRun_*",
		"Py_RunMain",
		"Py_BytesMain",
		"Py_Main",
	};
	return matches(name, patterns, jp_count(patterns));
}

bool jp_is_plumbing_name(const char *name)
{
	return is_plumbing_of_ruby(name) || is_plumbing_of_python(name);
}
