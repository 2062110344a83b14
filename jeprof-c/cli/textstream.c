#include "cli/textstream.h"

#include <stdlib.h>

#include "base/strbuf.h"

/* What a stream of memory_open() has. */
struct memory {
	struct jp_strbuf kept;
	char **text;
	size_t *len;
};

static ssize_t memory_add(void *cookie, const char *data, size_t len)
{
	struct memory *m = cookie;
	jp_strbuf_add(&m->kept, data, len);
	return m->kept.failed ? 0 : (ssize_t)len;
}

static int memory_end(void *cookie)
{
	struct memory *m = cookie;
	jp_strbuf_str(&m->kept, "");
	bool whole = !m->kept.failed;
	if (!whole)
		jp_strbuf_release(&m->kept);
	*m->text = m->kept.text;
	*m->len = m->kept.len;
	free(m);
	return whole ? 0 : -1;
}

FILE *memory_open(char **text, size_t *len)
{
	struct memory *m = calloc(1, sizeof *m);
	*text = NULL;
	*len = 0;
	if (!m)
		return NULL;
	m->text = text;
	m->len = len;
	FILE *file = fopencookie(m, "w", (cookie_io_functions_t){ .write = memory_add, .close = memory_end });
	if (file)
		setvbuf(file, NULL, _IONBF, 0); /* its own buffer would be one more allocation */
	else
		free(m);
	return file;
}

bool memory_closed(FILE *memory, char **text)
{
	bool whole = !fclose(memory) && *text;
	if (!whole) {
		free(*text);
		*text = NULL;
	}
	return whole;
}
