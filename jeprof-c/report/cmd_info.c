/* jprof info [PROGRAM] DUMP...: what a dump holds, and how sure its names are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "commands.h"
#include "jprof.h"
#include "report/brief.h"
#include "report/load.h"
#include "report/remedies.h"

static void put_time(int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[64];
	struct tm tm;
	if (seconds > 0 && gmtime_r(&t, &tm) && strftime(text, sizeof text, ", %Y-%m-%d %H:%M:%S UTC", &tm))
		fputs(text, stdout);
}

static void put_member_label(const char *label)
{
	if (*label) {
		printf(", label ");
		put_name(label);
	}
}

/* The number behind "\nKEY:" of a file of /proc; a file begins with a line of another kind, or with the key. */
static bool find_number(const char *text, const char *key, unsigned long long *number)
{
	size_t len = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, len) && line[len] == ':')
			return sscanf(line + len + 1, "%llu", number) == 1;
	return false;
}

/* In KiB; false: it was not gathered. */
static bool find_rss(const struct jprof_bundle *b, size_t i, unsigned long long *rss)
{
	const char *smaps = jprof_bundle_file(b, i, "smaps_rollup", NULL),
		   *status = jprof_bundle_file(b, i, "status", NULL);
	return (smaps && find_number(smaps, "Rss", rss)) || (status && find_number(status, "VmRSS", rss));
}

/* Sampled objects in use, as the head of a report counts them; false: that is not known. */
static bool find_samples(const struct jprof_bundle *b, size_t i, double *samples)
{
	struct jprof_profile *profile;
	struct jprof_range range;
	struct jprof_error err;
	int rc = jprof_bundle_profile(b, i, NULL, &profile, &err);
	if (rc == JPROF_E_NOMEM)
		say_error(&err);
	if (rc)
		return false;
	jprof_profile_range(profile, JPROF_INUSE_SPACE, &range);
	*samples = range.samples;
	jprof_profile_free(profile);
	return !isnan(range.error);
}

static void put_number(bool known, int width, int digits, double number)
{
	if (known)
		printf("%*.*f", width, digits, number);
	else
		printf("%*s", width, "-");
}

/* How many columns of a member's line stand before its title. */
static unsigned columns_before_title(const struct jprof_bundle_member *m)
{
	size_t name = strlen(m->name), role = strlen(m->role);
	return 54 + (unsigned)(name > 12 ? name - 12 : 0) + (unsigned)(role > 8 ? role - 8 : 0);
}

/* Of a title as much as its line has room for. */
static void put_short_title(const struct jprof_bundle_member *m, const char *title)
{
	unsigned columns = terminal_size().columns, before = columns_before_title(m);
	terminal_put_cut(stdout, title, columns > before + 20 ? columns - before : 20);
	putchar('\n');
}

/* `all`: with its label, its time, and whether it has names. */
static void put_member(const struct jprof_bundle *b, size_t i, bool all)
{
	const struct jprof_bundle_member *m = jprof_bundle_member(b, i);
	unsigned long long rss = 0;
	double samples = 0;
	printf("  ");
	put_name(m->name);
	printf("%*s", strlen(m->name) < 12 ? 12 - (int)strlen(m->name) : 0, "");
	put_number(m->pid, 9, 0, (double)m->pid);
	bool sampled = find_samples(b, i, &samples), resident = find_rss(b, i, &rss);
	put_number(sampled, 10, 0, samples);
	put_number(resident, 10, 1, (double)rss / 1024);
	printf("  ");
	put_name(*m->role ? m->role : "-");
	printf("%*s ", strlen(m->role) < 8 ? 8 - (int)strlen(*m->role ? m->role : "-") : 0, "");
	const char *title = *m->title ? m->title : *m->program ? m->program : "-";
	if (!all) {
		put_short_title(m, title);
		return;
	}
	put_name(title);
	if (strcmp(m->label, jprof_bundle_info(b)->label) != 0)
		put_member_label(m->label);
	put_time(m->time);
	printf("%s\n", jprof_bundle_file(b, i, "symbols.pb.gz", NULL) ? ", named by the bundle" : "");
}

/* Prints the list of a bundle's members, at most so many of them. Returns how many lines that are. */
static size_t put_members(const char *path, const struct jprof_bundle *b, size_t most)
{
	size_t count = jprof_bundle_count(b), shown = count > most ? most : count;
	const struct jprof_bundle_info *info = jprof_bundle_info(b);
	printf("%-10s ", "bundle");
	put_name(path);
	printf("\n%-10s ", "made by");
	put_name(*info->tool ? info->tool : "(not known)");
	put_member_label(info->label);
	put_time(info->time);
	printf("\n%-10s %zu\n", "members", jprof_bundle_count(b));
	printf("  %-12s %8s %9s %9s  %-8s %s\n", "name", "pid", "samples", "RSS MB", "role", "title");
	for (size_t i = 0; i < shown; i++)
		put_member(b, i, most == SIZE_MAX);
	if (shown < count)
		printf("  %zu more: jprof info --all\n", count - shown);
	return 4 + shown + (shown < count);
}

enum { header_lines = 7, most_members = 8 };

static const char nowhere[] = "(outside all mappings)";

/* Of a pair: what is in use, or as far behind it what was allocated. `profile` has all of it and knows how many samples
 * it is estimated from; NULL: that is left out. */
static void put_counters(const char *label, const double *total, const struct jprof_profile *profile,
                         enum jprof_counter counter)
{
	struct jprof_range range = { .samples = NAN };
	double objects = trunc(total[JPROF_INUSE_OBJECTS]);
	if (profile)
		jprof_profile_range(profile, counter, &range);
	printf("%-10s %.1f MB in %.0f object%s", label, total[JPROF_INUSE_SPACE] / mb, objects,
	       objects == 1 ? "" : "s");
	if (range.samples > 0 && !isnan(range.error))
		printf(" (estimated from %.0f sample%s)", range.samples, range.samples == 1 ? "" : "s");
	putchar('\n');
}

static void put_path(const char *path)
{
	printf("%-10s ", "dump");
	put_name(path);
	putchar('\n');
}

static void put_format(const char *format, uint64_t rate)
{
	printf("%-10s %s, ", "format", format);
	if (rate)
		printf("a sample every %llu bytes", (unsigned long long)rate);
	else
		printf("not sampled, or with a rate that is not known");
	if (rate && !(rate & (rate - 1)))
		printf(" (lg_prof_sample:%d)", (int)log2((double)rate));
	putchar('\n');
}

/* What is known of a profile that is no dump in text; of a bundle, whose lines stand above, in fewer lines. */
static size_t put_profile(const char *path, const struct jprof_profile *profile)
{
	const struct jprof_profile_info *info = jprof_profile_info(profile);
	double total[JPROF_COUNTERS];
	for (int c = 0; c < JPROF_COUNTERS; c++)
		total[c] = jprof_profile_total(profile, (enum jprof_counter)c);
	if (path)
		put_path(path);
	put_format(info->format, info->rate);
	if (path)
		printf("%-10s %zu, the deepest of %zu frames; %zu addresses\n", "stacks", info->stacks, info->depth,
		       info->addresses);
	put_counters("in use", total, profile, JPROF_INUSE_SPACE);
	if (info->has_alloc)
		put_counters("allocated", total + JPROF_ALLOC_SPACE, profile, JPROF_ALLOC_SPACE);
	return 2 + 2 * (path != NULL) + info->has_alloc + (info->synthetic != 0);
}

/* How many there are, and which has most. */
static void put_threads_brief(const struct jprof_dump *dump)
{
	size_t count = jprof_dump_info(dump)->threads, most = 0;
	printf("%-10s %zu", "threads", count);
	for (size_t i = 1; i < count; i++)
		if (jprof_dump_thread(dump, i)->total[JPROF_INUSE_SPACE] >
		    jprof_dump_thread(dump, most)->total[JPROF_INUSE_SPACE])
			most = i;
	const struct jprof_dump_thread *t = jprof_dump_thread(dump, most);
	if (count > 1) {
		printf("; the largest is t%llu with %.1f MB", (unsigned long long)t->id,
		       t->total[JPROF_INUSE_SPACE] / mb);
		fputs(*t->name ? ", " : "", stdout);
		put_name(t->name);
	}
	putchar('\n');
}

static void put_threads(const struct jprof_dump *dump)
{
	size_t count = jprof_dump_info(dump)->threads;
	printf("%-10s %zu\n", "threads", count);
	for (size_t i = 0; i < count; i++) {
		const struct jprof_dump_thread *t = jprof_dump_thread(dump, i);
		printf("  t%-6llu %8.1f MB %10.0f objects  ", (unsigned long long)t->id,
		       t->total[JPROF_INUSE_SPACE] / mb, trunc(t->total[JPROF_INUSE_OBJECTS]));
		put_name(t->name);
		putchar('\n');
	}
}

static const char *const sources[JPROF_SOURCES] = {
	[JPROF_SOURCE_NONE] = "none", [JPROF_SOURCE_FDE] = "FDE",       [JPROF_SOURCE_REGISTERED] = "registered",
	[JPROF_SOURCE_PACK] = "pack", [JPROF_SOURCE_DYNSYM] = "dynsym", [JPROF_SOURCE_SYMTAB] = "symtab",
	[JPROF_SOURCE_JIT] = "JIT",   [JPROF_SOURCE_DWARF] = "DWARF",   [JPROF_SOURCE_INPUT] = "input",
	[JPROF_SOURCE_RUBY] = "Ruby",
};
static const char *const proofs[] = { "no file", "another", "unverified", "same inode", "same build", "not needed" };

/* Columns of the table, from the best source on: those that most files have, and those that any has. `sum` is that of
 * all files. */
static bool has_column(int source, const uint64_t *sum)
{
	return sum[source] ||
	       (source != JPROF_SOURCE_RUBY && source != JPROF_SOURCE_PACK && source != JPROF_SOURCE_REGISTERED);
}

static int column_width(int source)
{
	size_t len = strlen(sources[source]);
	return len > 7 ? (int)len : 7;
}

/* One line of the table: MB in all and by source. `addresses` tells "none" from "none in MB". */
static void put_row(const uint64_t *columns, const double *bytes, const uint64_t *addresses, double all,
                    const char *proof, const char *path)
{
	double sum = 0;
	for (int s = 0; s < JPROF_SOURCES; s++)
		sum += bytes[s];
	printf("%9.1f %5.1f%%", sum / mb, all != 0 ? sum * 100 / all : 0);
	for (int s = JPROF_SOURCES - 1; s >= 0; s--)
		if (has_column(s, columns) && (bytes[s] != 0 || addresses[s]))
			printf(" %*.1f", column_width(s), bytes[s] / mb);
		else if (has_column(s, columns))
			printf(" %*s", column_width(s), "-");
	printf("  %-10s  ", proof);
	put_name(path);
	putchar('\n');
}

/* What would name the rest, once for each file that something is missing of. */
static void put_advice(const struct jprof_coverage *c, const struct remedies *remedies)
{
	bool any = false;
	for (size_t i = 0; i < jprof_coverage_count(c); i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(c, i);
		if (!*remedy_of(remedies, i))
			continue;
		printf("%s  ", any ? "" : "\nwhat would name the rest\n");
		any = true;
		put_name(*f->path ? f->path : nowhere);
		printf("\n      ");
		terminal_put_rest(6, remedy_of(remedies, i));
	}
	if (*remedy_command(remedies)) {
		puts("all of these packages:");
		terminal_wrap_command(stdout, remedy_command(remedies), terminal_size().columns);
	}
}

static void put_coverage(const struct jprof_coverage *c, const struct remedies *remedies)
{
	double all[JPROF_SOURCES] = { 0 }, sum = 0, unverified = 0;
	uint64_t addresses[JPROF_SOURCES] = { 0 };
	for (size_t i = 0; i < jprof_coverage_count(c); i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(c, i);
		for (int s = 0; s < JPROF_SOURCES; s++) {
			sum += f->bytes[s];
			all[s] += f->bytes[s];
			addresses[s] += f->addresses[s];
			if (f->proof == JPROF_PROOF_UNVERIFIED)
				unverified += f->bytes[s];
		}
	}
	printf("\nwhich file named how many MB, by innermost frame (not the allocator's):\n");
	printf("%9s %6s", "MB", "");
	for (int s = JPROF_SOURCES - 1; s >= 0; s--)
		if (has_column(s, addresses))
			printf(" %*s", column_width(s), sources[s]);
	printf("  %-10s  %s\n", "file is", "file");
	for (size_t i = 0; i < jprof_coverage_count(c); i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(c, i);
		put_row(addresses, f->bytes, f->addresses, sum, proofs[f->proof], *f->path ? f->path : nowhere);
	}
	put_row(addresses, all, addresses, sum, "", "all");
	printf("\n%.1f %% of the bytes have a function's name (all but FDE and none).\n",
	       jprof_coverage_named(c) * 100);
	if (unverified > 0)
		printf("%.1f MB lie in unverified files: nothing proves that these are the ones that\n"
		       "ran, and nothing contradicts it.\n",
		       unverified / mb);
	put_advice(c, remedies);
}

/* `taken`: how many lines were printed before. */
static int show_names(const struct jprof_view *view, const struct options *o, size_t taken)
{
	struct jprof_coverage *coverage;
	struct jprof_error err;
	unsigned lines = isatty(STDOUT_FILENO) ? terminal_size().lines : 0;
	if (jprof_coverage_new(view, &coverage, &err)) {
		say_error(&err);
		return 1;
	}
	lines = (lines ? lines : 24) - 2; /* the command that was typed, and the prompt after it */
	bool good = false;
	struct remedies *remedies = o->all ? remedies_new(coverage, o) : NULL;
	if (remedies)
		put_coverage(coverage, remedies);
	else if (o->all)
		say("memory is short");
	else
		good = put_brief(coverage, o, lines > taken ? lines - taken : 0);
	good = good || remedies;
	remedies_free(remedies);
	jprof_coverage_free(coverage);
	return good ? 0 : 1;
}

static int write_out(void *context, const void *data, size_t len)
{
	(void)context;
	return fwrite(data, 1, len, stdout) == len ? 0 : -1;
}

/* --json; `dump` is NULL for a profile that is none in text. */
static int show_json(const struct jprof_view *view, const struct jprof_dump *dump)
{
	struct jprof_error err;
	const struct jprof_report_opts opts = { .size = sizeof opts, .advice_words = advice_after };
	int rc = jprof_render_info(view, dump, &opts, write_out, NULL, &err);
	if (rc && rc != JPROF_E_WRITE) /* main looks after standard output */
		say_error(&err);
	return rc ? 1 : 0;
}

static bool wants_json(const struct options *o)
{
	return options_form(o) == FORM_JSON;
}

static void put_dump(const char *path, const struct jprof_dump *dump, const struct options *o, const struct loaded *l)
{
	/* `profile`: see put_counters. */
	const struct jprof_dump_info *info = jprof_dump_info(dump);
	const struct jprof_profile *profile = o->thread ? NULL : l->profile;
	put_path(path);
	put_format(info->format, info->rate);
	printf("%-10s %zu, the deepest of %zu frames; %zu addresses\n", "stacks", info->stacks, info->depth,
	       info->addresses);
	put_counters("in use", info->total, profile, JPROF_INUSE_SPACE);
	if (info->has_alloc)
		put_counters("allocated", info->total + JPROF_ALLOC_SPACE, profile, JPROF_ALLOC_SPACE);
	else
		printf("%-10s not recorded (prof_accum:false)\n", "allocated");
	if (o->all)
		put_threads(dump);
	else
		put_threads_brief(dump);
	const struct jprof_maps *maps = jprof_dump_maps(dump);
	size_t code = 0, count = maps ? jprof_maps_count(maps) : 0;
	for (size_t i = 0; i < count; i++)
		code += jprof_maps_at(maps, i)->executable;
	if (maps)
		printf("%-10s %zu mappings, %zu with code\n", "maps", count, code);
	else
		printf("%-10s none in the dump\n", "maps");
}

/* What the agent added to stacks. */
static void put_synthetic(const struct jprof_profile *profile)
{
	const struct jprof_profile_info *info = jprof_profile_info(profile);
	if (info->synthetic)
		printf("%-10s %zu addresses stand for Ruby stacks and epochs%s\n", "agent", info->synthetic,
		       info->has_ruby ? "" : ", and were taken off");
}

/* What a limit of frames has left of stacks; in short where it matters. */
static void put_cut(const struct jprof_profile *profile, bool all)
{
	double share = jprof_profile_cut(profile, JPROF_INUSE_SPACE);
	if (share > 0 && (all || share >= 0.01))
		printf("%-10s %.1f %% of the bytes: their outermost callers are missing\n", "cut stacks", share * 100);
	else if (all)
		printf("%-10s none\n", "cut stacks");
}

/* What a profile tells of its names, or all with --json. */
static int show_loaded(const struct options *o, const struct loaded *l, const struct jprof_dump *dump, size_t taken)
{
	struct options plain = *o;
	plain.output = "text"; /* no rows are shown, and no errors of theirs */
	plain.errors = false;
	if (!wants_json(o)) {
		put_synthetic(l->profile);
		put_cut(l->profile, o->all);
	}
	struct jprof_view *view = load_view(l, &plain);
	int status = !view ? 1 : wants_json(o) ? show_json(view, dump) : show_names(view, o, taken);
	jprof_view_free(view);
	return status;
}

/* A dump in text tells more than the profile that is made of it. */
static int show_dump(const struct options *o, const struct inputs *inputs, const char *path, struct jprof_dump *dump)
{
	struct loaded loaded;
	if (!load_from_dump(&loaded, dump, path, inputs, o))
		return 1;
	if (!wants_json(o))
		put_dump(path, dump, o, &loaded);
	int status = show_loaded(o, &loaded, dump, header_lines);
	loaded_free(&loaded);
	return status;
}

/* `taken`: how many lines were printed before; of a bundle, else 0. */
static int show_profile(const struct options *o, const struct inputs *inputs, char *path, size_t taken)
{
	struct inputs one = { .program = inputs->program, .dumps = &path, .dump_count = 1 };
	struct loaded loaded;
	if (!load_profile(&loaded, &one, o))
		return 1;
	if (!wants_json(o))
		taken += put_profile(taken ? NULL : path, loaded.profile);
	int status = show_loaded(o, &loaded, NULL, taken);
	loaded_free(&loaded);
	return status;
}

/* As for a dump, whatever file it is in. */
static int show_member(const struct options *o, const struct inputs *inputs, const char *path,
                       const struct jprof_bundle *bundle, size_t i)
{
	struct loaded loaded;
	struct jprof_error err;
	struct jprof_dump *dump = NULL;
	char name[4096];
	size_t len;
	const void *data = jprof_bundle_file(bundle, i, "dump.heap", &len);
	snprintf(name, sizeof name, "%s:%s", path, jprof_bundle_member(bundle, i)->name);
	putchar('\n');
	int rc = jprof_dump_parse(data, len, name, &dump, &err);
	if (rc == JPROF_E_NOMEM) {
		say_error(&err);
		return 1;
	}
	bool good = load_from_bundle(&loaded, bundle, i, inputs, o);
	if (good && dump)
		put_dump(name, dump, o, &loaded);
	else if (good)
		put_profile(name, loaded.profile);
	jprof_dump_free(dump);
	if (!good)
		return 1;
	int status = show_loaded(o, &loaded, NULL, header_lines);
	loaded_free(&loaded);
	return status;
}

static int show_bundle(const struct options *o, const struct inputs *inputs, char *path,
                       const struct jprof_bundle *bundle)
{
	size_t i = jprof_bundle_find(bundle, o->member, 0);
	int status = 0;
	if (jprof_bundle_warning(bundle))
		say_error(jprof_bundle_warning(bundle));
	size_t members = put_members(path, bundle, o->all ? SIZE_MAX : most_members);
	if (i == jprof_bundle_count(bundle)) {
		say("%s: has no member %s", path, o->member);
		return 1;
	}
	if (!o->all && !o->member)
		return show_profile(o, inputs, path, members);
	for (; i < jprof_bundle_count(bundle); i = jprof_bundle_find(bundle, o->member, i + 1))
		status |= show_member(o, inputs, path, bundle, i);
	return status;
}

/* No dump in text: a bundle, or else a profile, which says what is wrong if it is neither. With --json a bundle is
 * the profile that its members add up to. */
static int show_other(const struct options *o, const struct inputs *inputs, char *path)
{
	struct jprof_bundle *bundle;
	struct jprof_error err;
	int rc = wants_json(o) ? JPROF_E_FORMAT : jprof_bundle_open(path, &bundle, &err);
	if (rc == JPROF_E_NOMEM) {
		say_error(&err);
		return 1;
	}
	if (rc)
		return show_profile(o, inputs, path, 0);
	int status = show_bundle(o, inputs, path, bundle);
	jprof_bundle_free(bundle);
	return status;
}

static int show_input(const struct options *o, const struct inputs *inputs, char *path)
{
	bool other;
	struct jprof_dump *dump = load_dump(path, o, &other);
	if (!dump)
		return other ? show_other(o, inputs, path) : 1;
	int status = show_dump(o, inputs, path, dump);
	jprof_dump_free(dump);
	return status;
}

int cmd_info(const struct options *given)
{
	struct options own = *given;
	const struct options *o = &own;
	own.lean = true;
	struct inputs inputs;
	int status = 1;
	if (!wants_json(o) && options_form(o) != FORM_TEXT) {
		say("info prints text, with --json JSON; --%s is for reports", o->output);
		return 1;
	}
	if (o->file) {
		say("info prints on standard output: give >%s instead of -o", o->file);
		return 1;
	}
	if (inputs_find(&inputs, o)) {
		status = 0;
		for (int i = 0; i < inputs.dump_count; i++) {
			if (i && !wants_json(o))
				putchar('\n');
			status |= show_input(o, &inputs, inputs.dumps[i]);
		}
	}
	free(inputs.program);
	return status;
}
