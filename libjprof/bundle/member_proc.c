#include "bundle/member_proc.h"

#include <math.h>
#include <string.h>

#include "base/reader.h"

/* ---- status and smaps_rollup ----------------------------------------------------------------------------- */

/* The number behind "KEY:" or "KEY " at the beginning of a line. */
static bool line_is(struct jp_span line, const char *key, uint64_t *number)
{
	if (!jp_span_text(&line, key) || (!jp_span_char(&line, ':') && !jp_span_char(&line, ' ')))
		return false;
	jp_span_blanks(&line);
	return jp_span_decimal(&line, number) == JP_NUMBER_OK;
}

bool jp_number_in_lines(const struct jp_bundle_file *file, const char *key, uint64_t *number)
{
	struct jp_reader reader;
	struct jp_span line;
	jp_reader_init(&reader, file ? file->data : "", file ? file->len : 0);
	while (jp_reader_line(&reader, &line))
		if (line_is(line, key, number))
			return true;
	return false;
}

/* Adds what a file of /proc has in KiB. */
static void add_proc_number(struct jp_known_sum *to, const struct jp_bundle_file *file, const char *key)
{
	uint64_t kib;
	if (jp_number_in_lines(file, key, &kib))
		jp_known_add(to, (double)kib * 1024);
}

/* ---- smaps ------------------------------------------------------------------------------------------------ */

/* One mapping of smaps, while its lines are read. */
struct smap {
	uint64_t start, limit;
	bool readable, executable, shared, file, named; /* named: [stack], [vdso] ... */
	bool unreserved;                                /* MAP_NORESERVE, "nr" of VmFlags */
	bool stack;
	double rss, anonymous, shared_dirty;
};

struct smaps_sums {
	double stacks, jit, copies, transient, mapped_space, mapped, past;
	double map_shared; /* of mappings with MAP_SHARED */
	double forked;     /* anonymous, and of another process, too */
	unsigned mappings;
};

/* "START-LIMIT PERMS OFFSET DEV INODE PATH". */
static bool take_mapping_line(struct jp_span line, struct smap *map)
{
	struct smap m = { 0 };
	if (jp_span_hex(&line, &m.start) != JP_NUMBER_OK || !jp_span_char(&line, '-') ||
	    jp_span_hex(&line, &m.limit) != JP_NUMBER_OK || !jp_span_char(&line, ' ') || line.len < 4)
		return false;
	m.readable = line.ptr[0] == 'r';
	m.executable = line.ptr[2] == 'x';
	m.shared = line.ptr[3] == 's';
	const char *path = memchr(line.ptr, '/', line.len), *bracket = memchr(line.ptr, '[', line.len);
	m.file = path && (!bracket || path < bracket);
	m.named = bracket && !m.file;
	m.stack =
	    m.named && jp_span_starts((struct jp_span){ bracket, line.len - (size_t)(bracket - line.ptr) }, "[stack");
	*map = m;
	return true;
}

/* A thread's stack is an anonymous mapping that begins where its guard ends, a small one without access. Mappings that
 * are larger than stacks are may be a stack that the kernel joined with its neighbour: left out. */
static bool is_stack(const struct smap *map, const struct smap *before)
{
	static const uint64_t most_guard = 1 << 20, most_stack = (8 << 20) + (1 << 16);
	bool guarded = before->limit == map->start && !before->readable && !before->executable && !before->file &&
	               before->limit - before->start <= most_guard;
	return map->stack ||
	       (!map->named && !map->file && map->readable && guarded && map->limit - map->start <= most_stack);
}

static bool has_flag(struct jp_span flags, const char *flag)
{
	return memmem(flags.ptr, flags.len, flag, strlen(flag));
}

/* TRANSIENT_HEAP_TOTAL_SIZE of Ruby's transient_heap.c: one mapping. Where the kernel joined another one to it, both
 * count as memory past malloc. */
enum { transient_heap = 32 << 20 };

static void add_smap(struct smaps_sums *sums, const struct smap *map, const struct smap *before)
{
	sums->map_shared += map->shared ? map->rss : 0;
	sums->forked += fmin(map->shared_dirty, map->anonymous);
	if (map->file)
		sums->copies += map->anonymous;
	else if (is_stack(map, before))
		sums->stacks += map->rss;
	else if (map->executable && !map->named)
		sums->jit += map->rss;
	else if (!map->named && map->unreserved) {
		sums->mapped_space += (double)(map->limit - map->start);
		sums->mapped += map->rss;
	} else if (!map->named && map->readable && map->limit - map->start == transient_heap)
		sums->transient += map->rss;
	else if (!map->named)
		sums->past += map->rss;
	sums->mappings++;
}

/* RssShmem has all pages of a tmpfs. Those that a process maps for itself are its program and libraries, which lie
 * there. */
static void count_as_files(struct jp_figures *to, const struct jp_bundle_file *status, double map_shared)
{
	uint64_t shmem;
	if (!jp_number_in_lines(status, "RssShmem", &shmem) || (double)shmem * 1024 <= map_shared)
		return;
	to->of[JPROF_FIGURE_RSS_SHMEM].bytes -= (double)shmem * 1024 - map_shared;
	to->of[JPROF_FIGURE_RSS_FILE].bytes += (double)shmem * 1024 - map_shared;
}

/* false: there are none. */
static bool take_smaps(struct jp_figures *to, const struct jp_bundle_file *file, const struct jp_bundle_file *status)
{
	struct jp_reader reader;
	struct jp_span line;
	struct smaps_sums sums = { 0 };
	struct smap map = { 0 }, before = { 0 }, next;
	uint64_t kib;
	jp_reader_init(&reader, file ? file->data : "", file ? file->len : 0);
	while (jp_reader_line(&reader, &line)) {
		if (take_mapping_line(line, &next)) {
			if (map.limit)
				add_smap(&sums, &map, &before);
			before = map;
			map = next;
		} else if (line_is(line, "Rss", &kib)) {
			map.rss = (double)kib * 1024;
		} else if (line_is(line, "Anonymous", &kib)) {
			map.anonymous = (double)kib * 1024;
		} else if (line_is(line, "Shared_Dirty", &kib)) {
			map.shared_dirty = (double)kib * 1024;
		} else if (jp_span_text(&line, "VmFlags:")) {
			map.unreserved = has_flag(line, " nr");
		}
	}
	if (!map.limit)
		return false;
	add_smap(&sums, &map, &before);
	count_as_files(to, status, sums.map_shared);
	jp_known_add(&to->of[JPROF_FIGURE_SHARED], sums.forked);
	jp_known_add(&to->of[JPROF_FIGURE_STACKS], sums.stacks);
	jp_known_add(&to->of[JPROF_FIGURE_JIT], sums.jit);
	jp_known_add(&to->of[JPROF_FIGURE_COPIES], sums.copies);
	jp_known_add(&to->of[JPROF_FIGURE_TRANSIENT], sums.transient);
	jp_known_add(&to->of[JPROF_FIGURE_MAPPED_SPACE], sums.mapped_space);
	jp_known_add(&to->of[JPROF_FIGURE_MAPPED], sums.mapped);
	jp_known_add(&to->of[JPROF_FIGURE_PAST], sums.past);
	return true;
}

/* ---- the control group ------------------------------------------------------------------------------------ */

/* The number that a file begins with: "max", and what version 1 has for it, is INFINITY; NAN where there is none. */
static double cgroup_number(const struct jp_bundle_file *file)
{
	static const double no_limit = 0x1p62;
	struct jp_span text = { file ? file->data : "", file ? file->len : 0 };
	uint64_t number;
	if (jp_span_text(&text, "max"))
		return INFINITY;
	if (jp_span_decimal(&text, &number) != JP_NUMBER_OK)
		return NAN;
	return (double)number >= no_limit ? INFINITY : (double)number;
}

/* Of memory.stat, by its word in either version. */
static double group_part(const struct jp_bundle_file *file, const char *word, const char *old_word)
{
	uint64_t number;
	bool known = jp_number_in_lines(file, word, &number) || jp_number_in_lines(file, old_word, &number);
	return known ? (double)number : NAN;
}

static const struct jp_bundle_file *either(const struct jp_bundle_member *m, const char *name, const char *old_name)
{
	const struct jp_bundle_file *file = jp_bundle_file(m, name);
	return file ? file : jp_bundle_file(m, old_name);
}

static void take_group(struct jprof_group *to, const struct jp_bundle_member *m)
{
	const struct jp_bundle_file *stat = jp_bundle_file(m, "memory.stat");
	struct jprof_group group = { .current = cgroup_number(either(m, "memory.current", "memory.usage_in_bytes")),
		                     .limit = cgroup_number(either(m, "memory.max", "memory.limit_in_bytes")),
		                     .cache = group_part(stat, "file", "cache"),
		                     .anon = group_part(stat, "anon", "rss") };
	group.known = !isnan(group.current);
	if (group.known)
		*to = group;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

void jp_figures_of_proc(struct jp_outside *to, const struct jp_bundle_member *m)
{
	static const struct {
		enum jprof_figure figure;
		const char *file, *key;
	} rows[] = { { JPROF_FIGURE_RSS, "status", "VmRSS" },        { JPROF_FIGURE_RSS_ANON, "status", "RssAnon" },
		     { JPROF_FIGURE_RSS_FILE, "status", "RssFile" }, { JPROF_FIGURE_RSS_SHMEM, "status", "RssShmem" },
		     { JPROF_FIGURE_SWAP, "status", "VmSwap" },      { JPROF_FIGURE_PSS, "smaps_rollup", "Pss" } };
	struct jp_known_sum *of = to->now.figures.of;
	for (size_t i = 0; i < jp_count(rows); i++)
		add_proc_number(&of[rows[i].figure], jp_bundle_file(m, rows[i].file), rows[i].key);
	add_proc_number(&to->now.rss_anon, jp_bundle_file(m, "status"), "RssAnon");
	add_proc_number(&to->now.pss, jp_bundle_file(m, "smaps_rollup"), "Pss");
	if (!take_smaps(&to->now.figures, jp_bundle_file(m, "smaps"), jp_bundle_file(m, "status")))
		add_proc_number(&of[JPROF_FIGURE_SHARED], jp_bundle_file(m, "smaps_rollup"), "Shared_Dirty");
	take_group(&to->now.figures.group, m);
}
