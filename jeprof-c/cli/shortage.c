#include "cli/shortage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cli/say.h"

static atomic_bool shortage_is_noted, shortage_is_said;

void shortage_begin(void)
{
	atomic_store(&shortage_is_noted, false);
	atomic_store(&shortage_is_said, false);
}

void *shortage_note(void *got)
{
	if (!got && errno == ENOMEM)
		atomic_store(&shortage_is_noted, true);
	return got;
}

int shortage_note_code(int code)
{
	if (code == JPROF_E_NOMEM)
		atomic_store(&shortage_is_noted, true);
	return code;
}

bool shortage_unprinted(int length)
{
	if (length < 0)
		atomic_store(&shortage_is_noted, true);
	return length < 0;
}

char *shortage_close(FILE *memory, char **text)
{
	if (!textstream_closed(memory, text))
		atomic_store(&shortage_is_noted, true);
	return *text;
}

const char *shortage_text(const struct jp_strbuf *text)
{
	shortage_note_code(text->failed ? JPROF_E_NOMEM : 0);
	return text->text ? text->text : "";
}

char *shortage_take(struct jp_strbuf *text)
{
	jp_strbuf_str(text, "");
	shortage_note_code(text->failed ? JPROF_E_NOMEM : 0);
	if (text->failed)
		jp_strbuf_release(text);
	return text->text;
}

ssize_t shortage_line(char **line, size_t *cap, FILE *file)
{
	ssize_t len = getline(line, cap, file);
	if (len < 0 && errno == ENOMEM && !feof(file))
		atomic_store(&shortage_is_noted, true);
	return len;
}

bool shortage_noted(void)
{
	return atomic_load(&shortage_is_noted);
}

const char *shortage_why(void)
{
	atomic_store(&shortage_is_said, true);
	return "out of memory, so what was found may be wrong and is not shown; free some, and try again";
}

bool shortage_say(void)
{
	if (shortage_noted())
		say("%s", shortage_why());
	return shortage_noted();
}

bool shortage_say_late(void)
{
	if (!shortage_noted() || atomic_exchange(&shortage_is_said, true))
		return false;
	say("out of memory, so parts of what was printed may be missing; free some, and try again");
	return true;
}
