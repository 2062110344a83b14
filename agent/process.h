/* What this process knows of itself. */
#ifndef AGENT_PROCESS_H
#define AGENT_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

struct text;

/* Before main: the program's short name. Titles that are set later write over it. */
void process_init(void);
const char *process_program(void);

/* Reads the start time, at the start of each process. */
void process_read(void);

/* Adds `"pid":...,"start_ticks":...,"boot_id":...,"program":...`. */
void process_json(struct text *text);

/* Reads the beginning of a file, NUL-terminated. Returns its length, -1 where it cannot be read. */
ssize_t process_read_file(const char *path, char *buf, size_t size);

/* Milliseconds, for differences. */
uint64_t process_clock(void);

#endif
