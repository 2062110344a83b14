/* Which functions the agent learns to be the interpreter's: agent/ruby/ruby_interpreter.c beside a Ruby made here,
 * whose stacks are those that gdb showed of Rubies that were built in several ways. */
#include "ruby/ruby_interpreter.h"

#include <stdio.h>
#include <string.h>

#include "nativestack.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_names.h"

enum { PATH_MOST = 16, CODE = 0x100, FIRST = 0x10000, OBJECT = 0x9000 };

struct ruby_api ruby;

/* Ruby's functions, innermost first, by their names; a stack ends with NULL. */
struct made_stacks {
	const char *what;
	const char *from_c[PATH_MOST], *yielded[PATH_MOST], *method[PATH_MOST];
	const char *wanted;
};

static const struct made_stacks *made;
static const char *const *stack_now;
static const char *made_names[64];
static int failures;

/* Each name has a function of its own. */
static uintptr_t made_function(const char *name)
{
	size_t i = 0;
	while (made_names[i] && strcmp(made_names[i], name) != 0)
		i++;
	made_names[i] = name;
	return FIRST + i * CODE;
}

bool code_range_find(const void *image, uintptr_t address, struct code_range *range)
{
	(void)image;
	range->begin = address / CODE * CODE;
	range->end = range->begin + CODE;
	return true;
}

const void *ruby_api_image(void)
{
	return NULL;
}

bool ruby_api_has(const void *address)
{
	return (uintptr_t)address >= FIRST;
}

bool nativestack_is_known(void)
{
	return true;
}

unsigned nativestack_all(void **frames, unsigned max)
{
	unsigned n = 0;
	for (; n < max && stack_now[n]; n++)
		frames[n] = (void *)(made_function(stack_now[n]) + CODE / 2);
	return n;
}

bool ruby_names_learn(void)
{
	return true;
}

void ruby_names_learn_method(VALUE frame, VALUE class, uintptr_t id)
{
	(void)frame, (void)class, (void)id;
}

static VALUE (*own_method)(VALUE);

static void made_define(VALUE object, const char *name, VALUE (*run)(VALUE), int argc)
{
	(void)object, (void)name, (void)argc;
	own_method = run;
}

static VALUE made_funcall(VALUE object, uintptr_t id, int argc, ...)
{
	(void)id, (void)argc;
	stack_now = made->from_c;
	return object == OBJECT ? own_method(object) : OBJECT + 1;
}

static VALUE made_with_block(VALUE object, uintptr_t id, int argc, const VALUE *argv, VALUE block)
{
	(void)id, (void)argc, (void)argv, (void)block;
	stack_now = made->method;
	return own_method(object);
}

static VALUE made_block_call(VALUE object, uintptr_t id, int argc, const VALUE *argv, block_fn *block, VALUE data)
{
	(void)id;
	stack_now = made->yielded;
	return block(object, data, argc, argv, 0);
}

static int made_frames(int start, int limit, VALUE *frames, int *lines)
{
	(void)start, (void)lines;
	for (int i = 0; i < limit; i++)
		frames[i] = OBJECT + 8;
	return limit;
}

static VALUE made_path(VALUE frame)
{
	return frame;
}

static VALUE made_object(void)
{
	return OBJECT;
}

static VALUE made_string(const char *bytes, long len)
{
	(void)bytes, (void)len;
	return 0;
}

static uintptr_t made_intern(const char *name)
{
	return strlen(name);
}

static VALUE made_symbol(uintptr_t id)
{
	return id;
}

static VALUE made_protect(VALUE (*run)(VALUE), VALUE data, int *state)
{
	*state = 0;
	return run(data);
}

static void made_flush(void *vm)
{
	(void)vm;
}

static void make_ruby(void)
{
	ruby.ruby_version = "3.2.11";
	ruby.rb_profile_frames = made_frames;
	ruby.rb_profile_frame_path = ruby.rb_profile_frame_label = ruby.rb_profile_frame_method_name = made_path;
	ruby.rb_str_new = made_string;
	ruby.rb_intern = made_intern;
	ruby.rb_id2sym = made_symbol;
	ruby.rb_funcall = made_funcall;
	ruby.rb_funcall_with_block = made_with_block;
	ruby.rb_block_call = made_block_call;
	ruby.rb_module_new = made_object;
	ruby.rb_singleton_class = made_path;
	ruby.rb_define_singleton_method = made_define;
	ruby.rb_protect = made_protect;
	ruby.rb_postponed_job_flush = made_flush;
}

static void learns(const struct made_stacks *stacks)
{
	const struct code_range *learned;
	char got[256] = "";
	made = stacks;
	memset(made_names, 0, sizeof made_names);
	ruby_interpreter_learn();
	size_t n = ruby_interpreter_functions(&learned);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(got);
		snprintf(got + len, sizeof got - len, "%s%s", i ? " " : "",
		         made_names[(learned[i].begin - FIRST) / CODE]);
	}
	if (strcmp(got, stacks->wanted) != 0) {
		printf("FAIL: %s: learned \"%s\", not \"%s\"\n", stacks->what, got, stacks->wanted);
		failures++;
	}
}

int main(void)
{
	static const struct made_stacks all[] = {
		{ "3.1, -O2",
		  { "vm_call0_body", "rb_funcallv", "rb_funcall" },
		  { "vm_yield_with_cfunc", "vm_invokeblock_i", "vm_sendish", "vm_exec_core", "rb_vm_exec",
		    "vm_call0_body" },
		  { "vm_call_cfunc_with_frame", "vm_call_symbol", "vm_sendish", "vm_exec_core", "rb_vm_exec",
		    "vm_call0_body" },
		  "vm_call_cfunc_with_frame vm_sendish vm_exec_core rb_vm_exec" },
		{ "3.2, -O1, where what calls the function stays on the stack",
		  { "ractor_safe_call_cfunc_0", "vm_call0_body", "rb_funcallv", "rb_funcall" },
		  { "vm_yield_with_cfunc", "vm_invoke_ifunc_block", "vm_invokeblock_i", "vm_exec_core", "rb_vm_exec",
		    "vm_call0_body", "rb_call0" },
		  { "ractor_safe_call_cfunc_0", "vm_call_cfunc_with_frame", "vm_call_cfunc", "vm_call_method_each_type",
		    "vm_call_symbol", "vm_invoke_symbol_block", "vm_invoke_proc_block", "vm_invokeblock_i",
		    "vm_exec_core", "rb_vm_exec", "vm_call0_body", "rb_funcallv_public" },
		  "vm_call_cfunc_with_frame vm_invokeblock_i vm_exec_core rb_vm_exec" },
		{ "a Ruby that calls both in the same way: nothing tells its interpreter",
		  { "ractor_safe_call_cfunc_0", "vm_call0_body", "rb_funcall" },
		  { "vm_yield_with_cfunc", "vm_call0_body", "rb_funcall" },
		  { "ractor_safe_call_cfunc_0", "vm_call0_body", "rb_funcall" },
		  "" },
		{ "no stacks", { NULL }, { NULL }, { NULL }, "" },
	};
	make_ruby();
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		learns(&all[i]);
	return failures != 0;
}
