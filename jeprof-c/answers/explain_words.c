#include "answers/explain_words.h"

const struct part_words *words_of_part(enum jprof_part part)
{
	static const struct part_words none, words[JPROF_PARTS] = {
		[JPROF_PART_LIVE] = { "live", "live malloc memory", "are live malloc memory" },
		[JPROF_PART_KIND] = { "kind", "", "" },
		[JPROF_PART_GROUP] = { "group", "", "" },
		[JPROF_PART_INTERNAL_LIVE] = { "internal_live", "jemalloc's own objects, for the profiler and caches",
		                               "" },
		[JPROF_PART_TWICE] = { "counted_twice", "jemalloc's own objects: live memory and metadata above", "" },
		[JPROF_PART_NOT_SAMPLED] = { "not_sampled", "counted by jemalloc, and in no sample", "" },
		[JPROF_PART_UNREACHABLE] = { "unreachable", "no pointer found", "" },
		[JPROF_PART_LOST] = { "lost", "", "" },
		[JPROF_PART_GC_HEAP] = { "gc_heap", "Ruby's GC heap", "are Ruby's GC heap" },
		[JPROF_PART_GC_OBJECTS] = { "gc_objects", "in objects", "" },
		[JPROF_PART_GC_FREE] = { "gc_free", "in free slots", "" },
		[JPROF_PART_GC_REST] = { "gc_rest", "Ruby's GC heap, free slots", "are free slots of Ruby's GC heap" },
		[JPROF_PART_OBJECT_TYPE] = { "object_type", "", "" },
		[JPROF_PART_OBJECT_CLASS] = { "object_class", "", "" },
		[JPROF_PART_TRANSIENT] = { "transient_heap", "Ruby's heap for what is young (transient heap)",
		                           "are Ruby's heap for what is young" },
		[JPROF_PART_V8] = { "v8_heap", "V8's heap, for JavaScript", "are V8's heap, for JavaScript" },
		[JPROF_PART_PAST] = { "past_malloc", "mapped by the program itself, past malloc",
		                      "were mapped by the program itself, past malloc" },
		[JPROF_PART_UNTOUCHED] = { "untouched", "never touched, and counted above", "" },
		[JPROF_PART_FREE_OWNER] = { "free_owner", "", "" },
		[JPROF_PART_FRAGMENTATION] = { "fragmentation", "fragmentation",
		                               "are fragmentation, gaps between live objects" },
		[JPROF_PART_PADDING] = { "large_padding", "a page beside each large object", "" },
		[JPROF_PART_SIZE_CLASS] = { "size_class", "", "" },
		[JPROF_PART_KEPT] = { "kept", "freed, kept by jemalloc", "were freed and are kept by jemalloc" },
		[JPROF_PART_DIRTY] = { "dirty", "freed pages (dirty)", "" },
		[JPROF_PART_MUZZY] = { "muzzy", "freed pages (muzzy)", "" },
		[JPROF_PART_CACHED] = { "thread_caches", "freed objects in the caches of threads", "" },
		[JPROF_PART_METADATA] = { "metadata", "jemalloc's metadata", "are jemalloc's own data" },
		[JPROF_PART_INTERNAL] = { "internal", "for the profiler and caches", "" },
		[JPROF_PART_PROFILER] = { "profiler", "the profiler itself", "are the profiler itself" },
		[JPROF_PART_SAMPLE_PAGES] = { "sample_pages", "pages of sampled objects", "" },
		[JPROF_PART_TABLES] = { "tables", "jprof's tables of Ruby stacks", "" },
		[JPROF_PART_STACKS] = { "stacks", "thread stacks", "are stacks of threads" },
		[JPROF_PART_FILES] = { "files", "program files and libraries", "are program files and libraries" },
		[JPROF_PART_JIT] = { "jit", "code made at run time (JIT)", "are code made at run time" },
		[JPROF_PART_ANONYMOUS] = { "anonymous", "anonymous memory: malloc and all other together",
		                           "are anonymous memory" },
		[JPROF_PART_SHMEM] = { "shared_memory", "shared memory", "are shared memory" },
		[JPROF_PART_SWAPPED] = { "swapped", "swapped out, and counted above", "" },
		[JPROF_PART_NOT_EXPLAINED] = { "not_explained", "not explained", "are not explained" },
		[JPROF_PART_SHARED] = { "shared", "shared since the fork, and counted several times above", "" },
		[JPROF_PART_TOTAL] = { "total", "RSS", "" },
	};
	return (unsigned)part < JPROF_PARTS ? &words[part] : &none;
}

struct help_words words_of_help(const struct jprof_help *help, const struct jprof_settings *s)
{
	switch (help->kind) {
	case JPROF_HELP_DECAY:
		if (s->background_thread)
			return (
			    struct help_words){ "decay", "add to MALLOC_CONF: dirty_decay_ms:1000,muzzy_decay_ms:0",
				                "jemalloc keeps freed pages for a while, and the load comes in waves" };
		return (struct help_words){ "decay", "add to MALLOC_CONF: background_thread:true,dirty_decay_ms:1000",
			                    "background_thread is off: idle arenas never give pages back" };
	case JPROF_HELP_ARENAS:
		return (struct help_words){ "arenas", "add to MALLOC_CONF: narenas:2",
			                    "each arena has gaps and caches of its own" };
	case JPROF_HELP_GLIBC:
		return (struct help_words){ "glibc_arenas",
			                    "set MALLOC_ARENA_MAX=2 in its environment, or use jemalloc",
			                    "glibc's malloc has an arena for each few threads, with gaps of its own" };
	case JPROF_HELP_SAMPLING:
		return (struct help_words){ "sampling", "sample a quarter as often: lg_prof_sample two higher",
			                    "each sampled object takes a page or more" };
	case JPROF_HELP_ACCUMULATE:
		return (struct help_words){ "accumulate", "leave prof_accum:true out of MALLOC_CONF",
			                    "jemalloc keeps every stack that it ever sampled" };
	case JPROF_HELP_GC_FREE:
		return (struct help_words){ "gc_free", "allocate fewer objects at a time, or GC.compact when idle",
			                    "Ruby's GC heap has free slots, and only empty pages are given back" };
	case JPROF_HELP_WARMUP:
		return (struct help_words){ "warmup", "Process.warmup before the fork (Ruby 3.3 and later)",
			                    "GC after the fork writes to pages that the processes share" };
	}
	return (struct help_words){ "", "", "" };
}

const struct jprof_explained *explain_part_of(const struct jprof_explanation *e, enum jprof_part part)
{
	const struct jprof_explained *row;
	size_t i = 0;
	while ((row = jprof_explain_at(e, i)) && row->part != part)
		i++;
	return row;
}
