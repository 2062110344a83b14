/* The table of processes that snap and doctor could deal with. */
#pragma once

/* Prints all processes that are a Ruby, have a jemalloc or an agent to standard output, and asks the agents
 * whether they sample. How many there are, or -1 after having said what is wrong. */
int candidates_print(void);
