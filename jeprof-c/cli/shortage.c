#include "cli/shortage.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cli/say.h"

const char shortage_text[] = "out of memory, so what was found may be wrong and is not shown; free some, and try again";

static atomic_bool noted;

void shortage_begin(void)
{
	atomic_store(&noted, false);
}

void *shortage_note(void *got)
{
	if (!got && errno == ENOMEM)
		atomic_store(&noted, true);
	return got;
}

int shortage_note_code(int code)
{
	if (code == JPROF_E_NOMEM)
		atomic_store(&noted, true);
	return code;
}

bool shortage_unprinted(int length)
{
	if (length < 0)
		atomic_store(&noted, true);
	return length < 0;
}

char *shortage_close(FILE *memory, char **text)
{
	if (!fclose(memory))
		return *text;
	free(*text);
	*text = NULL;
	atomic_store(&noted, true);
	return NULL;
}

bool shortage_noted(void)
{
	return atomic_load(&noted);
}

bool shortage_say(void)
{
	if (shortage_noted())
		say("%s", shortage_text);
	return shortage_noted();
}
