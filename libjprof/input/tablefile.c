#include "input/tablefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "input/dumpopen.h"
#include "input/rubytable.h"

/* ---- the file -------------------------------------------------------------------------------------------- */

/* All of an open file, which is closed. */
static int read_table_file(int fd, const struct stat *st, struct jp_table_text *found, struct jprof_error *err)
{
	struct jp_window jp_cleanup(jp_window_release) window = { .source = jp_bytesource_file(fd, found->name) };
	if (!window.source)
		return jp_error_nomem(err);
	if (st->st_size > jp_rubytable_limit) {
		jp_error(&found->error, JPROF_E_FORMAT, found->name, 0, "is larger than a table of Ruby stacks can be");
		return 0;
	}
	jp_window_fill(&window, (size_t)jp_rubytable_limit + 1);
	if (window.rc && window.rc != JPROF_E_NOMEM)
		found->error = window.err;
	else
		jp_strbuf_add(&found->text, window.text ? window.text + window.at : "", window.len - window.at);
	return window.rc == JPROF_E_NOMEM || found->text.failed ? jp_error_nomem(err) : 0;
}

/* 1: there is no such file. */
static int take_table_at(char *name, struct jp_table_text *found, struct jprof_error *err)
{
	struct stat st;
	int fd = jp_file_open_untrusted((struct jp_root){ 0 }, name, &st);
	if (fd < 0 && errno == ENOENT) {
		free(name);
		return 1;
	}
	found->name = name;
	if (fd >= 0)
		return read_table_file(fd, &st, found, err);
	jp_error(&found->error, JPROF_E_IO, name, 0, "cannot be opened: %s",
	         errno == EINVAL ? "it is no file" : strerror(errno));
	return 0;
}

int jp_tablefile_find(const char *path, struct jp_table_text *found, struct jprof_error *err)
{
	static const char *const endings[] = { "", ".gz", ".zst", ".xz", ".bz2" };
	size_t len = strlen(path);
	*found = (struct jp_table_text){ 0 };
	if (!strcmp(path, "-"))
		return 0;
	for (size_t i = 0; i < jp_count(endings); i++) {
		size_t n = strlen(endings[i]);
		char *name;
		if (n >= len || strcmp(path + len - n, endings[i]) != 0)
			continue;
		if (asprintf(&name, "%.*s.ruby", (int)(len - n), path) < 0)
			return jp_error_nomem(err);
		int rc = take_table_at(name, found, err);
		if (rc != 1)
			return rc;
	}
	return 0;
}

void jp_table_text_release(struct jp_table_text *found)
{
	free(found->name);
	jp_strbuf_release(&found->text);
	found->name = NULL;
}

/* ---- the dump with it ------------------------------------------------------------------------------------ */

static int use_table(struct jprof_dump *dump, const struct jp_checksum *sum, struct jp_span text, const char *name,
                     struct jprof_error *err)
{
	struct jp_rubytable *table;
	int rc = jp_rubytable_parse(text.ptr, text.len, name, &table, &dump->table_error);
	if (rc)
		return rc == JPROF_E_NOMEM ? jp_error_nomem(err) : 0;
	if (table->dump.size == sum->size && table->dump.fnv == sum->fnv) {
		dump->table = table;
		return 0;
	}
	jp_error(&dump->table_error, JPROF_E_FORMAT, name, 0,
	         "is the table of another dump, or the dump was changed or cut since");
	jp_rubytable_free(table);
	return 0;
}

int jp_dump_read_tabled(struct jp_stream *stream, struct jp_span table, const char *name, struct jprof_dump **out,
                        struct jprof_error *err)
{
	struct jprof_dump *dump;
	if (!table.ptr)
		return jp_dump_read(stream, out, err);
	int rc = jp_stream_sum(stream, err);
	if (!rc)
		rc = jp_dump_read(stream, &dump, err);
	if (rc)
		return rc;
	jp_stream_skip(stream);
	rc = use_table(dump, &stream->sum, table, name, err);
	if (rc)
		jprof_dump_free(dump);
	else
		*out = dump;
	return rc;
}

int jp_dump_read_beside(struct jp_stream *stream, const struct jp_table_text *found, struct jprof_dump **out,
                        struct jprof_error *err)
{
	struct jp_span text = { found->name && !found->error.code ? "" : NULL, 0 };
	struct jprof_dump *dump;
	if (found->text.len)
		text = (struct jp_span){ found->text.text, found->text.len };
	int rc = jp_dump_read_tabled(stream, text, found->name, &dump, err);
	if (rc)
		return rc;
	if (found->error.code)
		dump->table_error = found->error;
	*out = dump;
	return 0;
}

int jprof_dump_open(const char *path, struct jprof_dump **dump, struct jprof_error *err)
{
	if (jp_null(err, path, dump))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	struct jp_table_text jp_cleanup(jp_table_text_release) table = { 0 };
	int rc = jp_stream_open(&stream, path, err);
	if (!rc)
		rc = jp_tablefile_find(path, &table, err);
	return rc ? rc : jp_dump_read_beside(&stream, &table, dump, err);
}
