#include "ruby/ruby_job.h"

#include <stdatomic.h>
#include <stddef.h>

#include "handle.h"
#include "jemalloc.h"
#include "nativestack.h"
#include "ruby/newobj.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_vm.h"
#include "ruby/ruby_wake.h"
#include "ruby/sample.h"
#include "wake.h"

static void (*do_work)(void);
static void (*do_at_end)(void);
static void (*do_start)(void); /* in a forked child, until it was done */
static atomic_bool wanted;     /* a job, from the next allocation of a thread that may register it */
static atomic_bool again;      /* the last job was too early */
static atomic_bool contacted;  /* a job has run */
static atomic_bool ending;     /* at_exit blocks run: the VM may be gone soon, or serve for hours */
static atomic_bool over;
static atomic_uint job_handle; /* of preregister */
static void *hook;
static bool sampled; /* the hook of sampled allocations is there */

static void on_end_proc(VALUE unused)
{
	(void)unused;
	atomic_store(&ending, true);
	ruby_vm_ends();
}

static void on_vm_exit(void *vm)
{
	(void)vm;
	atomic_store(&over, true);
	ruby_vm_ends();
	do_at_end();
}

static bool can_trigger(void)
{
	return ruby.rb_postponed_job_preregister && ruby.rb_postponed_job_trigger;
}

static VALUE protected_work(VALUE unused);

static void start_once(void)
{
	void (*start)(void) = do_start;
	do_start = NULL;
	if (!start)
		return;
	atomic_store(&wanted, false);
	start();
}

static void job(void *unused)
{
	int state = 0;
	(void)unused;
	start_once();
	VALUE error = ruby.rb_errinfo();
	newobj_pause(true);
	ruby.rb_protect(protected_work, 0, &state);
	newobj_pause(false);
	if (state)
		ruby.rb_set_errinfo(error);
}

/* On a thread that holds the GVL; as free as a signal handler. */
static bool register_here(void)
{
	if (!can_trigger())
		return ruby.rb_postponed_job_register_one(0, job, NULL) != 0;
	unsigned handle = ruby.rb_postponed_job_preregister(0, job, NULL);
	if (handle == ~0u)
		return false;
	atomic_store(&job_handle, handle);
	ruby.rb_postponed_job_trigger(handle);
	return true;
}

static void on_woken(void)
{
	register_here();
}

static VALUE protected_work(VALUE unused)
{
	if (!atomic_exchange(&contacted, true)) {
		ruby.rb_set_end_proc(on_end_proc, 0);
		ruby.ruby_vm_at_exit(on_vm_exit);
		if (!can_trigger())
			ruby_wake_prepare(on_woken);
	}
	do_work();
	return unused;
}

const char *ruby_job_refusal(void)
{
	if (!ruby.ruby_version || !ruby.ruby_thread_has_gvl_p || !ruby.rb_during_gc || !ruby.rb_set_end_proc ||
	    !ruby.ruby_vm_at_exit || !ruby.rb_protect || !ruby.rb_errinfo || !ruby.rb_set_errinfo ||
	    !ruby.rb_cComplex || (!can_trigger() && !ruby.rb_postponed_job_register_one))
		return "this Ruby does not export all functions by which the agent asks it";
	if (!ruby_vm_shows_context())
		return "this Ruby does not show whether a thread still runs in its VM";
	if (!nativestack_is_known())
		return "no library here shows _Unwind_Backtrace: jemalloc is not linked with libgcc_s.so.1";
	if (!ruby_vm_shows_end())
		return "it cannot be seen here whether this Ruby takes its VM down";
	return ruby_vm_known() ? NULL : "the machine code of this Ruby's rb_during_gc has a form that is not known";
}

static bool knows_ruby(void)
{
	return !ruby_job_refusal();
}

/* As free as a signal handler: it may be anywhere in Ruby. */
static void in_allocation(void)
{
	if (!atomic_load(&wanted) || atomic_load(&over) || ruby_vm_is_ending() || !ruby_vm_is_alone() ||
	    (!atomic_load(&contacted) && !ruby_vm_stands()) || !ruby_vm_serves())
		return;
	if (!atomic_exchange(&wanted, false))
		return;
	if (register_here())
		wake();
	else
		atomic_store(&wanted, true);
}

static bool install_hook(void)
{
	atomic_store(&wanted, true);
	handle_lock();
	if (!hook)
		hook = jemalloc_hook(in_allocation);
	handle_unlock();
	return hook != NULL;
}

static void uninstall_hook(void)
{
	atomic_store(&wanted, false);
	handle_lock();
	if (hook)
		jemalloc_unhook(hook);
	hook = NULL;
	if (sampled)
		sample_watch(NULL);
	sampled = false;
	handle_unlock();
}

void ruby_job_init(void (*work)(void), void (*at_end)(void))
{
	do_work = work;
	do_at_end = at_end;
	sampled = knows_ruby();
	atomic_store(&wanted, sampled);
	if (sampled)
		sample_watch(in_allocation);
}

/* The hook is there in case that the job is lost. */
bool ruby_job_forked(void (*start)(void))
{
	do_start = NULL;
	atomic_store(&again, false);
	if (!atomic_load(&contacted) || atomic_load(&ending) || atomic_load(&over) || !ruby_vm_serves() ||
	    !ruby_vm_is_alone() || !register_here())
		return false;
	do_start = start;
	sampled = true;
	atomic_store(&wanted, true);
	sample_watch(in_allocation);
	return true;
}

void ruby_job_here(void)
{
	if (atomic_load(&contacted) && !atomic_load(&ending) && !atomic_load(&over))
		register_here();
}

/* A job is registered by the next sampled allocation. */
static void look_in_samples(void)
{
	atomic_store(&wanted, true);
	handle_lock();
	if (!sampled)
		sample_watch(in_allocation);
	sampled = true;
	handle_unlock();
}

/* On a thread of the program's, which takes no lock of the agent's: a signal's handler that forks there would wait for
 * it for ever. The agent's own thread takes no signals. */
void ruby_job_again(void)
{
	atomic_store(&wanted, true);
	atomic_store(&again, true);
	wake();
}

bool ruby_job_request(enum ruby_job_way way)
{
	if (!knows_ruby() || atomic_load(&over))
		return false;
	bool reached = atomic_load(&contacted) && !atomic_load(&ending), triggers = reached && can_trigger();
	if (triggers)
		ruby.rb_postponed_job_trigger(atomic_load(&job_handle));
	else if (way == RUBY_JOB_ASIDE)
		look_in_samples();
	if (way == RUBY_JOB_ASIDE)
		return true;
	if (!reached)
		return install_hook();
	if (!triggers || way == RUBY_JOB_WAKE)
		ruby_wake();
	return true;
}

/* Without a contact the hook stays for it, if it may come about. */
void ruby_job_settle(void)
{
	if (atomic_load(&contacted) || atomic_load(&over) || !ruby_vm_is_alone())
		uninstall_hook();
}

void ruby_job_tidy(void)
{
	if (atomic_exchange(&again, false))
		look_in_samples();
	if ((hook || sampled) && !atomic_load(&wanted))
		uninstall_hook();
}
