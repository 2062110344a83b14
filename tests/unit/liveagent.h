/* A process with a real agent under a real jemalloc, for tests of who asks it. */
#pragma once

/* Starts it with the agent's file; its pid, or 0 after having said why it cannot be. Ended by liveagent_end. */
int liveagent_start(const char *agent);
void liveagent_end(int pid);

/* The jemalloc that it was started under; NULL: there is none here. */
const char *liveagent_jemalloc(void);
