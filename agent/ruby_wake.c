#include "ruby_wake.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef uintptr_t VALUE;
typedef VALUE block_fn(VALUE yielded, VALUE data, int argc, const VALUE *argv, VALUE block);

extern void ruby_init(void) __attribute__((weak));
extern VALUE rb_path2class(const char *path) __attribute__((weak));
extern uintptr_t rb_intern(const char *name) __attribute__((weak));
extern VALUE rb_funcall(VALUE object, uintptr_t method, int argc, ...) __attribute__((weak));
extern VALUE rb_proc_new(block_fn *block, VALUE data) __attribute__((weak));

static atomic_int wake_signal;
static void (*woken)(void);

static VALUE on_trap(VALUE yielded, VALUE data, int argc, const VALUE *argv, VALUE block)
{
	(void)data, (void)argc, (void)argv, (void)block;
	woken();
	return yielded;
}

/* From the end, for programs count from SIGRTMIN. */
static int unused_signal(void)
{
	struct sigaction now;
	for (int signo = SIGRTMAX; signo > SIGRTMIN; signo--)
		if (sigaction(signo, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
			return signo;
	return 0;
}

void ruby_wake_prepare(void (*then)(void))
{
	int signo = unused_signal();
	if (!signo || !rb_path2class || !rb_intern || !rb_funcall || !rb_proc_new)
		return;
	woken = then;
	VALUE number = (VALUE)signo << 1 | 1, block = rb_proc_new(on_trap, 0);
	rb_funcall(rb_path2class("Signal"), rb_intern("trap"), 2, number, block);
	atomic_store(&wake_signal, signo);
}

static bool ruby_handles(int signo)
{
	struct sigaction now;
	Dl_info of_handler, of_ruby;
	return sigaction(signo, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN &&
	       dladdr((void *)(uintptr_t)now.sa_handler, &of_handler) &&
	       dladdr((void *)(uintptr_t)ruby_init, &of_ruby) && of_handler.dli_fbase == of_ruby.dli_fbase;
}

void ruby_wake(void)
{
	int signo = atomic_load(&wake_signal);
	sigset_t one, old;
	if (!signo || !ruby_handles(signo))
		return;
	sigemptyset(&one);
	sigaddset(&one, signo);
	pthread_sigmask(SIG_UNBLOCK, &one, &old);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
