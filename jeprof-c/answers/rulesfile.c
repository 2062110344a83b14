#include "answers/rulesfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

bool rules_load(const char *path, char **text, size_t *len)
{
	enum { most = 1 << 20 };
	*text = NULL;
	*len = 0;
	if (!path)
		return true;
	FILE *file = fopen(path, "re");
	*len = file && (*text = malloc(most)) ? fread(*text, 1, most, file) : 0;
	bool good = file && *text && !ferror(file) && *len < most;
	if (!good) {
		say("%s: cannot be read as rules: %s", path, *len == most ? "it is larger than 1 MB" : strerror(errno));
		free(*text);
		*text = NULL;
		*len = 0;
	}
	if (file)
		fclose(file);
	return good;
}
