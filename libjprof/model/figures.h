/* What /proc, the allocator and Ruby tell of the memory of processes, added up over these. */
#pragma once

#include <stdint.h>

#include "jprof.h"

/* A sum over those processes of which it is known. */
struct jp_known_sum {
	unsigned of;
	double bytes;
};

enum { jp_most_classes = 240 }; /* size classes of jemalloc: it has 232 where pages have 4 KiB */

enum { jp_sampled_extent = 16384 }; /* what a sampled small object takes: SC_LARGE_MINCLASS where pages have 4 KiB */

struct jp_class_sum {
	uint64_t size;        /* of an object */
	double slabs;         /* bytes of all its slabs' places */
	double occupied;      /* of those that are in use */
	double objects, live; /* live objects and their bytes, where each was counted; else 0 */
};

enum { jp_most_object_sums = 96, jp_object_name_size = 64 }; /* of objects: an agent names 24 types and 50 classes */

/* Ruby's objects of a type or class, where they were counted. */
struct jp_object_sum {
	char name[jp_object_name_size];
	double count, slots; /* objects, and bytes of their slots in the GC heap */
	bool own;            /* a class of the program itself, where that was seen */
};

struct jp_object_sums {
	struct jp_object_sum of[jp_most_object_sums]; /* in the order of first sight */
	unsigned count;
};

enum { jp_most_referrers = 96, jp_referrer_name_size = 128 };

/* What points to live blocks, where that was looked for. */
struct jp_referrer_sum {
	const char *kind; /* "Ruby data"; static */
	char name[jp_referrer_name_size];
	double blocks, bytes;
	bool own;      /* an object of a class of the program itself */
	uint64_t size; /* of each block; 0: of several sizes */
};

struct jp_referrer_sums {
	struct jp_referrer_sum of[jp_most_referrers]; /* in the order of first sight */
	unsigned count;
};

struct jp_figures {
	struct jp_known_sum of[JPROF_FIGURES];
	struct jp_class_sum classes[jp_most_classes]; /* in the order of first sight */
	unsigned class_count;
	struct jp_object_sums object_types, object_classes;
	struct jp_referrer_sums referrers;
	struct jp_referrer_sums unreachable;       /* what nothing points to, by what is in it */
	unsigned roots;                            /* mappings and stacks that were looked into for that */
	struct jp_known_sum master, worker_shared; /* RSS_ANON of masters, and SHARED of workers */
	struct jprof_settings settings;            /* of the process that came last */
	struct jprof_group group;                  /* likewise */
	struct jprof_heap_seen seen;               /* of all whose memory was read */
};

/* Another process's figure. */
void jp_known_add(struct jp_known_sum *to, double bytes);
void jp_known_sum_add(struct jp_known_sum *to, const struct jp_known_sum *from);

/* Counts the places of a size class. */
void jp_figures_add_class(struct jp_figures *to, const struct jp_class_sum *more);

/* Counts objects of a type or class. */
void jp_object_sums_add(struct jp_object_sums *to, const struct jp_object_sum *more);

/* Counts blocks that something points to. */
void jp_referrer_sums_add(struct jp_referrer_sums *to, const struct jp_referrer_sum *more);

void jp_figures_add(struct jp_figures *to, const struct jp_figures *from);

/* NAN where it is not known of each of so many processes. */
double jp_known_bytes(const struct jp_known_sum *known, unsigned processes);
