/* A Ruby extension: `sample_in_gc` collects garbage while allocations are sampled, and only then. Returns how many
 * samples were taken inside the collection. To be started with prof_active:false. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uintptr_t VALUE;
typedef void backtrace_fn(void **frames, unsigned *len, unsigned max);

extern int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);
extern void rb_define_global_function(const char *name, VALUE (*function)(VALUE self), int argc);
extern VALUE rb_gc_start(void);
extern int rb_during_gc(void);
extern int ruby_thread_has_gvl_p(void);

static backtrace_fn *take_backtrace;
static unsigned inside;

static void count(void **frames, unsigned *len, unsigned max)
{
	take_backtrace(frames, len, max);
	inside += ruby_thread_has_gvl_p() && rb_during_gc();
}

static VALUE sample_in_gc(VALUE self)
{
	size_t len = sizeof take_backtrace;
	backtrace_fn *hook = count;
	bool on = true, off = false;
	(void)self;
	if (mallctl("experimental.hooks.prof_backtrace", &take_backtrace, &len, &hook, sizeof hook) != 0)
		return 1; /* 0 as a Ruby number */
	mallctl("prof.active", NULL, NULL, &on, sizeof on);
	rb_gc_start();
	mallctl("prof.active", NULL, NULL, &off, sizeof off);
	return (VALUE)inside << 1 | 1;
}

void Init_in_gc(void)
{
	rb_define_global_function("sample_in_gc", sample_in_gc, 0);
}
