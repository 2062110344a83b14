#include "cli/thrift.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"

/* Of a terminal, which breaks what is too long. */
static size_t lines_in(const char *text)
{
	const size_t columns = terminal_size().columns;
	size_t lines = 0;
	for (size_t len; *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		lines += len > columns ? (len + columns - 1) / columns : 1;
	}
	return lines;
}

size_t thrift_count(const char *text)
{
	size_t lines = 0;
	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

void thrift_put(FILE *to, unsigned lines, unsigned most, thrift_fn *put, const void *what)
{
	bool done = false;
	for (unsigned thrift = 0; !done && thrift <= most; thrift++) {
		char *text = NULL;
		size_t len;
		FILE *memory = shortage_note(textstream_open(&text, &len));
		if (!memory)
			return;
		put(memory, what, thrift);
		bool good = shortage_close(memory, &text);
		done = !good || !lines || thrift == most || lines_in(text) <= lines;
		if (good && done)
			fwrite(text, 1, len, to);
		free(text);
	}
}

unsigned thrift_lines(unsigned lines)
{
	enum { command_and_prompt = 2, least = 1 };
	size_t taken = say_lines() + command_and_prompt;
	return lines > taken ? lines - (unsigned)taken : lines ? least : 0;
}
