/* The objects of a Ruby and what refers to what. A heap is built of what a file says of its objects, in any order,
 * whatever the format. An object is asked for with the addresses that belong to it; those become ids, and the edges of
 * the graph. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"
#include "base/intern.h"
#include "jprof.h"
#include "rubyheap/dominators.h"

enum jp_heap_type {
	JP_HEAP_UNKNOWN, /* something refers to it, and it has no line */
	JP_HEAP_ROOT,    /* what Ruby itself refers to, of one kind: its name says which */
	JP_HEAP_CLASS,
	JP_HEAP_SINGLETON, /* a class of one object or class: its name is that of the class above */
	JP_HEAP_MODULE,
	JP_HEAP_ICLASS,
	JP_HEAP_OBJECT,
	JP_HEAP_STRING,
	JP_HEAP_ARRAY,
	JP_HEAP_HASH,
	JP_HEAP_STRUCT,
	JP_HEAP_DATA,
	JP_HEAP_IMEMO,
	JP_HEAP_OTHER,
};

/* Texts are ids of heap->words; JP_NONE: not known. */
struct jp_heap_object {
	uint64_t bytes;      /* memsize: of its slot and its buffers */
	uint32_t class_node; /* JP_NONE: it has none */
	uint32_t name;       /* of a class, module or root; what an internal object is; the C type of a DATA */
	uint32_t site;       /* "FILE:LINE" where it was allocated */
	uint32_t method;     /* that allocated it */
	uint32_t length;     /* elements of an Array or Hash, bytes of a String */
	uint32_t generation; /* of the garbage collector, in which it was allocated; 0: not known */
	uint8_t type;        /* enum jp_heap_type */
};

/* What was sampled of an object. */
enum jp_heap_part {
	JP_PART_OBJECT, /* its slot, which is all of it */
	JP_PART_SLOT,   /* its slot, and it has more than that */
	JP_PART_BUFFER, /* a block of malloc's that it has */
};

/* A sample by the object's place; ids are words of the heap, JP_NONE: not known. */
struct jp_heap_sample {
	uint64_t node;
	double bytes, objects; /* that it stands for, of that part; 0 objects: another sample of it says them */
	double chance;         /* of having been sampled */
	uint32_t site, method;
	uint32_t epoch; /* in which it was allocated; 0: not known */
	enum jp_heap_part part;
};

/* A heap of zero bytes is empty. A node of the graph is an object's place; the last node, without object, is Ruby: its
 * edges lead to the roots. An object refers to its class too. */
struct jp_heap {
	struct jp_heap_object *objects;
	uint64_t *addresses; /* of each object */
	uint32_t count;
	struct jp_graph graph; /* count + 1 nodes */
	uint32_t *edge_names;  /* of each edge, in the graph's order: the constant, variable or Symbol key by which it
	                        * is; JP_NONE: not known. NULL: none is */
	struct jp_intern words;
	struct jp_heap_sample *samples; /* ascending */
	size_t sample_count, sample_cap;
	bool is_sampled;   /* there may be samples: it is not known of each object where it was allocated */
	bool has_buffers;  /* those of blocks are known, too */
	float *stands_for; /* for how many objects each stands that was sampled, 0: it was not; NULL: none were */
	uint32_t
	    *says; /* of each object: the id, in `texts`, of what it says; JP_NONE: none. NULL: it was not asked for */
	struct jp_intern texts;
	char *directory;                    /* in which the process ran; NULL: not known */
	bool cut;                           /* the file ends within a line, which was not read */
	bool is_graph;                      /* the agent wrote it, and not ObjectSpace.dump_all */
	uint64_t moves;                     /* of a graph: 1 and how often GC.compact had moved objects; 0: not known */
	uint32_t epoch_before, epoch_after; /* of samples: struct jp_rubytable; 0: not known */
};

void jp_heap_release(struct jp_heap *heap);

/* The addresses of an object: its own, its class's (0: it has none), and what it refers to. */
enum { own_address, class_address, first_reference };

/* Roots of a kind are one object, at an address that no object has. */
enum { root_addresses = 4096 };

struct jp_edge_run;

/* The first row is the caller's, zero else; heap is empty. */
struct jp_heap_builder {
	struct jp_heap *heap;
	const char *name; /* of the file, for messages */
	unsigned line;    /* likewise; 0: none */
	bool texts;       /* heap->says has a place for each object */
	bool names_edges; /* heap->edge_names has a place for each edge */
	struct jprof_error *err;
	struct jp_index ids;
	size_t address_cap, object_cap, says_cap;
	uint64_t *asked;       /* the addresses of this object */
	uint32_t *asked_names; /* by what it refers to each, if edges have names */
	uint32_t *found;       /* and, once it was added, their ids */
	size_t asked_count, asked_cap, asked_names_cap, found_cap;
	struct jp_edge_run *runs;
	uint32_t *to, *to_names;
	size_t run_count, run_cap, to_count, to_cap, to_names_cap;
	uint64_t bytes; /* of all objects so far: no sum of some is larger */
	struct jp_intern roots;
};

/* Begins an object, and adds what it refers to, which may be nothing that is ever added, and by what name: a word of
 * the heap, JP_NONE where it has none. */
int jp_heap_begin(struct jp_heap_builder *b) jp_must_check;
int jp_heap_ask(struct jp_heap_builder *b, uint64_t address, uint32_t name) jp_must_check;

/* Ends it: asked[own_address] and asked[class_address] are set, but for a root, whose place is made of its name. The
 * object's texts are words of the heap. */
int jp_heap_add(struct jp_heap_builder *b, const struct jp_heap_object *object) jp_must_check;

/* After the last one. */
int jp_heap_conclude(struct jp_heap_builder *b) jp_must_check;

/* In any case; the heap stays. */
void jp_heap_builder_release(struct jp_heap_builder *b);
