#include "cli/textstream.h"

#include <stdlib.h>

#include "base/strbuf.h"

/* What a stream of textstream_open() has. */
struct textstream {
	struct jp_strbuf kept;
	char **text;
	size_t *len;
};

static ssize_t textstream_add(void *cookie, const char *data, size_t len)
{
	struct textstream *t = cookie;
	jp_strbuf_add(&t->kept, data, len);
	return t->kept.failed ? 0 : (ssize_t)len;
}

static int textstream_end(void *cookie)
{
	struct textstream *t = cookie;
	jp_strbuf_str(&t->kept, "");
	bool whole = !t->kept.failed;
	if (!whole)
		jp_strbuf_release(&t->kept);
	*t->text = t->kept.text;
	*t->len = t->kept.len;
	free(t);
	return whole ? 0 : -1;
}

FILE *textstream_open(char **text, size_t *len)
{
	struct textstream *t = calloc(1, sizeof *t);
	*text = NULL;
	*len = 0;
	if (!t)
		return NULL;
	t->text = text;
	t->len = len;
	FILE *file = fopencookie(t, "w", (cookie_io_functions_t){ .write = textstream_add, .close = textstream_end });
	if (file)
		setvbuf(file, NULL, _IONBF, 0); /* its own buffer would be one more allocation */
	else
		free(t);
	return file;
}

bool textstream_closed(FILE *stream, char **text)
{
	bool whole = !fclose(stream) && *text;
	if (!whole) {
		free(*text);
		*text = NULL;
	}
	return whole;
}
