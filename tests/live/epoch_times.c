/* When agent/epoch.c begins a new epoch, by a clock that is made here: a process's first is a tenth as long as the
 * others, of at least ten seconds, and so is that of a forked child. */
#include "epoch.h"

#include <stdio.h>

#include "self.h"

enum { SECOND = 1000 };

static uint64_t now = 5000 * SECOND;
static int failures;

uint64_t self_clock(void)
{
	return now;
}

/* So long after `from` a sampled allocation is of that epoch, and just before it of the one before. */
static void expect(const char *what, uint64_t from, unsigned seconds, uint32_t epoch)
{
	now = from + seconds * SECOND - 1;
	uint32_t before = epoch_now();
	now++;
	uint32_t after = epoch_now();
	if (before == epoch - 1 && after == epoch)
		return;
	printf("FAIL: %s: after %u seconds epoch %u begins, and %u was before; not %u\n", what, seconds,
	       (unsigned)after, (unsigned)before, (unsigned)epoch);
	failures++;
}

int main(int argc, char **argv)
{
	unsigned length = 0, first = 0;
	if (argc != 3 || sscanf(argv[1], "%u", &length) != 1 || sscanf(argv[2], "%u", &first) != 1 ||
	    epoch_init(length))
		return 1;
	uint64_t start = now;
	(void)epoch_now();
	expect("the first epoch", start, first, 2);
	expect("the second", now, length, 3);
	expect("the third", now, length, 4);
	now += SECOND;
	epoch_forked(); /* the child's is the fifth */
	start = now;
	(void)epoch_now();
	expect("the first epoch of a child", start, first, 6);
	expect("its second", now, length, 7);
	return failures != 0;
}
