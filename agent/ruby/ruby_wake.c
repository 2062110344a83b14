#include "ruby/ruby_wake.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ruby/ruby_api.h"

static atomic_int prepared; /* 0: any signal that is free does */
static void (*woken)(void);

static VALUE on_trap(VALUE yielded, VALUE data, int argc, const VALUE *argv, VALUE block)
{
	(void)data, (void)argc, (void)argv, (void)block;
	woken();
	return yielded;
}

static bool is_free(int signo)
{
	struct sigaction now;
	return sigaction(signo, NULL, &now) == 0 && now.sa_handler == SIG_DFL;
}

/* From the end, for programs count from SIGRTMIN. */
static int free_signal(void)
{
	for (int signo = SIGRTMAX; signo > SIGRTMIN; signo--)
		if (is_free(signo))
			return signo;
	return 0;
}

void ruby_wake_prepare(void (*then)(void))
{
	int signo = free_signal();
	if (!signo || !ruby.rb_path2class || !ruby.rb_intern || !ruby.rb_funcall || !ruby.rb_proc_new)
		return;
	woken = then;
	VALUE number = (VALUE)signo << 1 | 1, block = ruby.rb_proc_new(on_trap, 0);
	ruby.rb_funcall(ruby.rb_path2class("Signal"), ruby.rb_intern("trap"), 2, number, block);
	signal(signo, SIG_DFL);
	atomic_store(&prepared, signo);
}

static bool is_rubys(const struct sigaction *action)
{
	return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN &&
	       ruby_api_has((void *)(uintptr_t)action->sa_handler);
}

/* These have either Ruby's one handler, whatever is trapped, or none of Ruby's. */
static bool find_handler(struct sigaction *action)
{
	static const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR1 };
	for (size_t i = 0; i < sizeof handled / sizeof *handled; i++)
		if (sigaction(handled[i], NULL, action) == 0 && is_rubys(action))
			return true;
	return false;
}

static void raise_here(int signo)
{
	sigset_t one, old;
	sigemptyset(&one);
	sigaddset(&one, signo);
	pthread_sigmask(SIG_UNBLOCK, &one, &old);
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signo);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void ruby_wake(void)
{
	struct sigaction handler, none;
	int signo = atomic_load(&prepared);
	if (!signo)
		signo = free_signal();
	if (!signo || !find_handler(&handler) || sigaction(signo, &handler, &none) != 0)
		return;
	if (none.sa_handler == SIG_DFL)
		raise_here(signo);
	sigaction(signo, &none, NULL);
}
