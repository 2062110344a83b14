#include "ruby_last.h"

#include <stdbool.h>
#include <string.h>

#include "stacktree.h"

enum { THREADS = 8, KEYS = 3 };

static struct ruby_last lasts[THREADS];
static uintptr_t keys[KEYS]; /* 0: they are not known */

void ruby_last_learn(void)
{
	static const char names[KEYS][24] = { "total_freed_objects", "total_moved_objects", "compact_count" };
	uintptr_t symbols[KEYS];
	if (!ruby.rb_gc_stat || !ruby.rb_id2sym || !ruby.rb_intern)
		return;
	for (int i = 0; i < KEYS; i++) {
		symbols[i] = ruby.rb_id2sym(ruby.rb_intern(names[i]));
		ruby.rb_gc_stat(symbols[i]);
	}
	memcpy(keys, symbols, sizeof keys);
}

/* Has anything changed since? Keeps how it is now. */
static bool is_as_it_was(struct ruby_last *last)
{
	size_t changes[KEYS];
	uint32_t generation = stacktree_generation();
	for (int i = 0; i < KEYS; i++)
		changes[i] = keys[i] ? ruby.rb_gc_stat(keys[i]) : 0;
	bool is = keys[0] && pthread_equal(last->thread, pthread_self()) && last->generation == generation &&
	          memcmp(last->changes, changes, sizeof changes) == 0;
	last->thread = pthread_self();
	last->generation = generation;
	memcpy(last->changes, changes, sizeof changes);
	return is;
}

/* Where frames are left out, those behind are at the same place in a stack of the same depth alone. */
struct ruby_last *ruby_last_here(int count)
{
	uint64_t thread = (uint64_t)pthread_self();
	struct ruby_last *last = &lasts[(thread >> 12 ^ thread >> 20) % THREADS];
	bool cut = count > RUBY_KEPT || last->count > RUBY_KEPT;
	if (!is_as_it_was(last))
		last->used = 0;
	else if (cut && count != last->count && last->used > RUBY_OUTER)
		last->used = RUBY_OUTER;
	last->count = count;
	return last;
}
