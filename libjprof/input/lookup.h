/* A question for the name of an address, and its answer. */
#pragma once

#include "jprof.h"

/* One function at an address. Strings live as long as the object file. */
struct jp_symframe {
	const char *name;  /* as the linker or DWARF knows it, mangled; NULL: not known */
	const char *shown; /* what that is for people, with all that tells it from others; NULL: the name, demangled */
	const char *brief; /* and in short; NULL: what is left of it without parameters and template arguments */
	const char *file;  /* NULL: not known */
	unsigned line;     /* 0: not known */
	bool inlined;
};

/* A question and its answer. */
struct jp_lookup {
	uint64_t vaddr;    /* image-relative address; first: jp_by_first sorts by it */
	uint32_t location; /* the caller's mark */
	enum jprof_source source;
	uint64_t fde_start, fde_end; /* bounds of the function from .eh_frame; 0, 0: not known */
	struct jp_symframe *frames;  /* innermost first; the last is the physical function */
	unsigned frame_count;
	bool pending;  /* a .dwo file is wanted first: what is known of it is not all */
	uint32_t want; /* and its place among those that are wanted */
};
