#include "report/overwrite.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"

/* False after having said that the path leads to the output; standard input is "-". */
static bool is_other(const char *path, const struct stat *output)
{
	struct stat st;
	if (!path || (strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) || st.st_dev != output->st_dev ||
	    st.st_ino != output->st_ino)
		return true;
	say("%s: is read for this report, and is not overwritten by it; give another name with -o", path);
	return false;
}

static bool are_others(const char *list, const struct stat *output)
{
	char path[PATH_MAX];
	for (; list && *list; list += strcspn(list, ","), list += *list == ',')
		if ((size_t)snprintf(path, sizeof path, "%.*s", (int)strcspn(list, ","), list) < sizeof path &&
		    !is_other(path, output))
			return false;
	return true;
}

bool overwrites_no_input(const struct options *o, const struct inputs *inputs)
{
	struct stat output;
	if ((o->file ? stat(o->file, &output) : fstat(STDOUT_FILENO, &output)) || !S_ISREG(output.st_mode))
		return true;
	for (int i = 0; i < inputs->dump_count; i++)
		if (!is_other(inputs->dumps[i], &output))
			return false;
	return is_other(inputs->program, &output) && is_other(o->base, &output) && is_other(o->diff_base, &output) &&
	       is_other(o->maps, &output) && is_other(o->perf_map, &output) && are_others(o->add_lib, &output) &&
	       are_others(o->names, &output);
}
