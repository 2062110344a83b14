#include "input/dumpdata.h"

#include <stdlib.h>

#include "base/array.h"

int jp_dump_warn(struct jprof_dump *dump, const struct jprof_error *what)
{
	if (jp_array_push(dump->warnings, dump->warning_count, dump->warning_cap))
		return JPROF_E_NOMEM;
	dump->warnings[dump->warning_count++] = *what;
	return 0;
}

const struct jprof_dump_info *jprof_dump_info(const struct jprof_dump *dump)
{
	return &dump->info;
}

const struct jprof_dump_thread *jprof_dump_thread(const struct jprof_dump *dump, size_t i)
{
	return &dump->threads[i].pub;
}

const struct jprof_maps *jprof_dump_maps(const struct jprof_dump *dump)
{
	return dump->maps;
}

size_t jprof_dump_warnings(const struct jprof_dump *dump)
{
	return dump->warning_count;
}

const struct jprof_error *jprof_dump_warning(const struct jprof_dump *dump, size_t i)
{
	return &dump->warnings[i];
}

void jprof_dump_free(struct jprof_dump *dump)
{
	if (!dump)
		return;
	jp_intern_release(&dump->names);
	jp_intern_release(&dump->address_ids);
	jprof_maps_free(dump->maps);
	free(dump->addresses);
	free(dump->frames);
	free(dump->stacks);
	free(dump->totals.items);
	free(dump->per_thread.items);
	free(dump->threads);
	free(dump->given);
	free(dump->warnings);
	free(dump->name);
	free(dump);
}
