/* check_frames EXPECT DUMP TRUTH [SYSROOT]
 * Compares every site of a subject's TRUTH (its columns: ../subjects/report.c) with the frames that
 * the library finds at that address of DUMP. EXPECT says what the subject's dress leaves to be known:
 *   lines      functions, inlined ones too, with files and lines
 *   functions  the function that the linker knows
 *   stripped   that of exported functions; else the function's bounds from .eh_frame, or nothing */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../subjects/site.h"
#include "model/profile.h"

enum { max_columns = 64, fixed_columns = 6 };

/* A line of the truth. */
struct truth {
	uint64_t address, vaddr, start;
	const char *object;
	int flags;
	char **frames; /* function, file, line; function, file, line; ... */
	unsigned frame_count;
};

static int failures;

static void fail(const struct truth *t, const char *what, const char *want, const char *got)
{
	failures++;
	fprintf(stderr, "site at %s:%s: %s: expected \"%s\", got \"%s\"\n", t->frames[1], t->frames[2], what, want,
	        got);
}

/* ".cold", ".isra.0", ".constprop.0.isra.0" ..., " [clone .cold]" in C++, or nothing. */
static bool is_clone_suffix(const char *s)
{
	static const char *const words[] = { "cold", "isra", "constprop", "part", "lto_priv" };
	for (s += strspn(s, " [clone]"); *s == '.'; s += strspn(s, " [clone]")) {
		size_t n = strcspn(++s, ".]");
		bool known = n && strspn(s, "0123456789") >= n;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			known = known || (strlen(words[i]) == n && !memcmp(words[i], s, n));
		if (!known)
			return false;
		s += n;
	}
	return !*s;
}

static bool is_name(const struct truth *t, const char *want, const char *got)
{
	size_t n = strlen(want);
	return !strncmp(want, got, n) && (t->flags & CLONE ? is_clone_suffix(got + n) : !got[n]);
}

static void check_named(const struct truth *t, const char *want, const char *got)
{
	if (!is_name(t, want, got))
		fail(t, "function", want, got);
}

/* OBJECT!0xSTART, or OBJECT+0xVADDR where .eh_frame knows nothing. */
static void check_nameless(const struct truth *t, const char *got)
{
	char want[4096];
	const char *base = jp_basename(t->object), *so = strstr(base, ".so");
	int len = so ? (int)(so - base) : (int)strlen(base);
	int n = snprintf(want, sizeof want, "%.*s%s", len, base, t->flags & NO_FDE ? "+0x" : "!0x");
	if (t->flags & CLONE) {
		char *end;
		uint64_t start = strncmp(got, want, (size_t)n) ? UINT64_MAX : strtoull(got + n, &end, 16);
		if (start > t->vaddr || *end)
			fail(t, "function", want, got);
		return;
	}
	snprintf(want + n, sizeof want - (size_t)n, "%llx",
	         (unsigned long long)(t->flags & NO_FDE ? t->vaddr : t->start));
	if (strcmp(want, got))
		fail(t, "function", want, got);
}

static void check_line(const struct truth *t, char **want, const char *file, unsigned line)
{
	char got[4096], expected[4096];
	snprintf(got, sizeof got, "%s:%u", file, line);
	snprintf(expected, sizeof expected, "%s:%s", want[1], want[2]);
	if (strcmp(got, expected))
		fail(t, "line", expected, got);
}

static const char *file_of(const struct jprof_profile *p, const struct jp_function *f)
{
	return f->file == JP_NONE ? "" : jp_string(p, f->file);
}

static void check_frames(const struct truth *t, const struct jprof_profile *p, const struct jp_location *l)
{
	for (unsigned i = 0; i < t->frame_count; i++) {
		const struct jp_frame *frame = &p->frames[l->frame_first + i];
		const struct jp_function *f = &p->functions[frame->function];
		const char *name = jp_string(p, f->brief);
		if (t->flags & NAMELESS)
			check_nameless(t, name);
		else
			check_named(t, t->frames[3 * i], name);
		check_line(t, &t->frames[3 * i], file_of(p, f), frame->line);
		if (frame->inlined != (i + 1 < t->frame_count))
			fail(t, "inlined", i + 1 < t->frame_count ? "yes" : "no", frame->inlined ? "yes" : "no");
	}
}

/* The linker knows no more than the outermost function, and no lines. */
static void check_outermost(const struct truth *t, const struct jprof_profile *p, const struct jp_location *l,
                            bool stripped)
{
	const struct jp_frame *frame = &p->frames[l->frame_first];
	const struct jp_function *f = &p->functions[frame->function];
	const char *name = jp_string(p, f->brief), *file = file_of(p, f);
	if (t->flags & NAMELESS || (stripped && !(t->flags & EXPORTED)))
		check_nameless(t, name);
	else
		check_named(t, t->frames[3 * (t->frame_count - 1)], name);
	if (*file || frame->line || frame->inlined)
		fail(t, "line", "none", file);
}

static const struct jp_location *find_location(const struct jprof_profile *p, uint64_t address)
{
	for (uint32_t i = 0; i < jp_location_count(p); i++)
		if (p->locations[i].address == address)
			return &p->locations[i];
	return NULL;
}

static void check(const struct truth *t, const struct jprof_profile *p, const char *expect)
{
	const struct jp_location *l = find_location(p, t->address);
	bool lines = !strcmp(expect, "lines");
	unsigned want = lines ? t->frame_count : 1;
	char text[2][16];
	if (l && l->frame_count == want && lines)
		check_frames(t, p, l);
	else if (l && l->frame_count == want)
		check_outermost(t, p, l, !strcmp(expect, "stripped"));
	else {
		snprintf(text[0], sizeof text[0], "%u", want);
		snprintf(text[1], sizeof text[1], "%u", l ? l->frame_count : 0);
		fail(t, "number of functions", text[0], text[1]);
	}
}

static struct truth parse(char *line, char *columns[max_columns])
{
	unsigned count = 0;
	line[strcspn(line, "\n")] = '\0';
	for (char *column; count < max_columns && (column = strsep(&line, "\t"));)
		columns[count++] = column;
	if (count < fixed_columns + 3 || (count - fixed_columns) % 3) {
		fprintf(stderr, "a line of the truth has %u columns\n", count);
		exit(2);
	}
	return (struct truth){ strtoull(columns[0], NULL, 16),
		               strtoull(columns[3], NULL, 16),
		               strtoull(columns[4], NULL, 16),
		               columns[2],
		               atoi(columns[5]),
		               columns + fixed_columns,
		               (count - fixed_columns) / 3 };
}

static struct jprof_profile *load(const char *path, const char *sysroot)
{
	struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = sysroot };
	struct jprof_error err;
	struct jprof_dump *dump;
	struct jprof_profile *profile;
	if (jprof_dump_open(path, &dump, &err) || jprof_profile_new(dump, NULL, &profile, &err) ||
	    jprof_profile_symbolize(profile, &opts, &err)) {
		fprintf(stderr, "%s: %s\n", err.path, err.text);
		exit(2);
	}
	jprof_dump_free(dump);
	return profile;
}

int main(int argc, char **argv)
{
	char *line = NULL, *columns[max_columns];
	size_t room = 0;
	int sites = 0;
	FILE *file = argc < 4 ? NULL : fopen(argv[3], "r");
	if (!file) {
		fprintf(stderr, "usage: check_frames lines|functions|stripped DUMP TRUTH [SYSROOT]\n");
		return 2;
	}
	struct jprof_profile *profile = load(argv[2], argv[4]);
	for (; getline(&line, &room, file) > 0; sites++) {
		struct truth truth = parse(line, columns);
		check(&truth, profile, argv[1]);
	}
	printf("%d sites, %d failures\n", sites, failures);
	jprof_profile_free(profile);
	free(line);
	fclose(file);
	return failures || sites < 2;
}
