/* jprof bundle -o FILE [PROGRAM] DUMP...: a bundle of files gathered by hand. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/budget.h"
#include "cli/bundlefile.h"
#include "cli/ending.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "commands.h"
#include "report/load.h"

enum when { SYMBOLS_NOW, SYMBOLS_LATER };
enum { longest_sidecar = 16 << 20 }; /* bytes */

struct bundle_options {
	struct options common; /* where symbols are looked for; and the operands */
	const char *output, *label, *mode;
	const char *stats, *status, *smaps, *gcstat;
	enum when symbols;
	bool gzip;
};

#define BUNDLE_AT(member) offsetof(struct bundle_options, member)
#define COMMON(member) offsetof(struct bundle_options, common.member)

static const struct opt_row bundle_rows[] = {
	{ "output", OPT_TEXT, BUNDLE_AT(output), 0, NULL, "FILE",
	  "the bundle to make; -o FILE is the same. Nothing is overwritten" },
	{ "label", OPT_TEXT, BUNDLE_AT(label), 0, NULL, "TEXT", "what to call it: boot, warm, steady ..." },
	{ "stats", OPT_TEXT, BUNDLE_AT(stats), 0, NULL, "FILE", "what malloc_stats_print wrote with \"J\"" },
	{ "status", OPT_TEXT, BUNDLE_AT(status), 0, NULL, "FILE", "the process's /proc/PID/status" },
	{ "smaps", OPT_TEXT, BUNDLE_AT(smaps), 0, NULL, "FILE", "its /proc/PID/smaps_rollup, or smaps" },
	{ "maps", OPT_TEXT, COMMON(maps), 0, NULL, "FILE|PID",
	  "its /proc/PID/maps: used if the dump was cut before its own" },
	{ "gcstat", OPT_TEXT, BUNDLE_AT(gcstat), 0, NULL, "FILE", "GC.stat of a Ruby, as JSON" },
	{ "symbols", OPT_WORD, BUNDLE_AT(symbols), 0, NULL, "now|later",
	  "put the names of the dump's addresses in (now, the default), or build-ids alone, for files that the reader has" },
	{ "mode", OPT_TEXT, BUNDLE_AT(mode), 0, NULL, "0644",
	  "the bundle's mode, in octal (0600: for its owner alone)" },
	{ "gzip", OPT_SWITCH, BUNDLE_AT(gzip), 0, NULL, NULL, "compresses with gzip instead of zstd" },
	OPTIONS_LOOKUP(COMMON),
	{ "help", OPT_SWITCH, COMMON(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table bundle_table = { .rows = bundle_rows,
	                                       .count = sizeof bundle_rows / sizeof *bundle_rows,
	                                       .help = "jprof bundle --help" };

/* The work on one bundle. */
struct bundling {
	const struct bundle_options *o;
	const struct inputs *inputs;
	struct jprof_bundle_writer *writer;
};

static bool said(int rc, const struct jprof_error *err)
{
	if (rc)
		say_error(err);
	return !rc;
}

/* ---- files ---------------------------------------------------------------------------------------- */

/* Opens a file that the user named; a directory or a device is refused. -1 after having said so. */
static int open_dump_file(const char *path)
{
	struct stat st;
	if (!strcmp(path, "-")) {
		say("standard input cannot be put into a bundle: write it to a file first");
		return -1;
	}
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st)) {
		say("%s: cannot be opened: %s", path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		say("%s: is no file; jprof bundle takes files only", path);
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool add_file(struct bundling *b, const char *name, const char *path)
{
	struct jprof_error err;
	int fd = path ? open_dump_file(path) : -1;
	if (fd < 0)
		return !path;
	bool good = said(jprof_bundle_writer_fd(b->writer, name, fd, &err), &err);
	close(fd);
	return good;
}

/* How a file begins, up to a NUL; "" if it is none. */
static void read_head(const char *path, char *head, size_t size)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, head, size - 1) : 0;
	head[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* The rollup has its name in the first line. */
static const char *smaps_name(const char *path)
{
	char head[512] = "";
	if (path)
		read_head(path, head, sizeof head);
	head[strcspn(head, "\n")] = '\0';
	return strstr(head, "[rollup]") ? "smaps_rollup" : "smaps";
}

/* --maps=PID, too. */
static bool add_maps(struct bundling *b)
{
	const char *word = b->o->common.maps;
	char path[64];
	struct stat st;
	if (!word || *word == '/' || strspn(word, "0123456789") != strlen(word) || strlen(word) > 19 ||
	    !stat(word, &st))
		return add_file(b, "maps", word);
	snprintf(path, sizeof path, "/proc/%s/maps", word);
	return add_file(b, "maps", path);
}

static bool add_gathered(struct bundling *b)
{
	const struct bundle_options *o = b->o;
	return add_maps(b) && add_file(b, smaps_name(o->smaps), o->smaps) && add_file(b, "status", o->status) &&
	       add_file(b, "stats.json", o->stats) && add_file(b, "gcstat.json", o->gcstat);
}

/* ---- the side-car ----------------------------------------------------------------------------------- */

/* Whether a file begins as the agent's side-cars do. */
static bool is_sidecar(const char *path)
{
	char head[256];
	read_head(path, head, sizeof head);
	return *head == '{' && strstr(head, "\"jprof_agent\"");
}

/* Whether a file begins as tables of Ruby stacks do. */
static bool is_table(const char *path)
{
	char head[32];
	read_head(path, head, sizeof head);
	return !strncmp(head, "jprof-table ", 12);
}

/* The dump's name with the suffix, also where the dump was compressed since; NULL: there is none. To be freed. */
static char *find_beside(const char *dump, const char *suffix, bool (*is_it)(const char *path))
{
	char *path;
	for (size_t at = 0; jp_name_beside(dump, suffix, &at, &path); free(path))
		if (!path || is_it(path))
			return path;
	return NULL;
}

/* ---- one dump ------------------------------------------------------------------------------------------ */

/* The build-ids of the side-car that goes into the bundle, for who reads that will have them. */
static bool take_sidecar_file(struct jprof_profile *profile, const char *path)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jprof_error err;
	return !path || (said(jp_file_read_most(path, longest_sidecar, &text, &err), &err) &&
	                 said(jprof_profile_sidecar(profile, shortage_text(&text), text.len, &err), &err));
}

/* The profile as a reader of the bundle will make it: other maps only where the dump has none. */
static struct jprof_profile *profile_of(const struct bundling *b, const struct jprof_dump *dump)
{
	struct jprof_maps *maps = NULL;
	struct jprof_profile *profile = NULL;
	struct jprof_error err;
	if (!jprof_dump_maps(dump) && b->o->common.maps && !load_maps(b->o->common.maps, &maps))
		return NULL;
	struct jprof_profile_opts opts = { .size = sizeof opts, .maps = maps };
	bool good = said(jprof_profile_new(dump, &opts, &profile, &err), &err);
	jprof_maps_free(maps);
	return good ? profile : NULL;
}

/* For --symbols=later a side-car tells all build-ids; without one the files are asked for theirs. */
static bool add_symbols(struct bundling *b, const char *path, const struct jprof_dump *dump, const char *sidecar)
{
	bool now = b->o->symbols == SYMBOLS_NOW;
	char *one = (char *)(uintptr_t)path;
	struct inputs inputs = { .program = b->inputs->program, .dumps = &one, .dump_count = 1 };
	struct jprof_error err;
	if (!now && sidecar)
		return true;
	struct jprof_profile *profile = profile_of(b, dump);
	bool good = profile && take_sidecar_file(profile, sidecar) && load_names(profile, &inputs, &b->o->common) &&
	            said(jprof_bundle_writer_symbols(b->writer, profile, now, &err), &err);
	jprof_profile_free(profile);
	return good;
}

static bool add_member(struct bundling *b, const char *path, const struct jprof_dump *dump)
{
	struct jprof_bundle_member member = { .size = sizeof member, .pid = pid_of_dump(path), .label = b->o->label };
	struct jprof_error err;
	char *sidecar = find_beside(path, ".json", is_sidecar), *table = find_beside(path, ".ruby", is_table);
	bool good = said(jprof_bundle_writer_member(b->writer, &member, &err), &err) &&
	            add_file(b, "agent.json", sidecar) && add_file(b, "dump.heap", path) &&
	            add_file(b, "frames", table) && (!dump || add_symbols(b, path, dump, sidecar)) && add_gathered(b);
	free(sidecar);
	free(table);
	return good;
}

/* A profile.proto is taken as it is: it has its own names. */
static bool check_other(const char *path)
{
	struct jprof_bundle *bundle;
	struct jprof_profile *profile = NULL;
	struct jprof_error err;
	int rc = jprof_bundle_open(path, &bundle, &err);
	if (!rc) {
		jprof_bundle_free(bundle);
		say("%s: is a bundle already", path);
		return false;
	}
	if (rc == JPROF_E_NOMEM)
		return said(rc, &err);
	bool good = said(jprof_profile_open(path, NULL, &profile, &err), &err);
	jprof_profile_free(profile);
	return good;
}

static bool add_dump(struct bundling *b, const char *path)
{
	bool other = false;
	int fd = open_dump_file(path);
	if (fd < 0)
		return false;
	close(fd);
	struct jprof_dump *dump = load_dump(path, &b->o->common, &other);
	bool good = (dump || (other && check_other(path))) && add_member(b, path, dump);
	jprof_dump_free(dump);
	return good;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

/* Signals wait only where the file has a name that it must not keep. */
static bool put_bundle(struct bundling *b, struct newfile *file)
{
	struct jprof_error err;
	sigset_t before;
	ending_hold(&before);
	bool good = bundle_file_open(file, b->o->output, b->o->mode);
	if (good && !file->part)
		ending_release(&before);
	if (good) {
		int rc = jprof_bundle_writer_finish(b->writer, &err);
		good = rc == JPROF_E_WRITE || said(rc, &err); /* newfile_commit says why it cannot be written */
	}
	good = good && !shortage_say();
	if (good)
		good = newfile_commit(file);
	else
		newfile_abandon(file);
	ending_release(&before);
	return good;
}

static bool can_put(const struct bundle_options *o)
{
	sigset_t before;
	ending_hold(&before);
	bool good = bundle_file_try(o->output, o->mode);
	ending_release(&before);
	return good;
}

static bool write_bundle(struct bundling *b)
{
	struct jprof_bundle_writer_opts opts = { .size = sizeof opts,
		                                 .compression = b->o->gzip ? JPROF_COMPRESS_GZIP : JPROF_COMPRESS_BEST,
		                                 .label = b->o->label };
	struct newfile file = { .fd = -1 };
	struct jprof_error err;
	if (!can_put(b->o))
		return false;
	bool good = said(jprof_bundle_writer_new(&opts, newfile_write, &file, &b->writer, &err), &err);
	for (int i = 0; good && i < b->inputs->dump_count; i++)
		good = add_dump(b, b->inputs->dumps[i]);
	good = good && put_bundle(b, &file);
	jprof_bundle_writer_free(b->writer);
	return good;
}

static bool check_bundle_options(const struct bundle_options *o, const struct inputs *inputs)
{
	const char *only_one = o->stats         ? "stats"
	                       : o->status      ? "status"
	                       : o->smaps       ? "smaps"
	                       : o->gcstat      ? "gcstat"
	                       : o->common.maps ? "maps"
	                                        : NULL;
	if (!o->output)
		say("no file given for the bundle: -o FILE.jprof");
	else if (only_one && inputs->dump_count > 1)
		say("--%s belongs to one dump: give one, or leave it out", only_one);
	else
		return bundle_mode_good(o->mode);
	return false;
}

static void bundle_help(void)
{
	printf("usage: jprof bundle -o FILE.jprof [OPTIONS] [PROGRAM] DUMP...\n"
	       "\n"
	       "Puts dumps and the names of their addresses into one file. Any machine can read\n"
	       "it, without the programs that ran. The agent's sidecars (DUMP.json) and tables\n"
	       "of Ruby stacks (DUMP.ruby) go with the dumps.\n"
	       "\n");
	opt_help(&bundle_table, 0);
	printf("\n"
	       "  jprof bundle -o boot.jprof --label=boot app.1.0.i0.heap\n"
	       "  jprof bundle -o x.jprof --smaps=smaps_rollup --sysroot=image ruby app.heap\n");
}

int cmd_bundle(int argc, char **argv)
{
	struct bundle_options o = { .symbols = SYMBOLS_NOW };
	struct inputs inputs = { 0 };
	o.common.operands = argv + 1;
	o.common.command = "bundle";
	if (!opt_parse(&bundle_table, &o, argc, argv, &o.common.operand_count))
		return 1;
	if (o.common.help) {
		bundle_help();
		return 0;
	}
	struct bundling b = { .o = &o, .inputs = &inputs };
	bool good = budget_watch(o.common.max_memory) && inputs_find(&inputs, &o.common) &&
	            check_bundle_options(&o, &inputs) && write_bundle(&b);
	free(inputs.program);
	return good ? 0 : 1;
}
