/* It is in the program. */
#include "input/capstonelib.h"

int jp_capstone_load(struct jp_capstone *c, struct jprof_error *err)
{
	(void)err;
	*c = (struct jp_capstone){ .open = cs_open,
		                   .option = cs_option,
		                   .malloc = cs_malloc,
		                   .disasm_iter = cs_disasm_iter,
		                   .free = cs_free,
		                   .close = cs_close };
	return 0;
}

void jp_capstone_unload(struct jp_capstone *c)
{
	(void)c;
}
