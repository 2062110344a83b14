/* The objects of a Ruby and what refers to what, out of a file that ObjectSpace.dump_all wrote: a line of JSON for each
 * object (ext/objspace/objspace_dump.c). Of Strings only their length is read. */
#ifndef JP_RUBYHEAP_HEAPDUMP_H
#define JP_RUBYHEAP_HEAPDUMP_H

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

/* A heap of zero bytes is empty. A node of the graph is an object's place; the last node, without object, is Ruby: its
 * edges lead to the roots. An object refers to its class too. */
struct jp_heap {
	struct jp_heap_object *objects;
	uint64_t *addresses; /* of each object */
	uint32_t count;
	struct jp_graph graph; /* count + 1 nodes */
	struct jp_intern words;
	uint32_t
	    *says; /* of each object: the id, in `texts`, of what it says; JP_NONE: none. NULL: it was not asked for */
	struct jp_intern texts;
	bool cut; /* the file ends within a line, which was not read */
};

/* Reads a file, which may be compressed; "-" is standard input; `texts`: with what Strings say. Release in any case. */
int jp_heap_read(struct jp_heap *heap, const char *path, bool texts, struct jprof_error *err);
void jp_heap_release(struct jp_heap *heap);

#endif
