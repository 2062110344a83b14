/* What keeps the agent from being asked, reported to whoever reads /proc/PID/maps: a page of the agent's own library,
 * mapped at an offset far behind its end that says what failed. It needs no thread, no socket and no memfd.
 * docs/internals/agent.md has the numbers. */
#pragma once

/* What failed. The numbers are the contract with collectors. */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_ANNOUNCE, /* memfd_create or its mapping */
	TROUBLE_THREAD,   /* pthread_create, or memory for its stack */
	TROUBLE_STACK,    /* the stack that was to be had is too small */
	TROUBLE_PIPE,     /* no descriptors for it */
	TROUBLE_SOCKET,   /* socket, bind or listen */
	TROUBLE_MEMORY,   /* for jemalloc on the agent's thread */
};

/* In the constructor: it takes the loader's lock. */
void trouble_init(void);

/* Reports it in place of what was reported before; TROUBLE_NONE takes that back. Where the library's file cannot be
 * opened any more nothing is reported. */
void trouble_report(enum trouble trouble, int error);

/* In a forked child, which has no such page. */
void trouble_forked(void);
