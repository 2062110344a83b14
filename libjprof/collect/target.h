/* A process that is dealt with; the public part is in jprof.h. */
#pragma once

#include "jprof-live.h"

struct jprof_target {
	char *proc;
	int pid;
	int ns_pid;
	unsigned uid;
	uint64_t start_ticks;
	int pidfd;                  /* -1: the kernel has none (before Linux 5.3) */
	struct jprof_opener opener; /* zero: the caller opens its files */
	unsigned *groups;           /* as they were read last */
};

/* PROC/PID/NAME; the text lives as long as the block it is used in. */
#define jp_target_path(target, name) (jp_target_path_into((char[4096]){ 0 }, (target), (name)))
const char *jp_target_path_into(char path[4096], const struct jprof_target *target, const char *name);
