/* What a client may ask for: docs/agent.md has the table. */
#ifndef AGENT_REQUEST_H
#define AGENT_REQUEST_H

#include <stdbool.h>

struct textbuf;

/* Answers one line, which is written over, with one line of JSON. An empty one stands for a line that was
 * too long. Returns whether the descriptors in HANDLE_DUMP and HANDLE_SIDECAR go with it; dump_close() closes them. */
bool request_answer(char *line, struct textbuf *reply);

/* What `report` tells about the agent's settings. Both stay the caller's. */
void request_init(int signo, const char *triggers);

#endif
