#include "answers/rulesfile.h"

#include <errno.h>
#include <string.h>

#include "cli/say.h"
#include "cli/wholefile.h"

bool rules_load(const char *path, char **text, size_t *len)
{
	enum { most = (1 << 20) - 1 };
	*len = 0;
	*text = path ? file_whole(path, most, len) : NULL;
	if (path && !*text)
		say("%s: cannot be read as rules: %s", path,
		    errno == EFBIG ? "it is larger than 1 MB" : strerror(errno));
	return !path || *text;
}
