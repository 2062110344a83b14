/* The program of evidence.sh writes a heap_v2 dump of its calls into the library: each stack is an address in libc, one
 * in a function of the library, which has 1000, 1001 ... bytes, and one in this program. The first COUNT functions are
 * in it, and a stack of this program alone with OTHERS bytes. usage: evidence_program DUMP COUNT OTHERS */
#include "../../subjects/dumpfile.h"

void open_doors(void (*back)(int));

static void *places[8];
static void *self;

static __attribute__((noinline)) void note(int number)
{
	places[number] = __builtin_return_address(0);
}

static __attribute__((noinline)) void note_self(void)
{
	self = __builtin_return_address(0);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 1;
	int count = atoi(argv[2]);
	long others = atol(argv[3]), sum = others;
	note_self();
	open_doors(note);
	FILE *to = fopen(argv[1], "w");
	if (!to)
		return 1;
	for (int i = 0; i < count; i++)
		sum += 1000 + i;
	fprintf(to, "heap_v2/1\n  t*: %d: %ld [0: 0]\n", count + 1, sum);
	fprintf(to, "@ %p %p\n  t*: 1: %ld [0: 0]\n", (void *)malloc, self, others);
	for (int i = 0; i < count; i++)
		fprintf(to, "@ %p %p %p\n  t*: 1: %d [0: 0]\n", (void *)malloc, places[i], self, 1000 + i);
	fprintf(to, "\nMAPPED_LIBRARIES:\n");
	copy_maps(to);
	return fclose(to) ? 1 : 0;
}
