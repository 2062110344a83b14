#include "ruby_wake.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ruby_api.h"

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
	if (!signo || !ruby.rb_path2class || !ruby.rb_intern || !ruby.rb_funcall || !ruby.rb_proc_new)
		return;
	woken = then;
	VALUE number = (VALUE)signo << 1 | 1, block = ruby.rb_proc_new(on_trap, 0);
	ruby.rb_funcall(ruby.rb_path2class("Signal"), ruby.rb_intern("trap"), 2, number, block);
	atomic_store(&wake_signal, signo);
}

static bool ruby_handles(int signo)
{
	struct sigaction now;
	return sigaction(signo, NULL, &now) == 0 && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN &&
	       ruby_api_has((void *)(uintptr_t)now.sa_handler);
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
