#include "ruby/ruby_interpreter.h"

#include <stdatomic.h>
#include <string.h>

#include "nativestack.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_names.h"

enum { DEPTH = 48, FUNCTIONS = 8 };

/* Ruby's functions between one of the agent's and who called Ruby, innermost first. */
struct path {
	struct code_range functions[DEPTH];
	size_t count;
};

static struct code_range functions[FUNCTIONS];
static atomic_size_t kept_count;
static struct code_range jobs, protect;
static struct path *walked;
static bool by_ruby; /* the last call of the own method came from Ruby code */
static uintptr_t own_id;

static struct code_range function_of(const void *address)
{
	struct code_range range = { 0, 0 };
	code_range_find(ruby_api_image(), (uintptr_t)address - 1, &range);
	return range;
}

static bool is_in(const struct path *path, const struct code_range *range)
{
	for (size_t i = 0; i < path->count; i++)
		if (path->functions[i].begin == range->begin)
			return true;
	return false;
}

/* Up to what protects the job: whom the job interrupted is no part of it. */
static void walk_learned(void)
{
	void *frames[DEPTH];
	unsigned depth = nativestack_all(frames, DEPTH);
	walked->count = 0;
	for (unsigned i = 0; i < depth && ruby_api_has(frames[i]); i++) {
		struct code_range function = function_of(frames[i]);
		if (function.begin == protect.begin)
			break;
		walked->functions[walked->count++] = function;
	}
}

/* Is the innermost frame but one that of Ruby code, which has a path? */
static bool is_called_by_ruby(const VALUE *frames, int count)
{
	enum { NIL_AT_MOST = 8 };
	return count == 2 && ruby.rb_profile_frame_path(frames[1]) > NIL_AT_MOST;
}

static VALUE on_called(VALUE self)
{
	VALUE frames[2];
	int lines[2], count = ruby.rb_profile_frames(0, 2, frames, lines);
	walk_learned();
	by_ruby = is_called_by_ruby(frames, count);
	if (count > 0)
		ruby_names_learn_method(*frames, ruby.rb_singleton_class(self), own_id);
	return self;
}

static VALUE on_yielded(VALUE yielded, VALUE data, int argc, const VALUE *argv, VALUE block)
{
	(void)data, (void)argc, (void)argv, (void)block;
	walk_learned();
	return yielded;
}

/* What calls any C function, whoever asks for it: compilers that leave it on the stack (-O1) have it next to the
 * function. */
static size_t count_callers_of_all(const struct path *method, const struct path *from_c)
{
	size_t same = 0;
	while (same < method->count && same < from_c->count && method->functions[same].begin &&
	       method->functions[same].begin == from_c->functions[same].begin)
		same++;
	return same;
}

/* What called the method, and of the rest what stands under a yield to C, too. What stands under a call from C is no
 * part of the interpreter's loop, nor is what called that. */
static void keep_interpreter(const struct path *method, const struct path *yielded, const struct path *from_c)
{
	size_t kept = 0, first = count_callers_of_all(method, from_c);
	for (size_t i = first; i < method->count && kept < FUNCTIONS; i++) {
		const struct code_range *function = &method->functions[i];
		if (!function->begin || is_in(from_c, function))
			break;
		if (i == first || is_in(yielded, function))
			functions[kept++] = *function;
	}
	atomic_store(&kept_count, kept);
}

/* By a method of an object that nobody else has. Ruby has code of its own that yields, Kernel#tap: it calls the method
 * by a block that is a symbol. Nothing is compiled, for a job may come when Ruby loads a file: its innermost frame then
 * has no code, and what is evaluated there has that as its surroundings, and ends the program. */
static void learn_functions(void)
{
	static struct path by_method, by_yield, from_c;
	static const char name[] = "jprof_agent";
	own_id = ruby.rb_intern(name);
	code_range_find(ruby_api_image(), (uintptr_t)ruby.rb_protect, &protect);
	volatile VALUE object = ruby.rb_module_new();
	ruby.rb_define_singleton_method(object, name, on_called, 0);
	walked = &from_c;
	ruby.rb_funcall(object, own_id, 0);
	uintptr_t tap = ruby.rb_intern("tap");
	walked = &by_yield;
	ruby.rb_block_call(object, tap, 0, NULL, on_yielded, 0);
	walked = &by_method;
	volatile VALUE block = ruby.rb_funcall(ruby.rb_id2sym(own_id), ruby.rb_intern("to_proc"), 0);
	ruby.rb_funcall_with_block(object, tap, 0, NULL, block);
	if (by_ruby)
		keep_interpreter(&by_method, &by_yield, &from_c);
}

static bool has_all_functions(void)
{
	return ruby.rb_profile_frames && ruby.rb_profile_frame_path && ruby.rb_profile_frame_label &&
	       ruby.rb_profile_frame_method_name && ruby.rb_str_new && ruby.rb_intern && ruby.rb_funcall;
}

bool ruby_interpreter_is_early(void)
{
	return ruby.rb_respond_to && ruby.rb_intern && !ruby.rb_respond_to(*ruby.rb_cComplex, ruby.rb_intern("tap"));
}

bool ruby_interpreter_knows(const char *version)
{
	return (version[0] == '3' && version[1] == '.' && version[2] >= '1') || strncmp(version, "4.0.", 4) == 0;
}

/* Without the bounds of what runs postponed jobs, what those allocate would stand on the line that they interrupted. */
static bool find_jobs(void)
{
	return ruby.rb_postponed_job_flush &&
	       code_range_find(ruby_api_image(), (uintptr_t)ruby.rb_postponed_job_flush, &jobs);
}

const char *ruby_interpreter_learn(void)
{
	if (!ruby_interpreter_knows(ruby.ruby_version))
		return "the agent knows the frames of Ruby 3.1 to 4.0";
	if (!has_all_functions())
		return "this Ruby does not export rb_profile_frames and what belongs to it";
	if (!find_jobs())
		return "this Ruby does not show rb_postponed_job_flush, and without it a line would get what others allocate";
	if (!ruby_names_learn())
		return "the strings of this Ruby have a form that is not known";
	if (nativestack_is_known() && ruby.rb_module_new && ruby.rb_singleton_class &&
	    ruby.rb_define_singleton_method && ruby.rb_block_call && ruby.rb_funcall_with_block && ruby.rb_id2sym)
		learn_functions();
	return NULL;
}

bool ruby_interpreter_has(const void *address)
{
	size_t n = atomic_load_explicit(&kept_count, memory_order_acquire);
	for (size_t i = 0; i < n; i++)
		if (code_range_has(&functions[i], (uintptr_t)address - 1))
			return true;
	return false;
}

bool ruby_interpreter_runs_jobs(const void *address)
{
	return code_range_has(&jobs, (uintptr_t)address - 1);
}

size_t ruby_interpreter_functions(const struct code_range **learned)
{
	*learned = functions;
	return atomic_load(&kept_count);
}
