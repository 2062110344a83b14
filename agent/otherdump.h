/* Dumps that the agent did not ask for: jemalloc's own, and the program's. They get a table, too. */
#pragma once

/* From now on. In the constructor. */
void otherdump_init(void);
