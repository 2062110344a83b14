/* Where the agent's library is. */
#ifndef JEPROF_AGENTFILE_H
#define JEPROF_AGENTFILE_H

/* $JPROF_AGENT_LIB. Else the first place that has one: this program's build folder; where it was, or would be,
 * installed; its own folder, where others cannot write. Of two there, that for programs of `libc` ("glibc", "musl"; ""
 * where it is not known) comes first: libjprof-agent-LIBC.so, then libjprof-agent.so, which need not fit. NULL if there
 * is none. Owned by the caller. */
char *agent_file(const char *libc);

#endif
