/* When the frames of a thread's last stack may be other ones by now: agent/ruby/ruby_last.c beside a Ruby made here. A
 * method that is in use when it is sampled may be freed, and its place given away, by the collection that was marking
 * just then: no count of Ruby's changes between the two. */
#include "ruby/ruby_last.h"

#include <stdio.h>
#include <string.h>

enum { NIL = 8, STACK = 20 };

struct ruby_api ruby;

static struct {
	size_t collections, moved, compactions;
	bool marks;
	uint32_t generation;
} made_ruby = { .collections = 7, .generation = 1 };

static int failures;

uint32_t stacktree_generation(void)
{
	return made_ruby.generation;
}

/* Symbols and names are the same numbers here: the first letter, and the length. */
static uintptr_t made_intern(const char *name)
{
	return (uintptr_t)*name << 8 | strlen(name);
}

static VALUE made_symbol(uintptr_t id)
{
	return id;
}

static size_t made_stat(VALUE key)
{
	return key == made_intern("count")                 ? made_ruby.collections
	       : key == made_intern("total_moved_objects") ? made_ruby.moved
	       : key == made_intern("compact_count")       ? made_ruby.compactions
	                                                   : 0;
}

static VALUE made_info(VALUE key)
{
	return key == made_intern("state") && made_ruby.marks ? made_intern("marking") : NIL;
}

static void sampled(const char *when, bool wanted)
{
	bool in_doubt = ruby_last_here(STACK)->in_doubt;
	if (in_doubt == wanted)
		return;
	printf("FAIL: %s: frames are %s doubt\n", when, in_doubt ? "in" : "beyond");
	failures++;
}

int main(void)
{
	sampled("Ruby says nothing of its collections", true);
	sampled("and goes on saying nothing", true);
	ruby.rb_intern = made_intern;
	ruby.rb_id2sym = made_symbol;
	ruby.rb_gc_stat = made_stat;
	ruby.rb_gc_latest_gc_info = made_info;
	ruby_last_learn();
	sampled("the first time", true);
	sampled("nothing was collected", false);
	made_ruby.collections++;
	sampled("a collection ran between", true);
	sampled("none since", false);
	made_ruby.collections++;
	made_ruby.marks = true;
	sampled("a collection began, and marks", true);
	sampled("it still marks: a step between may have freed nothing, but says nothing", true);
	made_ruby.marks = false;
	sampled("it marked when the last one was taken, and may have freed that since", true);
	sampled("it was over when the last one was taken", false);
	made_ruby.moved++;
	sampled("objects were moved", true);
	made_ruby.compactions++;
	sampled("and compacted", true);
	sampled("nothing since", false);
	ruby_last_here(STACK)->used = 3;
	made_ruby.generation++;
	int used = ruby_last_here(STACK)->used;
	printf("%sof an older tree %d nodes are used\n", used ? "FAIL: " : "", used);
	return failures || used;
}
