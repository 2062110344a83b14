/* Dumps that the agent did not ask for: jemalloc's own, and the program's. They get a table, too. */
#ifndef AGENT_OTHERDUMP_H
#define AGENT_OTHERDUMP_H

/* From now on. In the constructor. */
void otherdump_init(void);

#endif
