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

struct jprof_dump *load_dump(const char *path)
{
	struct jprof_error err;
	struct jprof_dump *dump;
	if (jprof_dump_open(path, &dump, &err)) {
		say_error(&err);
		return NULL;
	}
	if (jprof_dump_warnings(dump))
		say_error(jprof_dump_warning(dump, 0));
	if (jprof_dump_warnings(dump) > 1)
		say("%s: %zu more warnings of this kind", path, jprof_dump_warnings(dump) - 1);
	return dump;
}

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
	struct jprof_profile *profile = NULL;
	struct jprof_dump *dump = load_dump(path);
	if (dump && jprof_profile_new(dump, &opts, &profile, &err))
		say_error(&err);
	jprof_dump_free(dump);
	return profile;
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

/* ---- names ------------------------------------------------------------------------------------ */

/* Takes what `set` holds off the end of text[0..len); false if that is nothing or all. */
static bool take_last(const char *text, size_t *len, const char *set)
{
	size_t end = *len;
	while (*len && strchr(set, text[*len - 1]))
		--*len;
	return *len && *len < end;
}

/* PID of a dump that jemalloc named: PREFIX.PID.SEQ.KINDn.heap; 0 if the name is none of these. */
static unsigned long long pid_of_dump(const char *path)
{
	static const char digits[] = "0123456789";
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *end = strstr(name, ".heap");
	size_t len = end ? (size_t)(end - name) : 0;
	take_last(name, &len, digits);
	if (!take_last(name, &len, "fimu") || !take_last(name, &len, ".") || !take_last(name, &len, digits) ||
	    !take_last(name, &len, ".") || !take_last(name, &len, digits) || name[len - 1] != '.')
		return 0;
	return strtoull(name + len, NULL, 10);
}

/* The process that all dumps are of, or 0. */
static unsigned long long common_pid(const struct inputs *inputs, const struct options *o)
{
	const char *base = o->base ? o->base : o->diff_base;
	unsigned long long pid = pid_of_dump(inputs->dumps[0]);
	for (int i = 1; i < inputs->dump_count; i++)
		if (pid_of_dump(inputs->dumps[i]) != pid)
			return 0;
	return base && pid_of_dump(base) != pid ? 0 : pid;
}

/* What libdebuginfod only reads there: one try, and a time-out that one waits for. */
static void set_debuginfod_limits(void)
{
	setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
	setenv("DEBUGINFOD_TIMEOUT", "30", 0);
}

static bool name_and_fold(struct jprof_profile *profile, const struct inputs *inputs, const struct options *o)
{
	struct jprof_error err;
	if (o->debuginfod)
		set_debuginfod_limits();
	struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                             .program = inputs->program,
		                             .sysroot = o->sysroot,
		                             .lib_prefix = o->lib_prefix,
		                             .add_lib = o->add_lib,
		                             .debug_dir = o->debug_dir,
		                             .debuginfod = o->debuginfod,
		                             .perf_map = o->perf_map,
		                             .perf_map_pid = common_pid(inputs, o) };
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
