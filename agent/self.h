/* What this process knows of itself. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct textbuf;

/* Before main: the program's short name. Titles that are set later write over it. */
void self_init(void);
const char *self_program(void);

/* Reads the start time, at the start of each process. */
void self_read(void);

/* Adds `"pid":...,"start_ticks":...,"boot_id":...,"program":...`. */
void self_json(struct textbuf *text);

/* Adds `PID START_TICKS BOOT_ID`, with - for what is not known. On any thread; uses no handle of handle.h. */
void self_process(struct textbuf *text);

/* Reads the beginning of a file, NUL-terminated. Returns its length, -1 where it cannot be read. */
ssize_t self_read_file(const char *path, char *buf, size_t size);

/* Milliseconds, for differences. */
uint64_t self_clock(void);
