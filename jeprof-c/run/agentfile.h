/* Where the agent's library is. */
#ifndef JEPROF_AGENTFILE_H
#define JEPROF_AGENTFILE_H

/* $JPROF_AGENT_LIB; else beside this program in its build folder; else where it was, or would be, installed.
 * NULL if it is at none of these. Owned by the caller. */
char *agent_file(void);

#endif
