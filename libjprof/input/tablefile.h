/* A dump with the table of its Ruby stacks: found beside it, and used only if it is that of this very dump. */
#ifndef JP_INPUT_TABLEFILE_H
#define JP_INPUT_TABLEFILE_H

#include "base/strbuf.h"
#include "input/dumpdata.h"
#include "input/stream.h"

struct jp_table_text {
	char *name;               /* NULL: there is no table */
	struct jp_strbuf text;    /* empty if there is none, or it cannot be read */
	struct jprof_error error; /* why it cannot be read; code 0: it can */
};

/* Takes the table beside a dump that the user named: FILE.ruby, also where FILE was compressed since. None is no
 * error. To be released in any case. */
int jp_tablefile_find(const char *path, struct jp_table_text *found, struct jprof_error *err);

void jp_table_text_release(struct jp_table_text *text);

/* Reads a dump to its end, with its table: the text `table`, called `name` in messages. One that cannot be used is
 * noted in the dump, and no error. As jp_dump_read where table.ptr is NULL. */
int jp_dump_read_tabled(struct jp_stream *stream, struct jp_span table, const char *name, struct jprof_dump **dump,
                        struct jprof_error *err);

/* The same for what jp_tablefile_find found. */
int jp_dump_read_beside(struct jp_stream *stream, const struct jp_table_text *found, struct jprof_dump **dump,
                        struct jprof_error *err);

#endif
