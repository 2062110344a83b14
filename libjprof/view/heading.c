#include "view/heading.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

char *jp_thread_heading(struct jp_arena *arena, const char *label, const char *wanted)
{
	char text[64];
	bool number = strspn(wanted, "0123456789") == strlen(wanted);
	if (label && !strcmp(label, wanted))
		snprintf(text, sizeof text, "%.*s", (int)(strcspn(label, " ") < 31 ? strcspn(label, " ") : 31), label);
	else
		snprintf(text, sizeof text, "%s%.60s", number ? "t" : "", wanted);
	return jp_arena_dup(arena, text, strlen(text));
}
