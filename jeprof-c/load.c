#include "load.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "say.h"

enum { probe_size = 512 };

/* ---- operands ------------------------------------------------------------------------------- */

static bool is_regular(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* A pipe cannot be looked into without eating it: it is taken for a dump. */
static bool is_dump(const char *path)
{
	char head[probe_size];
	struct stat st;
	if (!strcmp(path, "-") || stat(path, &st))
		return !strcmp(path, "-");
	if (!S_ISREG(st.st_mode))
		return S_ISFIFO(st.st_mode);
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(head, 1, sizeof head, file) : 0;
	if (file)
		fclose(file);
	return jprof_dump_probe(head, n);
}

static char *find_in_path(const char *name)
{
	const char *path = getenv("PATH");
	while (path && *path) {
		size_t len = strcspn(path, ":");
		char *full = NULL;
		if (len && asprintf(&full, "%.*s/%s", (int)len, path, name) < 0)
			return NULL;
		if (full && is_regular(full) && !access(full, X_OK))
			return full;
		free(full);
		path += len + (path[len] == ':');
	}
	return NULL;
}

static char *find_program(const char *word)
{
	struct stat st;
	if (!stat(word, &st)) {
		if (S_ISREG(st.st_mode))
			return strdup(word);
		say("%s: is no file; the order is: jprof PROGRAM DUMP", word);
		return NULL;
	}
	char *found = strchr(word, '/') ? NULL : find_in_path(word);
	if (!found)
		say("%s: %s%s", word, strerror(ENOENT), strchr(word, '/') ? "" : ", here or in PATH");
	return found;
}

bool inputs_find(struct inputs *inputs, const struct options *options)
{
	*inputs = (struct inputs){ .dumps = options->operands, .dump_count = options->operand_count };
	if (!inputs->dump_count) {
		say("no dump given; usage: jprof [OPTIONS] [PROGRAM] DUMP..., see jprof --help");
		return false;
	}
	if (inputs->dump_count == 1 || is_dump(inputs->dumps[0]))
		return true;
	inputs->program = find_program(inputs->dumps[0]);
	inputs->dumps++;
	inputs->dump_count--;
	return inputs->program;
}

/* ---- dumps ------------------------------------------------------------------------------------ */

/* --maps=FILE, or --maps=PID of a process that runs here. */
static bool load_maps(const char *word, struct jprof_maps **maps)
{
	struct jprof_error err;
	char path[64];
	bool pid = *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 20;
	*maps = NULL;
	if (!pid || is_regular(word))
		pid = false;
	else
		snprintf(path, sizeof path, "/proc/%s/maps", word);
	if (!jprof_maps_open(pid ? path : word, maps, &err))
		return true;
	say_error(&err);
	return false;
}

static struct jprof_profile *profile_of(const char *path, const struct jprof_maps *maps)
{
	struct jprof_error err;
	struct jprof_profile_opts opts = { .size = sizeof opts, .maps = maps };
	struct jprof_profile *profile;
	if (!jprof_profile_open(path, &opts, &profile, &err))
		return profile;
	say_error(&err);
	return NULL;
}

/* Adds `factor` times the dump to *sum, which may still be NULL. */
static bool add_dump(struct jprof_profile **sum, const char *path, const struct jprof_maps *maps, double factor,
                     enum jprof_counter counter, double *total)
{
	struct jprof_error err;
	struct jprof_profile *profile = profile_of(path, maps);
	if (!profile)
		return false;
	if (total)
		*total = jprof_profile_total(profile, counter);
	if (!*sum) {
		*sum = profile;
		return true;
	}
	int rc = jprof_profile_merge(*sum, profile, factor, &err);
	jprof_profile_free(profile);
	if (rc)
		say_error(&err);
	return !rc;
}

static bool add_dumps(struct jprof_profile **sum, const struct inputs *inputs, const struct options *o,
                      const struct jprof_maps *maps, double *base_total)
{
	const char *base = o->base ? o->base : o->diff_base;
	*base_total = 0;
	for (int i = 0; i < inputs->dump_count; i++)
		if (!add_dump(sum, inputs->dumps[i], maps, 1, o->counter, NULL))
			return false;
	if (inputs->dump_count > 1)
		say("%d dumps are added up; what grew between two of them shows --diff_base=%s %s", inputs->dump_count,
		    inputs->dumps[0], inputs->dumps[1]);
	return !base || add_dump(sum, base, maps, -1, o->counter, base_total);
}

static bool name_and_fold(struct jprof_profile *profile, const struct inputs *inputs, const struct options *o)
{
	struct jprof_error err;
	struct jprof_symbolize_opts opts = {
		.size = sizeof opts, .program = inputs->program, .sysroot = o->sysroot, .lib_prefix = o->lib_prefix
	};
	if (jprof_profile_symbolize(profile, &opts, &err) || jprof_profile_fold(profile, o->fold, &err)) {
		say_error(&err);
		return false;
	}
	for (size_t i = 0; i < jprof_profile_notes(profile); i++)
		say("%s", jprof_profile_note(profile, i));
	return true;
}

struct jprof_profile *load_profile(const struct inputs *inputs, const struct options *o, double *base_total)
{
	struct jprof_profile *profile = NULL;
	struct jprof_maps *maps = NULL;
	if (o->maps && !load_maps(o->maps, &maps))
		return NULL;
	if (!add_dumps(&profile, inputs, o, maps, base_total) || !name_and_fold(profile, inputs, o)) {
		jprof_profile_free(profile);
		profile = NULL;
	}
	jprof_maps_free(maps);
	return profile;
}
