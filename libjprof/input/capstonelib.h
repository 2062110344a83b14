/* The functions of capstone that are used. */
#pragma once

#include <capstone/capstone.h>

#include "jprof.h"

struct jp_capstone {
	void *library; /* NULL: it is in the program */
	__typeof__(cs_open) *open;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_disasm_iter) *disasm_iter;
	__typeof__(cs_free) *free;
	__typeof__(cs_close) *close;
};

/* Finds them, and calls none. JPROF_E_UNSUPPORTED, with a sentence, where it is not installed. */
int jp_capstone_load(struct jp_capstone *capstone, struct jprof_error *err);

void jp_capstone_unload(struct jp_capstone *capstone);
