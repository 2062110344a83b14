#include "sampler.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { room = 1 << 17, first_epoch = 0x40400, past_epochs = 0x240400 };

static const uint64_t ids = 0x7e0000000000; /* where the agent's mapping begins: docs/internals/ruby-table.md */

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

/* Products of uniform variables, in parts that do not underflow. */
uint64_t rng_poisson(struct rng *rng, double mean)
{
	enum { part = 200 };
	uint64_t count = 0;
	for (; mean > part; mean -= part)
		count += rng_poisson(rng, part);
	double product = rng_uniform(rng), least = exp(-mean);
	for (; product > least; product *= rng_uniform(rng))
		count++;
	return count;
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

uint64_t epoch_address(size_t epoch)
{
	return ids + 2 * (first_epoch + epoch) + 1;
}

size_t epoch_maps_print(char *text, size_t size)
{
	return (size_t)snprintf(text, size,
	                        "%" PRIx64 "-%" PRIx64 " ---s 00000000 00:01 9 /memfd:jprof-ids:1 (deleted)\n", ids,
	                        ids + 2 * past_epochs);
}

static size_t print_addresses(const struct process *p, size_t i, char *text, size_t size)
{
	size_t site = p->sites ? i % p->sites : i, epoch = p->sites ? 1 + i / p->sites : 0;
	size_t len = (size_t)snprintf(text, size, "@ 0x%" PRIx64, p->base + 0x100 + site);
	if (epoch)
		len += (size_t)snprintf(text + len, size - len, " 0x%" PRIx64, epoch_address(epoch));
	return len;
}

static size_t print_stack(const struct process *p, size_t i, char *text, size_t size)
{
	uint64_t in_use[2], allocated[2];
	struct tally none = { 0 };
	tally_print(&p->stack[i].in_use, p->rate, p->unbias, in_use);
	tally_print(p->accum ? &p->stack[i].allocated : &none, p->rate, p->unbias, allocated);
	if (!in_use[0] && !allocated[0])
		return 0;
	size_t len = print_addresses(p, i, text, size);
	return len + (size_t)snprintf(text + len, size - len,
	                              "\n  t*: %" PRIu64 ": %" PRIu64 " [%" PRIu64 ": %" PRIu64 "]\n", in_use[0],
	                              in_use[1], allocated[0], allocated[1]);
}

static size_t print_dump(const struct process *p, char *text)
{
	size_t len = (size_t)snprintf(text, room, "heap_v2/%" PRIu64 "\n  t*: 0: 0 [0: 0]\n", p->rate);
	for (size_t i = 0; i < p->stacks; i++)
		len += print_stack(p, i, text + len, room - len);
	len +=
	    (size_t)snprintf(text + len, room - len,
	                     "\nMAPPED_LIBRARIES:\n%" PRIx64 "-%" PRIx64 " r-xp 00000000 08:01 77 /lib/simulated.so\n",
	                     p->base, p->base + 0x1000);
	if (p->sites)
		len += epoch_maps_print(text + len, room - len);
	return len;
}

/* The check is 64 bits of FNV-1a. */
size_t epoch_table_print(unsigned pid, unsigned over, size_t epochs, const char *dump, size_t dump_len, char *text,
                         size_t size)
{
	uint64_t check = 0xcbf29ce484222325;
	for (size_t i = 0; i < dump_len; i++)
		check = (check ^ (unsigned char)dump[i]) * 0x100000001b3;
	size_t len =
	    (size_t)snprintf(text, size,
	                     "jprof-table 1\nprocess %u 1 -\ndump %zu %" PRIx64 "\nids %" PRIx64
	                     " 0 40000 %x %x\nruby - off\ntime %u.000\nbounds %u %u\n",
	                     pid, dump_len, check, ids, first_epoch, past_epochs, 1000 * (over + 1), over, over + 1);
	for (size_t e = 1; e <= epochs; e++)
		len += (size_t)snprintf(text + len, size - len, "e %zu %zu000.000 %zu000.000\n", e, e, e + 1);
	return len + (size_t)snprintf(text + len, size - len, "end 0\n");
}

struct jprof_profile *process_profile(const struct process *p)
{
	static char text[room], table[room];
	struct jprof_profile *profile = NULL;
	struct jprof_profile_opts opts = { .size = sizeof opts };
	size_t len = print_dump(p, text);
	if (p->sites) {
		opts.table_len =
		    epoch_table_print(p->pid, p->over, (p->stacks + p->sites - 1) / p->sites, text, len, table, room);
		opts.table = table;
	}
	if (jprof_profile_parse(text, len, "simulated", &opts, &profile, NULL))
		return NULL;
	len = (size_t)snprintf(text, room, "{\"pid\": %u, \"start_ticks\": 1, \"boot_id\": \"b\"}", p->pid);
	if (p->pid && jprof_profile_sidecar(profile, text, len, NULL)) {
		jprof_profile_free(profile);
		profile = NULL;
	}
	return profile;
}
