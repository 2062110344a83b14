/* The Ruby in this process, as far as the agent's thread, which is none of Ruby's, may go. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ruby/ruby_objects.h"

struct textbuf;

enum { RUBY_STATS = 64, RUBY_KEY = 48 };

/* What a Ruby thread did for the agent. */
struct ruby_answer {
	const char *gc;  /* "done", "timed out", "no ruby", "not asked", "not possible" */
	const char *why; /* why there is no GC.stat, or no time was left for objects; NULL if there is */
	int count;       /* of GC.stat; 0: there is none */
	struct {
		char key[RUBY_KEY];
		unsigned long long value;
	} stats[RUBY_STATS]; /* GC.stat */
	struct ruby_objects objects;
	uint32_t slots;        /* the stock of slots.h */
	const char *slots_why; /* why there is none */
};

bool ruby_present(void);

/* RUBY_VERSION; NULL where no Ruby is. */
const char *ruby_version_text(void);

/* Once, before all that follows. `at_end` is called when the VM ends, before its memory goes. */
void ruby_start(void (*at_end)(void));

/* Has a Ruby thread run GC.start and GC.stat, and waits for that as long as `timeout` ms. Without `gc` it is GC.stat
 * alone, for at most 100 ms, and only if a thread comes to it by itself. `objects` has the objects counted, too, for
 * which a VM that sleeps is woken, as for `gc`. */
void ruby_ask(bool gc, bool objects, unsigned timeout, struct ruby_answer *answer);

/* Ends the waiting, now and for ever: the process exits. */
void ruby_stop(void);

/* Adds the side-car's "ruby". */
void ruby_json(const struct ruby_answer *answer, struct textbuf *text);

/* In a forked child: what the parent waited for is nobody's. Returns whether `start` will be called on a Ruby thread,
 * at once where the child goes on with Ruby, and never where it only comes to exec. */
bool ruby_forked(void (*start)(void));
