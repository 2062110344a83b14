#include "outside/lostsamples.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"

static bool is_lost(const struct jp_lostblocks *lost, uint64_t address)
{
	size_t at = jp_count_below(lost->items, lost->count, sizeof *lost->items, address);
	return at < lost->count && lost->items[at].address == address;
}

/* What the lost samples of a context stand for, in place of all of them. */
static struct jp_jecontext context_of_lost(const struct jp_lostblocks *lost, const struct jp_jeprofile *all,
                                           const struct jp_jecontext *context)
{
	struct jp_jecontext c = *context;
	size_t s = jp_count_below(all->samples, all->sample_count, sizeof *all->samples, c.address);
	c.objects = 0;
	c.unbiased = (struct jp_jecounts){ 0 };
	for (; s < all->sample_count && all->samples[s].context == c.address; s++)
		if (is_lost(lost, all->samples[s].address)) {
			struct jp_jecounts one = jp_jeprofile_stands_for(all, all->samples[s].class);
			c.objects++;
			c.unbiased.eighths += one.eighths;
			c.unbiased.bytes += one.bytes;
		}
	return c;
}

/* Threads have a line each in a dump, and what their contexts have together: those that have any. */
static void keep_threads_of_lost(struct jp_jeprofile *part)
{
	size_t kept = 0;
	for (size_t i = 0; i < part->thread_count; i++)
		if (part->threads[i].unbiased.eighths)
			part->threads[kept++] = part->threads[i];
	part->thread_count = kept;
}

static int add_lost_context(struct jp_jeprofile *part, const struct jp_jecontext *c)
{
	struct jp_jethread *thread =
	    &part->threads[jp_count_below(part->threads, part->thread_count, sizeof *thread, c->thread)];
	if (jp_array_push(part->contexts, part->count, part->cap))
		return -1;
	part->contexts[part->count++] = *c;
	thread->unbiased.eighths += c->unbiased.eighths;
	thread->unbiased.bytes += c->unbiased.bytes;
	return 0;
}

int jp_lostsamples_write(const struct jp_lostblocks *lost, const struct jp_jeprofile *all,
                         const struct jp_memsource *source, struct jp_strbuf *text)
{
	struct jp_jeprofile part = { .lg_rate = all->lg_rate, .thread_count = all->thread_count };
	part.threads = calloc(all->thread_count + 1, sizeof *part.threads);
	bool failed = !part.threads;
	for (size_t i = 0; !failed && i < all->thread_count; i++) {
		part.threads[i] = all->threads[i];
		part.threads[i].unbiased = (struct jp_jecounts){ 0 };
	}
	for (size_t i = 0; lost->known && i < all->count && !failed; i++) {
		struct jp_jecontext c = context_of_lost(lost, all, &all->contexts[i]);
		failed = c.objects && add_lost_context(&part, &c);
	}
	if (!failed && part.count) {
		keep_threads_of_lost(&part);
		failed = jp_jeprofile_write(&part, source, NULL, text);
	}
	free(part.contexts);
	free(part.threads);
	return failed ? -1 : 0;
}
