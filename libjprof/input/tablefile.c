#include "input/tablefile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "input/rubytable.h"

/* ---- the file -------------------------------------------------------------------------------------------- */

/* All of an open file, which is closed. */
static int read_table_file(int fd, const struct stat *st, struct jp_table_text *found, struct jprof_error *err)
{
	struct jp_window jp_cleanup(jp_window_release) window = { .source = jp_bytesource_file(fd, found->path) };
	if (!window.source)
		return jp_error_nomem(err);
	if (st->st_size > jp_rubytable_limit) {
		jp_error(&found->error, JPROF_E_FORMAT, found->path, 0, "is larger than a table of Ruby stacks can be");
		return 0;
	}
	jp_window_fill(&window, (size_t)jp_rubytable_limit + 1);
	if (window.rc && window.rc != JPROF_E_NOMEM)
		found->error = window.err;
	else
		jp_strbuf_add(&found->text, window.text ? window.text + window.at : "", window.len - window.at);
	if (window.rc == JPROF_E_NOMEM || found->text.failed)
		return jp_error_nomem(err);
	if (!window.rc)
		found->bytes = (struct jp_span){ found->text.len ? found->text.text : "", found->text.len };
	return 0;
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
	found->path = name;
	found->name = name;
	if (fd >= 0)
		return read_table_file(fd, &st, found, err);
	jp_error(&found->error, JPROF_E_IO, name, 0, "cannot be opened: %s",
	         errno == EINVAL ? "it is no file" : strerror(errno));
	return 0;
}

int jp_tablefile_find(const char *path, struct jp_table_text *found, struct jprof_error *err)
{
	char *name;
	*found = (struct jp_table_text){ 0 };
	for (size_t at = 0; jp_name_beside(path, ".ruby", &at, &name);) {
		int rc = name ? take_table_at(name, found, err) : jp_error_nomem(err);
		if (rc != 1)
			return rc;
	}
	return 0;
}

void jp_table_text_release(struct jp_table_text *found)
{
	free(found->path);
	jp_strbuf_release(&found->text);
	*found = (struct jp_table_text){ 0 };
}
