#include <stddef.h>

#include "subject.h"

static struct shared_by_all example;

ALWAYS void inlined_in_part(const struct site *outer)
{
	AT(inlined_everywhere, outer);
	AT(note, outer);
}

static NOINLINE void hidden_in_part(int turns)
{
	for (int i = 0; i < turns; i++) {
		volatile int in_a_block = i;
		if (in_a_block == 0)
			AT(inlined_in_part, NULL);
		else
			AT(note, NULL);
	}
}

void part_run(void)
{
	example.next = &example;
	hidden_in_part(2);
	AT(note, NULL);
}
