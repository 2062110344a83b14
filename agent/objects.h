/* The object files of this process. */
#ifndef AGENT_OBJECTS_H
#define AGENT_OBJECTS_H

struct text;

/* Adds them as a JSON array of {"path", "base", "build_id"}. */
void objects_json(struct text *text);

#endif
