#include "ruby/ruby.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "ruby/graphchild.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_interpreter.h"
#include "ruby/ruby_job.h"
#include "ruby/ruby_stacks.h"
#include "ruby/ruby_tags.h"
#include "ruby/ruby_vm.h"
#include "ruby/slots.h"
#include "ruby/stacktree.h"
#include "self.h"
#include "textbuf.h"

/* What is awake comes to it by itself in the first of these; each further one interrupts, for a collection. Nothing
 * is interrupted for GC.stat alone, which is waited for no longer than ASIDE_MS; where a VM was just found asleep,
 * for less, so that a burst of signals is a burst of dumps. Finalizers are waited for as long as FINALIZERS_MS. */
enum {
	FIRST_STEP_MS = 15,
	LAST_STEP_MS = 480,
	ASIDE_MS = 100,
	ASLEEP_MS = 2,
	ASLEEP_FOR_MS = 1000,
	FINALIZERS_MS = 2000
};

static pthread_mutex_t lock;
static pthread_cond_t answered;
static bool pending; /* an answer is waited for; this and what follows is the lock's */
static bool stopped;
static bool want_gc, want_objects;
static unsigned request_number; /* the number of the request that is waited for */
static struct ruby_answer got;
static atomic_bool working; /* a Ruby thread is at it; what follows is its own */
static struct ruby_answer making;
static uint64_t asleep_until; /* by self_clock(): a VM that did not answer is not waited for again so soon */

bool ruby_present(void)
{
	return ruby_api_present();
}

const char *ruby_version_text(void)
{
	return ruby_present() ? ruby.ruby_version : NULL;
}

static int add_stat(VALUE key, VALUE value, VALUE unused)
{
	(void)unused;
	if (making.count < RUBY_STATS) {
		const char *name = ruby.rb_id2name(ruby.rb_sym2id(key));
		strncpy(making.stats[making.count].key, name ? name : "", RUBY_KEY - 1);
		making.stats[making.count].value = ruby.rb_num2ull(value);
		making.count++;
	}
	return 0; /* ST_CONTINUE */
}

static void read_stats(void)
{
	VALUE hash = ruby.rb_hash_new();
	making.count = 0;
	ruby.rb_gc_stat(hash);
	ruby.rb_hash_foreach(hash, add_stat, 0);
}

/* The number of the request that is waited for; 0: there is none. */
static unsigned pending_request(bool *gc, bool *objects)
{
	pthread_mutex_lock(&lock);
	unsigned request = pending ? request_number : 0;
	*gc = want_gc;
	*objects = want_objects;
	pthread_mutex_unlock(&lock);
	return request;
}

/* An answer that comes too late is not that of the next request. */
static void give(unsigned request)
{
	pthread_mutex_lock(&lock);
	if (pending && request == request_number) {
		got = making;
		pending = false;
		pthread_cond_signal(&answered);
	}
	pthread_mutex_unlock(&lock);
}

/* On a Ruby thread. If it raises, nothing is given, and the next request starts anew. */
static void work(void)
{
	bool gc, objects;
	if (!ruby_stacks_learn())
		ruby_job_again();
	else
		ruby_tags_learn(ruby_job_here), slots_learn();
	ruby_tags_read();
	slots_prune();
	unsigned request = pending_request(&gc, &objects);
	if (!request || atomic_exchange(&working, true))
		return;
	if (gc)
		ruby.rb_gc_start();
	memset(&making, 0, sizeof making);
	read_stats();
	making.slots = slots_stock(&making.slots_why);
	if (objects) {
		ruby_objects_count(&making.objects);
		graphchild_start();
	}
	give(request);
	atomic_store(&working, false);
}

static void set_up_lock(void)
{
	pthread_condattr_t attr;
	pthread_mutex_init(&lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&answered, &attr);
	pthread_condattr_destroy(&attr);
	pending = false;
}

void ruby_start(void (*at_end)(void))
{
	if (ruby_present()) {
		ruby_api_load();
		ruby_vm_find();
	}
	set_up_lock();
	ruby_job_init(work, at_end);
	if (ruby_present() && ruby_job_refusal())
		ruby_stacks_refuse(ruby_job_refusal());
}

bool ruby_forked(void (*start)(void))
{
	set_up_lock();
	atomic_store(&working, false);
	return ruby_present() && ruby_job_forked(start);
}

static void sleep_until(uint64_t ms)
{
	struct timespec end = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };
	pthread_cond_timedwait(&answered, &lock, &end);
}

static void get_ready(bool gc, bool objects)
{
	pthread_mutex_lock(&lock);
	atomic_store(&working, false);
	want_gc = gc;
	want_objects = objects;
	pending = !stopped;
	request_number += request_number == UINT_MAX ? 2 : 1; /* 0 is none */
	memset(&got, 0, sizeof got);
	pthread_mutex_unlock(&lock);
}

/* Returns whether the VM can be asked at all. The lock is held on return. */
static bool wait_for_answer(bool gc, uint64_t end)
{
	bool can = ruby_job_request(gc ? RUBY_JOB_ASK : RUBY_JOB_ASIDE);
	pthread_mutex_lock(&lock);
	for (unsigned step = FIRST_STEP_MS; can && pending && !stopped; step = step < LAST_STEP_MS ? 2 * step : step) {
		uint64_t now = self_clock();
		if (now >= end)
			break;
		sleep_until(now + step < end ? now + step : end);
		if (!pending)
			break;
		pthread_mutex_unlock(&lock);
		can = ruby_job_request(gc ? RUBY_JOB_WAKE : RUBY_JOB_ASIDE);
		pthread_mutex_lock(&lock);
	}
	return can;
}

static bool has_functions(void)
{
	return ruby.rb_gc_start && ruby.rb_gc_stat && ruby.rb_hash_new && ruby.rb_hash_foreach && ruby.rb_sym2id &&
	       ruby.rb_id2name && ruby.rb_num2ull;
}

/* One request; whether it was answered, and whether the VM can be asked at all. */
static bool ask_vm_once(bool gc, bool objects, bool wakes, uint64_t end, struct ruby_answer *answer, bool *can)
{
	get_ready(gc, objects);
	*can = wait_for_answer(wakes, end);
	bool done = got.count > 0;
	if (done)
		*answer = got;
	pending = false;
	pthread_mutex_unlock(&lock);
	return done;
}

/* Extensions' objects that do not free their memory at once (documents of Nokogiri) are freed by a job that the
 * collection leaves to the thread that ran it, right after ours. What is asked for a moment later comes after that,
 * and replaces the first answer as a whole: GC.stat and the objects are of one moment, the one next to the dump. Where
 * the thread does not come to it in time (false), the first answer's GC.stat stays, and there are no objects. */
static bool ask_after_finalizers(bool objects, uint64_t end, struct ruby_answer *answer)
{
	bool can;
	uint64_t now = self_clock(), soon = now + FINALIZERS_MS;
	pthread_mutex_lock(&lock);
	if (!stopped)
		sleep_until(now + FIRST_STEP_MS);
	pthread_mutex_unlock(&lock);
	return ask_vm_once(false, objects, true, objects || end < soon ? end : soon, answer, &can);
}

static void ask_vm(bool gc, bool objects, unsigned timeout, struct ruby_answer *answer)
{
	uint64_t end = self_clock() + timeout;
	bool can, done = ask_vm_once(gc, objects && !gc, gc || objects, end, answer, &can);
	bool late = done && gc && !ask_after_finalizers(objects, end, answer) && objects;
	if (!gc && !objects && timeout >= ASIDE_MS)
		asleep_until = done ? 0 : self_clock() + ASLEEP_FOR_MS;
	ruby_job_settle();
	answer->gc = !gc ? "not asked" : done ? "done" : can ? "timed out" : "not possible";
	answer->why = late ? "the objects were not counted: no Ruby thread came to it in the time that the collection "
	                     "left; raise timeout"
	                   : NULL;
	if (!done)
		answer->why =
		    can ? "no Ruby thread came to it in time: the VM sleeps, or is long in a C function"
			: "this Ruby cannot be asked: it is ending, or its version, its machine code or jemalloc's version is not known";
}

/* The agent's thread alone asks. */
static unsigned patience(void)
{
	return self_clock() < asleep_until ? ASLEEP_MS : ASIDE_MS;
}

void ruby_ask(bool gc, bool objects, unsigned timeout, struct ruby_answer *answer)
{
	unsigned aside = patience();
	memset(answer, 0, sizeof *answer);
	answer->gc = !gc ? "not asked" : !ruby_present() ? "no ruby" : "not possible";
	answer->why = "not asked";
	if (ruby_present() && has_functions() && timeout > 0)
		ask_vm(gc, objects, gc || objects || timeout < aside ? timeout : aside, answer);
}

void ruby_stop(void)
{
	pthread_mutex_lock(&lock);
	stopped = true;
	pthread_cond_signal(&answered);
	pthread_mutex_unlock(&lock);
}

static void stats_json(const struct ruby_answer *answer, struct textbuf *text)
{
	if (!answer->count) {
		textbuf_str(text, "null");
		return;
	}
	for (int i = 0; i < answer->count; i++) {
		textbuf_str(text, i ? "," : "{");
		textbuf_json(text, answer->stats[i].key);
		textbuf_printf(text, ":%llu", answer->stats[i].value);
	}
	textbuf_str(text, "}");
}

static void interpreter_json(struct textbuf *text)
{
	const struct code_range *functions;
	size_t count = ruby_interpreter_functions(&functions);
	textbuf_str(text, ",\"object\":");
	textbuf_json(text, count ? ruby_api_path() : NULL);
	textbuf_str(text, ",\"interpreter\":[");
	for (size_t i = 0; i < count; i++)
		textbuf_printf(text, "%s[\"0x%llx\",%llu]", i ? "," : "",
		               (unsigned long long)(functions[i].begin - (uintptr_t)ruby_api_image()),
		               (unsigned long long)(functions[i].end - functions[i].begin));
	textbuf_str(text, "]");
}

void ruby_json(const struct ruby_answer *answer, struct textbuf *text)
{
	if (!ruby_present()) {
		textbuf_str(text, "null");
		return;
	}
	textbuf_str(text, "{\"version\":");
	textbuf_json(text, ruby_version_text());
	textbuf_str(text, ",\"gc\":");
	textbuf_json(text, answer->gc);
	textbuf_str(text, ",\"gc_stat\":");
	stats_json(answer, text);
	textbuf_str(text, ",\"objects\":");
	ruby_objects_json(&answer->objects, text);
	textbuf_str(text, ",\"why\":");
	textbuf_json(text, answer->why);
	textbuf_printf(text, ",\"stacks\":%s,\"stacks_why\":", ruby_stacks_refusal() ? "false" : "true");
	textbuf_json(text, ruby_stacks_refusal());
	textbuf_printf(text, ",\"tables\":%zu,\"slots\":", stacktree_resident());
	slots_json(answer->slots, answer->slots_why, text);
	interpreter_json(text);
	textbuf_str(text, "}");
}
