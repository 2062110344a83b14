#include "ruby/ruby_last.h"

#include <string.h>

#include "ruby/stacktree.h"

enum { THREADS = 8, KEYS = 3 };

static struct ruby_last lasts[THREADS];
static uintptr_t keys[KEYS]; /* 0: they are not known */
static VALUE state, marking; /* likewise */

void ruby_last_learn(void)
{
	static const char names[KEYS][24] = { "count", "total_moved_objects", "compact_count" };
	uintptr_t symbols[KEYS];
	if (!ruby.rb_gc_stat || !ruby.rb_gc_latest_gc_info || !ruby.rb_id2sym || !ruby.rb_intern)
		return;
	for (int i = 0; i < KEYS; i++) {
		symbols[i] = ruby.rb_id2sym(ruby.rb_intern(names[i]));
		ruby.rb_gc_stat(symbols[i]);
	}
	state = ruby.rb_id2sym(ruby.rb_intern("state"));
	marking = ruby.rb_id2sym(ruby.rb_intern("marking"));
	ruby.rb_gc_latest_gc_info(state);
	memcpy(keys, symbols, sizeof keys);
}

/* May Ruby have freed or moved something since? Keeps how it is now. */
static bool may_have_changed(struct ruby_last *last)
{
	size_t changes[KEYS];
	for (int i = 0; i < KEYS; i++)
		changes[i] = keys[i] ? ruby.rb_gc_stat(keys[i]) : 0;
	bool may = !keys[0] || last->was_marking || memcmp(last->changes, changes, sizeof changes) != 0;
	last->was_marking = keys[0] && ruby.rb_gc_latest_gc_info(state) == marking;
	memcpy(last->changes, changes, sizeof changes);
	return may;
}

/* Are its nodes those of this thread, in the tree as it is? Keeps whose they will be. */
static bool is_of_here(struct ruby_last *last)
{
	uint32_t generation = stacktree_generation();
	bool is = pthread_equal(last->thread, pthread_self()) && last->generation == generation;
	last->thread = pthread_self();
	last->generation = generation;
	return is;
}

/* Where frames are left out, those behind are at the same place in a stack of the same depth alone. */
struct ruby_last *ruby_last_here(int count)
{
	uint64_t thread = (uint64_t)pthread_self();
	struct ruby_last *last = &lasts[(thread >> 12 ^ thread >> 20) % THREADS];
	bool cut = count > RUBY_KEPT || last->count > RUBY_KEPT;
	last->in_doubt = may_have_changed(last);
	if (!is_of_here(last))
		last->used = 0;
	else if (cut && count != last->count && last->used > RUBY_OUTER)
		last->used = RUBY_OUTER;
	last->count = count;
	return last;
}
