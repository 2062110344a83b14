/* Memory of a Ruby whose words are of the past, though it is in use: what they lead to is not kept by them. */
#pragma once

#include "outside/jeextents.h"
#include "outside/rubypages.h"

enum { jp_most_past = 1024 }; /* threads and fibers; what more have counts as in use */

struct jp_pastrange {
	uint64_t from, to;
};

struct jp_pastwords {
	struct jp_pastrange ranges[jp_most_past]; /* in no order */
	size_t count;
};

/* Looks among words of a thread or fiber for where its stack of values is, and notes what of that is not in use. */
void jp_pastwords_of_stacks(struct jp_pastwords *past, struct jp_memsource *source, const uint64_t *words,
                            size_t count);

/* Looks among libruby's words for where the transient heap is, and notes it. */
void jp_pastwords_of_transient(struct jp_pastwords *past, struct jp_memsource *source,
                               const struct jp_jeextents *extents, const struct jp_rubypages *pages,
                               const uint64_t *words, size_t count);

/* The first range that ends behind `from` and begins before `to`; it may begin before `from`. { to, to }: there is
 * none.
 */
struct jp_pastrange jp_pastwords_next(const struct jp_pastwords *past, uint64_t from, uint64_t to);
