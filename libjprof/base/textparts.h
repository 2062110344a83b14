/* Texts that end in NUL: how they begin, and the last part of a path. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool jp_begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static inline bool jp_begins_any(const char *text, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (jp_begins(text, with[i]))
			return true;
	return false;
}

/* What stands behind all of these that the text begins with, one after the other. */
static inline const char *jp_behind_any(const char *text, const char *const *with, size_t count)
{
	for (size_t i = 0; i < count;) {
		bool begins = jp_begins(text, with[i]);
		text += begins ? strlen(with[i]) : 0;
		i = begins ? 0 : i + 1;
	}
	return text;
}

/* What stands behind the last slash. */
static inline const char *jp_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}
