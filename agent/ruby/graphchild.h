/* The child that writes the graph of Ruby's objects (objectgraph.h) into a pipe, of which HANDLE_GRAPH_READ is the end
 * to read. It has a copy of the process's memory as it was at one moment, and the process goes on.
 *
 * It is no child that the program sees: it ends without a signal, and no wait() but one with __WALL knows of it. It
 * closes all descriptors of the program, and runs nothing of it. Pages that the process writes meanwhile are copied:
 * where they become too many, or the control group runs short, it is ended. */
#pragma once

/* On the agent's thread, before Ruby is asked: makes the pipe. Returns NULL, or why there will be no graph; the text
 * stays until the next call. */
const char *graphchild_prepare(void);

/* In a job, on a Ruby thread; may raise. Forks the child if one was prepared for. */
void graphchild_start(void);

/* On the agent's thread, after Ruby was asked. Returns NULL, or why no child writes; then the pipe is gone. */
const char *graphchild_settle(void);

/* On the agent's thread: in how many ms graphchild_tend() is to be called; -1: there is no child. It takes away a child
 * that has ended, and ends one that takes too much. */
int graphchild_timeout(void);
void graphchild_tend(void);

/* In a forked child: that of the parent is not its own. */
void graphchild_forked(void);
