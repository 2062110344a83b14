#include "report/overwrite.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/wholefile.h"

/* Standard input is "-". */
static bool leads_to(const char *path, const struct stat *output)
{
	struct stat st;
	return path && !(strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) &&
	       st.st_dev == output->st_dev && st.st_ino == output->st_ino;
}

/* False after having said that the path leads to the output. */
static bool is_other(const char *path, const struct stat *output)
{
	if (!leads_to(path, output))
		return true;
	say("%s: is read for this report, and is not overwritten by it; give another name with -o", path);
	return false;
}

static bool are_others(const char *list, const struct stat *output)
{
	char path[PATH_MAX];
	while (jp_path_next(&list, path))
		if (!is_other(path, output))
			return false;
	return true;
}

/* A report may have such a name, too: the first bytes show which it is. */
static bool begins_as_sidecar(const char *path)
{
	char head[64];
	ssize_t len = file_begin(path, head, sizeof head);
	return len > 0 && memmem(head, (size_t)len, "\"jprof_agent\"", strlen("\"jprof_agent\"")) != NULL;
}

/* What an agent wrote beside the dump, which is read with it: PATH.json, PATH.ruby without an ending of compression. */
static bool are_beside(const char *dump, const struct stat *output)
{
	char path[PATH_MAX], *table;
	bool others = true;
	size_t len = dump ? strlen(dump) : 0;
	if (!dump || len + sizeof ".ruby" > sizeof path)
		return true;
	snprintf(path, sizeof path, "%s.json", dump);
	if (leads_to(path, output) && begins_as_sidecar(path))
		return is_other(path, output);
	for (size_t at = 0; others && jp_name_beside(dump, ".ruby", &at, &table); free(table))
		others = !shortage_note(table) || is_other(table, output);
	return others;
}

static bool is_other_dump(const char *path, const struct stat *output)
{
	return is_other(path, output) && are_beside(path, output);
}

/* False after having said it. No report is a program or a library, and the dump names those that are read for it. */
static bool is_no_program(const char *file)
{
	char magic[4] = "";
	bool program = file && file_begin(file, magic, sizeof magic) == sizeof magic && !memcmp(magic, "\177ELF", 4);
	if (program)
		say("%s: is a program or a library, and is not overwritten by a report; give another name with -o",
		    file);
	return !program;
}

static bool is_output(const char *file, struct stat *output)
{
	return !(file ? stat(file, output) : fstat(STDOUT_FILENO, output)) && S_ISREG(output->st_mode);
}

bool overwrites_not(const char *file, const char *path)
{
	struct stat output;
	return !is_output(file, &output) || is_other(path, &output);
}

bool overwrites_no_input(const struct options *o, const struct inputs *inputs)
{
	struct stat output;
	if (!is_output(o->file, &output))
		return true;
	for (int i = 0; i < inputs->dump_count; i++)
		if (!is_other_dump(inputs->dumps[i], &output))
			return false;
	return is_other(inputs->program, &output) && is_other_dump(o->base, &output) &&
	       is_other_dump(o->diff_base, &output) && is_other(o->maps, &output) && is_other(o->perf_map, &output) &&
	       is_other(o->rules, &output) && are_others(o->add_lib, &output) && are_others(o->names, &output) &&
	       is_no_program(o->file);
}
