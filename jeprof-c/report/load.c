#include "report/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cachedir.h"
#include "cli/filesread.h"
#include "cli/names.h"
#include "cli/packdirs.h"
#include "cli/progress.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/wholefile.h"
#include "report/allformats.h"
#include "report/order.h"

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
	ssize_t n = file_begin(path, head, sizeof head);
	return jprof_dump_probe(head, n > 0 ? (size_t)n : 0);
}

/* An ELF file or a script: a shim in front of a program is one. */
static bool is_program(const char *path)
{
	char head[4] = "";
	ssize_t n = file_begin(path, head, sizeof head);
	return n < 0 || (n == 4 && !memcmp(head, "\177ELF", 4)) || (n >= 2 && !memcmp(head, "#!", 2));
}

/* The path of the program that a word means: a file here, or else one in PATH. */
static char *find_program(const char *word, bool *from_path)
{
	struct stat st;
	bool here = !stat(word, &st);
	*from_path = false;
	if (here && S_ISREG(st.st_mode))
		return shortage_note(strdup(word));
	*from_path = !strchr(word, '/'); /* also where a directory here has that name */
	char *found = *from_path ? program_in_path(word) : NULL;
	if (!found && here)
		say("%s: is no file; the order is: jprof PROGRAM DUMP", word);
	else if (!found && (strstr(word, ".heap") || strstr(word, ".jprof")))
		say("%s: cannot be opened: %s", word, strerror(ENOENT));
	else if (!found)
		say("%s: %s%s; without PROGRAM the dump's own maps are used", word, strerror(ENOENT),
		    strchr(word, '/') ? "" : ", here or in PATH");
	return found;
}

/* Whether a profile may be of a program that was found in PATH: its maps name that file, links followed, or a file of
 * that name; or they name none at all. Who gives a path knows what he means. */
static bool is_of_program(const struct jprof_profile *profile, const struct inputs *inputs)
{
	if (!inputs->from_path)
		return true;
	char *real = shortage_note(realpath(inputs->program, NULL));
	bool named = false;
	size_t files = 0;
	for (size_t i = 0; i < jprof_profile_objects(profile) && !named; i++) {
		const char *path = jprof_profile_object(profile, i);
		files += *path == '/';
		named = !strcmp(jp_basename(path), jp_basename(inputs->program)) || (real && !strcmp(path, real));
	}
	free(real);
	return named || !files;
}

static bool check_is_program(const struct jprof_profile *profile, const struct inputs *inputs)
{
	bool good = is_of_program(profile, inputs);
	if (!good)
		say("%s: no command, no file here, and the dump is not of %s; leave it out, for the dump names its files",
		    jp_basename(inputs->program), inputs->program);
	return good;
}

/* Why there is none: an option may have taken it for its value. */
static void say_no_dump(const struct options *o)
{
	const char *base = o->base ? o->base : o->diff_base, *command = o->command ? o->command : "";
	if (base)
		say("no dump given but %s, which is the earlier one; give the later one, too", base);
	else if (o->pattern && !access(o->pattern, F_OK))
		say("no dump given: --%s=RE took %s for its pattern; give both", o->output, o->pattern);
	else if (o->file && !access(o->file, F_OK))
		say("no dump given: -o FILE took %s for the file to write; give both", o->file);
	else if (*command)
		say("no dump given; jprof %s --help shows how", command);
	else
		say("no dump given; usage: jprof [OPTIONS] [PROGRAM] DUMP..., see jprof --help");
}

bool inputs_find(struct inputs *inputs, const struct options *options)
{
	*inputs = (struct inputs){ .dumps = options->operands, .dump_count = options->operand_count };
	if (!inputs->dump_count) {
		say_no_dump(options);
		return false;
	}
	for (int i = 0; i < inputs->dump_count; i++)
		if (strstr(inputs->dumps[i], "://") && access(inputs->dumps[i], F_OK)) {
			say("%s: jprof never fetches profiles from a network; fetch it into a file first",
			    inputs->dumps[i]);
			return false;
		}
	if (inputs->dump_count == 1 || is_dump(inputs->dumps[0]))
		return true;
	inputs->program = find_program(inputs->dumps[0], &inputs->from_path);
	if (inputs->program && !is_program(inputs->program)) {
		say("%s: is neither a program nor a heap dump; the order is: jprof PROGRAM DUMP", inputs->program);
		free(inputs->program);
		inputs->program = NULL;
	}
	inputs->dumps++;
	inputs->dump_count--;
	return inputs->program;
}

/* ---- dumps ------------------------------------------------------------------------------------ */

/* Says the first of a dump's warnings, and how many more there are. */
static void say_warnings(const struct jprof_dump *dump, const char *path, const struct options *o)
{
	size_t warnings = jprof_dump_warnings(dump);
	if (!warnings)
		return;
	struct jprof_error first = *jprof_dump_warning(dump, 0);
	size_t len = strlen(first.text);
	if (!jprof_dump_maps(dump) && !o->maps)
		snprintf(first.text + len, sizeof first.text - len,
		         ", nothing can be named without maps (--maps=FILE|PID)");
	say_error(&first);
	if (warnings > 1)
		say("%s: %zu more warning%s like this", path, warnings - 1, warnings > 2 ? "s" : "");
}

struct jprof_dump *load_dump(const char *path, const struct options *o, bool *other)
{
	struct jprof_error err;
	struct jprof_dump *dump;
	progress_begin("reading", path);
	int rc = jprof_dump_open(path, &dump, &err);
	progress_end();
	*other = rc == JPROF_E_UNSUPPORTED && strcmp(path, "-");
	if (rc && !*other)
		say_error(&err);
	if (rc)
		return NULL;
	say_warnings(dump, path, o);
	return dump;
}

/* A PID is that of a process that runs here. */
bool load_maps(const char *word, struct jprof_maps **maps)
{
	struct jprof_error err;
	char path[64];
	bool pid = *word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 20 && !is_regular(word);
	*maps = NULL;
	if (pid)
		snprintf(path, sizeof path, "/proc/%s/maps", word);
	if (!jprof_maps_open(pid ? path : word, maps, &err))
		return true;
	say_error(&err);
	return false;
}

/* What the work on one command line needs. */
struct loading {
	const struct inputs *inputs;
	const struct options *o;
	struct jprof_maps *maps;
	const char *thread; /* as jprof_profile_opts has it */
	int unknown;        /* dumps without the thread asked for */
};

/* A thread that this dump does not have is no fault where others may have it. */
static void say_or_count(struct loading *w, int rc, const struct jprof_error *err)
{
	if (rc == JPROF_E_ARGUMENT)
		w->unknown++;
	else if (rc)
		say_error(err);
}

/* What was made for jeprof's readers has malloc's alone unless asked for more. */
static enum jprof_heap heap_of(const struct options *o)
{
	bool foreign = o->as_jeprof || (o->output && (!strcmp(o->output, "raw") || !strcmp(o->output, "callgrind")));
	if (o->heap != HEAP_USUAL)
		return (enum jprof_heap)o->heap;
	return foreign ? JPROF_HEAP_MALLOC : JPROF_HEAP_ALL;
}

static struct jprof_profile_opts profile_opts(const struct loading *w)
{
	return (struct jprof_profile_opts){ .size = sizeof(struct jprof_profile_opts),
		                            .maps = w->maps,
		                            .thread = w->thread,
		                            .member = w->o->member,
		                            .heap = heap_of(w->o),
		                            .samples =
		                                w->o->unreachable ? JPROF_SAMPLES_UNREACHABLE : JPROF_SAMPLES_ALL,
		                            .worker = w->o->labels ? "*" : NULL };
}

/* The snapshot in memory that a path means; NULL: it is a file. */
static const struct live_input *live_of(const struct inputs *inputs, const char *path)
{
	for (size_t i = 0; i < inputs->live_count; i++)
		if (inputs->live[i].name == path)
			return &inputs->live[i];
	return NULL;
}

/* What is drawn on a terminal anew again and again gets no other lines, and who called jeprof none. */
static void begin_step(bool live, const struct options *o, const char *what, const char *path)
{
	if (!live && !o->as_jeprof)
		progress_begin(what, path);
}

/* On one line of 80 columns: which ones is said where there is room. */
static void say_added_up(const char *path, size_t count, const char *members)
{
	enum { room = 81 - sizeof "jprof: " };
	static const char all[] = "%s: %zu members are added up: %s; --member=NAME|PID|ROLE takes one";
	const char *name = jp_basename(path);
	if (snprintf(NULL, 0, all, name, count, members) <= room)
		say(all, name, count, members);
	else
		say("%s: %zu members are added up; --member=NAME takes one", name, count);
}

/* The profile of one file. What it has to note is said at the end, once for all files. */
static struct jprof_profile *profile_of_file(struct loading *w, struct loaded *l, const char *path)
{
	struct jprof_error err;
	struct jprof_profile_opts opts = profile_opts(w);
	struct jprof_profile *profile = NULL;
	const struct live_input *live = live_of(w->inputs, path);
	opts.dumpless = live ? live->dumpless : w->o->dumpless;
	begin_step(w->inputs->live_count, w->o, "reading", path);
	int rc = live ? jprof_profile_parse(live->data, live->len, path, &opts, &profile, &err)
	              : jprof_profile_open(path, &opts, &profile, &err);
	progress_end();
	say_or_count(w, rc, &err);
	l->warned = l->warned || (profile && jprof_profile_notes(profile));
	if (profile && !w->o->quiet && !live) {
		/* Of a bundle with several members all are taken, unless one is asked for. */
		const struct jprof_profile_info *info = jprof_profile_info(profile);
		if (info->inputs > 1)
			say_added_up(path, info->inputs, info->members);
	}
	return profile;
}

/* Adds a profile to the sum, which takes it over if it was empty. */
static bool add_to_sum(struct jprof_profile **sum, struct jprof_profile *profile)
{
	struct jprof_error err;
	if (!*sum) {
		*sum = profile;
		return true;
	}
	int rc = jprof_profile_add(*sum, profile, &err);
	jprof_profile_free(profile);
	if (rc)
		say_error(&err);
	return !rc;
}

static void say_no_thread(const struct loading *w)
{
	say("no thread %s in %s; jprof info lists its threads", w->o->thread, w->inputs->dumps[0]);
}

static bool add_dumps(struct loading *w, struct loaded *l)
{
	const struct inputs *inputs = w->inputs;
	for (int i = 0; i < inputs->dump_count; i++) {
		int before = w->unknown;
		struct jprof_profile *profile = profile_of_file(w, l, inputs->dumps[i]);
		if (!profile && w->unknown == before)
			return false;
		if (profile && w->o->member && !*jprof_profile_info(profile)->members) {
			say("%s: is no bundle, so it has no member %s", inputs->dumps[i], w->o->member);
			jprof_profile_free(profile);
			return false;
		}
		if (profile && !add_to_sum(&l->profile, profile))
			return false;
	}
	if (!l->profile && (w->o->base || w->o->diff_base)) {
		/* It may have ended since the base was made: all threads are read, and the one is looked for at the
		 * end. */
		w->thread = "*";
		return add_dumps(w, l);
	}
	if (!l->profile)
		say_no_thread(w);
	else if (inputs->dump_count > 1)
		say("%d dumps are added up; --diff_base=%s %s shows what grew between two of them", inputs->dump_count,
		    inputs->dumps[0], inputs->dumps[1]);
	return l->profile;
}

static bool subtract_base(struct loading *w, struct loaded *l)
{
	struct jprof_error err;
	const char *path = w->o->base ? w->o->base : w->o->diff_base;
	int before = w->unknown;
	if (!path)
		return true;
	struct jprof_profile *base = profile_of_file(w, l, path);
	if (!base)
		return w->unknown > before; /* a thread that did not exist then */
	bool alike = order_are_alike(l->profile, base, w->inputs->dumps[0], path);
	int rc = alike ? jprof_profile_difference(l->profile, base, &err) : 0;
	l->difference = alike && !rc;
	jprof_profile_free(base);
	if (rc)
		say_error(&err);
	return l->difference;
}

/* ---- two bundles ------------------------------------------------------------------------------ */

/* A bundle in a file; NULL: it is none. What is wrong with a file is said by who reads it as a dump. */
static struct jprof_bundle *bundle_in_file(const struct inputs *inputs, const char *path)
{
	struct jprof_bundle *bundle = NULL;
	const struct live_input *live = live_of(inputs, path);
	if (live)
		return jprof_bundle_parse(live->data, live->len, path, &bundle, NULL) ? NULL : bundle;
	return strcmp(path, "-") && is_regular(path) && !jprof_bundle_open(path, &bundle, NULL) ? bundle : NULL;
}

static void say_compared(const struct jprof_bundle *bundle, const char *path, const struct options *o)
{
	struct jp_strbuf list = { 0 };
	size_t count = 0, end = jprof_bundle_count(bundle);
	for (size_t i = jprof_bundle_find(bundle, o->member, 0); i < end;
	     i = jprof_bundle_find(bundle, o->member, i + 1)) {
		const struct jprof_bundle_member *m = jprof_bundle_member(bundle, i);
		bool role = *m->role;
		jp_strbuf_printf(&list, "%s%s%s%s%s", count ? ", " : "", m->name, role ? " (" : "", m->role,
		                 role ? ")" : "");
		count++;
	}
	if (count > 1 && !o->quiet)
		say_added_up(path, count, shortage_text(&list));
	jp_strbuf_release(&list);
}

/* Process by process. */
static bool compare_bundles(struct loading *w, struct loaded *l, const struct jprof_bundle *now,
                            const struct jprof_bundle *base)
{
	struct jprof_error err;
	struct jprof_profile_opts opts = profile_opts(w);
	const char *base_path = w->o->base ? w->o->base : w->o->diff_base;
	int rc = jprof_bundle_difference(now, base, &opts, &l->profile, &err);
	if (rc == JPROF_E_ARGUMENT)
		say_no_thread(w);
	else if (rc)
		say_error(&err);
	l->difference = !rc;
	l->warned = !rc && jprof_profile_notes(l->profile);
	if (rc)
		return false;
	say_compared(now, w->inputs->dumps[0], w->o);
	say_compared(base, base_path, w->o);
	return true;
}

/* All that the command line names. */
static bool load_all(struct loading *w, struct loaded *l)
{
	const char *base_path = w->o->base ? w->o->base : w->o->diff_base;
	struct jprof_bundle *now =
	    base_path && w->inputs->dump_count == 1 ? bundle_in_file(w->inputs, w->inputs->dumps[0]) : NULL;
	struct jprof_bundle *base = now ? bundle_in_file(w->inputs, base_path) : NULL;
	bool good = base ? compare_bundles(w, l, now, base) : add_dumps(w, l) && subtract_base(w, l);
	jprof_bundle_free(now);
	jprof_bundle_free(base);
	return good;
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

unsigned long long pid_of_dump(const char *path)
{
	static const char digits[] = "0123456789";
	const char *name = jp_basename(path), *end = strstr(name, ".heap");
	size_t len = end ? (size_t)(end - name) : 0;
	take_last(name, &len, digits);
	if (!take_last(name, &len, "fijmu") || !take_last(name, &len, ".") || !take_last(name, &len, digits) ||
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

static bool symbolize(struct jprof_profile *profile, const struct inputs *inputs, const struct options *o)
{
	struct jprof_error err;
	if (o->debuginfod) {
		/* What libdebuginfod only reads there: one try, and a time-out that one waits for. */
		setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
		setenv("DEBUGINFOD_TIMEOUT", "30", 0);
	}
	char *dirs = o->no_packs ? NULL : pack_dirs(), *cache = o->no_cache ? NULL : cache_dir();
	struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                             .names = o->no_packs ? NULL : o->names,
		                             .names_dirs = dirs,
		                             .cache = cache,
		                             .finder = sandbox_finder(o->no_sandbox),
		                             .program = inputs->program,
		                             .sysroot = o->sysroot,
		                             .lib_prefix = o->lib_prefix,
		                             .add_lib = o->add_lib,
		                             .debug_dir = o->debug_dir,
		                             .debuginfod = o->debuginfod,
		                             .perf_map = o->perf_map,
		                             .perf_map_pid = common_pid(inputs, o),
		                             .lean = o->lean,
		                             .notice = filesread_notice() };
	begin_step(inputs->live_count, o, "looking for names", "");
	int rc = jprof_profile_symbolize(profile, &opts, &err);
	sandbox_end(); /* what it has read takes memory */
	progress_end();
	free(dirs);
	free(cache);
	if (rc)
		say_error(&err);
	return !rc;
}

/* Says of a list of paths what is not there: it is passed over. jeprof does not look. */
static void note_missing_paths(const char *option, const char *list, const struct options *o)
{
	char path[PATH_MAX];
	while (!o->as_jeprof && jp_path_next(&list, path))
		if (access(path, F_OK))
			say("--%s=%s: %s; jprof goes on without it", option, path, strerror(errno));
}

bool load_names(struct jprof_profile *profile, const struct inputs *inputs, const struct options *o)
{
	if (!o->quiet) {
		note_missing_paths("lib_prefix", o->lib_prefix, o);
		note_missing_paths("add_lib", o->add_lib, o);
		note_missing_paths("debug-dir", o->debug_dir, o);
	}
	bool good = check_is_program(profile, inputs) && symbolize(profile, inputs, o);
	for (size_t i = 0; good && !o->quiet && i < jprof_profile_notes(profile); i++) {
		enum jprof_advice advice = jprof_profile_note_advice(profile, i);
		if (advice != JPROF_ADVICE_HEAP || o->heap == HEAP_USUAL)
			say_advised(jprof_profile_note(profile, i), advice);
	}
	return good;
}

/* Where all threads were read for the sake of one, it is chosen for views. */
static bool choose_thread(const struct loading *w, struct loaded *l)
{
	if (w->thread == w->o->thread)
		return true;
	l->thread = w->o->thread;
	struct jprof_view_opts opts = { .size = sizeof opts, .thread = l->thread };
	struct jprof_view *view;
	int rc = jprof_view_new(l->profile, &opts, &view, NULL);
	if (rc == JPROF_E_ARGUMENT)
		say_no_thread(w);
	if (!rc)
		jprof_view_free(view);
	return rc != JPROF_E_ARGUMENT;
}

/* A snapshot less itself is no answer. What is in memory was made one after the other, and one process of several may
 * have kept all it had. */
static bool is_no_difference(const struct loaded *l, const struct inputs *inputs, const struct options *o)
{
	return o->diff_base && !o->as_jeprof && !o->member && !inputs->live_count && inputs->dump_count == 1 &&
	       order_is_same(l->profile, inputs->dumps[0], o->diff_base);
}

bool load_profile(struct loaded *loaded, const struct inputs *inputs, const struct options *o)
{
	struct loading w = { .inputs = inputs, .o = o, .thread = o->thread };
	*loaded = (struct loaded){ .live = inputs->live_count };
	if (o->maps && !load_maps(o->maps, &w.maps))
		return false;
	bool good = load_all(&w, loaded) && !is_no_difference(loaded, inputs, o) &&
	            load_names(loaded->profile, inputs, o) && choose_thread(&w, loaded) && !shortage_say();
	jprof_maps_free(w.maps);
	if (!good)
		loaded_free(loaded);
	return good;
}

/* Whether the lines of Ruby are what a report is about, if nothing else is asked for. */
static bool has_sites(const struct loaded *l, const struct options *o)
{
	const struct jprof_format *format = format_find(o->output);
	return jprof_profile_info(l->profile)->has_ruby && o->ruby != JPROF_RUBY_OFF && !o->as_jeprof &&
	       o->fold != FOLD_NONE && format && format->sites;
}

struct jprof_view *load_view(const struct loaded *l, const struct options *o)
{
	struct jprof_view_opts opts = options_view(o);
	if (o->granularity == ROWS_USUAL && has_sites(l, o))
		opts.granularity = JPROF_BY_SITE;
	struct jprof_view *view;
	struct jprof_error err;
	opts.thread = l->thread;
	begin_step(l->live, o, "adding up", "");
	int rc = jprof_view_new(l->profile, &opts, &view, &err);
	progress_end();
	if (!rc)
		return view;
	say_error(&err);
	return NULL;
}

/* One dump, open already: in text, or a bundle's. */
static bool load_one(struct loaded *loaded, struct jprof_dump *dump, const char *path,
                     const struct jprof_bundle *bundle, size_t member, const struct inputs *inputs,
                     const struct options *o)
{
	struct loading w = { .inputs = inputs, .o = o, .thread = o->thread };
	struct jprof_error err;
	*loaded = (struct loaded){ 0 };
	if (o->maps && !load_maps(o->maps, &w.maps))
		return false;
	struct jprof_profile_opts opts = profile_opts(&w);
	int rc = bundle ? jprof_bundle_profile(bundle, member, &opts, &loaded->profile, &err)
	                : jprof_profile_take(dump, &opts, &loaded->profile, &err);
	if (!rc && dump && strcmp(path, "-"))
		rc = jprof_profile_find_sidecar(loaded->profile, path, &err);
	say_or_count(&w, rc, &err);
	bool good = loaded->profile && load_names(loaded->profile, inputs, o) && !shortage_say();
	jprof_maps_free(w.maps);
	if (!good)
		loaded_free(loaded);
	return good;
}

bool load_from_dump(struct loaded *loaded, struct jprof_dump *dump, const char *path, const struct inputs *inputs,
                    const struct options *o)
{
	return load_one(loaded, dump, path, NULL, 0, inputs, o);
}

bool load_from_bundle(struct loaded *loaded, const struct jprof_bundle *bundle, size_t member,
                      const struct inputs *inputs, const struct options *o)
{
	return load_one(loaded, NULL, NULL, bundle, member, inputs, o);
}

void loaded_free(struct loaded *loaded)
{
	jprof_profile_free(loaded->profile);
	*loaded = (struct loaded){ 0 };
}
