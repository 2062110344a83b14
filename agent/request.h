/* What a client may ask for: docs/internals/agent.md has the table. */
#pragma once

struct textbuf;

/* Answers one line, which is written over, with one line of JSON. An empty one stands for a line that was
 * too long. Returns how many of the descriptors in HANDLE_DUMP, HANDLE_SIDECAR and HANDLE_TABLE go with it;
 * dump_close() closes them. */
unsigned request_answer(char *line, struct textbuf *reply);

/* What `report` tells about the agent's settings. Both stay the caller's. */
void request_init(int signo, const char *triggers);
