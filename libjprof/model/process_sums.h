/* What is known of the processes behind a profile and is in none of its stacks. */
#pragma once

#include <stdint.h>

#include "jprof.h"
#include "model/figures.h"

struct jp_process_sums {
	unsigned processes;
	struct jp_known_sum rss_anon, pss, kept; /* the first two only where the dump is of the same moment */
	struct jp_figures figures;
};

/* Of what was added, and of what was subtracted. */
struct jp_outside {
	struct jp_process_sums now, base;
};

/* Adds `from`; with a factor below 0 what it has now is part of the base. */
void jp_outside_add(struct jp_outside *to, const struct jp_outside *from, double factor);

/* The sums for people: NAN where one is not known of each process. */
struct jprof_outside jp_outside_figures(const struct jp_process_sums *sums);

/* "3.1.2" or "3.1" as 301; 0: it is NULL, or no version of a Ruby from 2.0 on. */
unsigned jp_ruby_version_number(const char *version);

/* The size of a page of Ruby's GC heap: HEAP_PAGE_SIZE of that version's GC::INTERNAL_CONSTANTS, 16 KiB before 3.2 and
 * 64 KiB from then on. `pages` and `slots` (GC.stat's heap_allocated_pages and heap_available_slots) must bear it out:
 * a slot has 40 bytes at least. 0: it is not known. */
double jp_gc_page_size(const char *version, uint64_t pages, uint64_t slots);

/* Whether that version has a heap for young arrays, hashes and objects (theap): 2.6 to 3.2. */
bool jp_has_transient_heap(const char *version);

/* Whether all slots of that version's pages have one size: before 3.2, which has several. */
bool jp_gc_one_slot_size(const char *version);
