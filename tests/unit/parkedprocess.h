/* Programs that say what is in their memory, end that with a line "end", and stand still until their input ends. */
#pragma once

#include <sys/types.h>

#include "collect/target.h"
#include "outside/memsource.h"

struct parked_process {
	pid_t pid;
	int in; /* closed: it ends */
	struct jprof_target target;
};

/* Starts one, with jemalloc's options (NULL: none) and a library before the others (likewise), hands each line to
 * `take`, and waits until it stands still: it touches pages of code on its way to sleep. */
struct parked_process parked_start(const char *const *command, const char *preload, const char *conf,
                                   void (*take)(void *context, const char *line), void *context);

void parked_end(const struct parked_process *process);

/* Its memory; to be closed. */
struct jp_memsource *parked_memory(const struct parked_process *process);

/* The lines that reading must leave as they are. */
void parked_memory_lines(const struct parked_process *process, char lines[256]);
