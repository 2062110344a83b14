#include "sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { room = 1 << 16 };

/* SplitMix64, by Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014. */
static uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

double rng_uniform(struct rng *rng)
{
	return ((double)(rng_next(rng) >> 11) + 0.5) * 0x1p-53;
}

uint64_t sample_objects(struct rng *rng, uint64_t rate, uint64_t size, uint64_t count)
{
	uint64_t n = 0;
	double passed = 0;
	for (;;) {
		passed += floor(-log(rng_uniform(rng)) * (double)rate / (double)size) + 1;
		if (passed > (double)count)
			return n;
		n++;
	}
}

static double chance(uint64_t rate, double size)
{
	return -expm1(-size / (double)rate);
}

static struct tally tally_of(uint64_t rate, uint64_t size, uint64_t n)
{
	double p = chance(rate, (double)size);
	return (struct tally){ n, n * size, n * (uint64_t)round(8 / p), n * (uint64_t)round((double)size / p) };
}

void tally_add(struct tally *tally, uint64_t rate, uint64_t size, uint64_t n)
{
	struct tally t = tally_of(rate, size, n);
	*tally = (struct tally){ tally->objects + t.objects, tally->bytes + t.bytes, tally->eighths + t.eighths,
		                 tally->claimed + t.claimed };
}

void tally_sub(struct tally *tally, uint64_t rate, uint64_t size, uint64_t n)
{
	struct tally t = tally_of(rate, size, n);
	*tally = (struct tally){ tally->objects - t.objects, tally->bytes - t.bytes, tally->eighths - t.eighths,
		                 tally->claimed - t.claimed };
}

void tally_print(const struct tally *t, uint64_t rate, bool unbias, uint64_t count[2])
{
	count[0] = t->objects;
	count[1] = t->bytes;
	if (!unbias || !t->objects)
		return;
	double mean = (double)t->claimed / ((double)t->eighths / 8), bytes = (double)t->claimed * chance(rate, mean);
	count[0] = (uint64_t)round(bytes / mean);
	count[1] = (uint64_t)round(bytes);
}

void process_malloc(struct process *process, size_t at, uint64_t size, uint64_t objects)
{
	if (at >= process->stacks)
		process->stacks = at + 1;
	tally_add(&process->stack[at].in_use, process->rate, size, objects);
	tally_add(&process->stack[at].allocated, process->rate, size, objects);
}

void process_free(struct process *process, size_t at, uint64_t size, uint64_t objects)
{
	tally_sub(&process->stack[at].in_use, process->rate, size, objects);
}

static int print_stack(const struct process *p, size_t i, char *text, size_t size)
{
	uint64_t in_use[2], allocated[2];
	struct tally none = { 0 };
	tally_print(&p->stack[i].in_use, p->rate, p->unbias, in_use);
	tally_print(p->accum ? &p->stack[i].allocated : &none, p->rate, p->unbias, allocated);
	if (!in_use[0] && !allocated[0])
		return 0;
	return snprintf(text, size, "@ 0x%" PRIx64 "\n  t*: %" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "]\n",
	                p->base + 0x100 + i, in_use[0], in_use[1], allocated[0], allocated[1]);
}

struct jprof_profile *process_profile(const struct process *p)
{
	static char text[room];
	struct jprof_dump *dump;
	struct jprof_profile *profile = NULL;
	size_t len = (size_t)snprintf(text, room, "heap_v2/%llu\n  t*: 0: 0 [0: 0]\n", (unsigned long long)p->rate);
	for (size_t i = 0; i < p->stacks; i++)
		len += (size_t)print_stack(p, i, text + len, room - len);
	len += (size_t)snprintf(text + len, room - len,
	                        "\nMAPPED_LIBRARIES:\n%llx-%llx r-xp 00000000 08:01 77 /lib/simulated.so\n",
	                        (unsigned long long)p->base, (unsigned long long)p->base + 0x1000);
	if (jprof_dump_parse(text, len, "simulated", &dump, NULL))
		return NULL;
	if (jprof_profile_new(dump, NULL, &profile, NULL))
		profile = NULL;
	jprof_dump_free(dump);
	return profile;
}
