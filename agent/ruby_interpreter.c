#include "ruby_interpreter.h"

#include <stdatomic.h>

#include "nativestack.h"
#include "ruby_api.h"
#include "ruby_names.h"

enum { DEPTH = 48, FUNCTIONS = 8 };

/* The functions between an own method and who called it, one way. */
struct path {
	struct code_range functions[DEPTH];
	size_t count;
};

static struct code_range functions[FUNCTIONS];
static atomic_size_t kept_count;
static struct code_range jobs;
static struct path *walked;
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

/* Ruby calls it as a method. What comes again belongs to another call from Ruby. */
static VALUE on_called(VALUE self)
{
	void *frames[DEPTH];
	VALUE frame = 0;
	int line;
	unsigned depth = nativestack_all(frames, DEPTH);
	walked->count = 0;
	for (unsigned i = 0; i < depth && ruby_api_has(frames[i]); i++) {
		struct code_range function = function_of(frames[i]);
		if (is_in(walked, &function))
			break;
		walked->functions[walked->count++] = function;
	}
	if (ruby.rb_profile_frames(0, 1, &frame, &line) == 1)
		ruby_names_learn_method(frame, ruby.rb_singleton_class(self), own_id);
	return self;
}

/* What both ways have in common, from the innermost on. */
static void keep_common(const struct path *a, const struct path *b)
{
	size_t kept = 0;
	for (size_t i = 0; i < a->count && kept < FUNCTIONS; i++) {
		if (!a->functions[i].begin || !is_in(b, &a->functions[i]))
			break;
		functions[kept++] = a->functions[i];
	}
	atomic_store(&kept_count, kept);
}

/* By a method of an object that nobody else has, called within a block, and within another's code. */
static void learn_functions(void)
{
	static struct path by_call, by_eval;
	static const char name[] = "jprof_agent";
	own_id = ruby.rb_intern(name);
	volatile VALUE object = ruby.rb_module_new();
	ruby.rb_define_singleton_method(object, name, on_called, 0);
	volatile VALUE block = ruby.rb_eval_string("proc { |agent| agent.jprof_agent }");
	volatile VALUE eval = ruby.rb_eval_string("proc { |agent| agent.instance_eval { jprof_agent } }");
	walked = &by_call;
	ruby.rb_funcall(block, ruby.rb_intern("call"), 1, object);
	walked = &by_eval;
	ruby.rb_funcall(eval, ruby.rb_intern("call"), 1, object);
	keep_common(&by_call, &by_eval);
}

static bool has_all_functions(void)
{
	return ruby.rb_profile_frames && ruby.rb_profile_frame_path && ruby.rb_profile_frame_label &&
	       ruby.rb_profile_frame_method_name && ruby.rb_str_new && ruby.rb_intern && ruby.rb_funcall;
}

const char *ruby_interpreter_learn(void)
{
	if (!has_all_functions())
		return "this Ruby does not export rb_profile_frames and what belongs to it";
	if (!ruby_names_learn())
		return "the strings of this Ruby have a form that is not known";
	if (ruby.rb_postponed_job_flush)
		code_range_find(ruby_api_image(), (uintptr_t)ruby.rb_postponed_job_flush, &jobs);
	if (nativestack_is_known() && ruby.rb_module_new && ruby.rb_singleton_class &&
	    ruby.rb_define_singleton_method && ruby.rb_eval_string)
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
