/* Checks of the program and of what is loaded into it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/packdirs.h"
#include "cli/sandbox.h"
#include "cli/shortage.h"
#include "doctor/doctor.h"
#include "run/allocator.h"

static const char run_it[] = "start it by: jprof run -- COMMAND";

/* ---- the program --------------------------------------------------------------------------------------- */

static void describe_process(const struct jprof_process *p, char *text, size_t size)
{
	int n = snprintf(text, size, "pid %d, %s%s%s, user %u, %s", p->pid, *p->server ? p->server : p->name,
	                 *p->role ? " " : "", p->role, p->uid, *p->program ? p->program : "program not known");
	if (p->ns_pid && p->ns_pid != p->pid && n > 0 && (size_t)n < size)
		snprintf(text + n, size - (size_t)n, ", pid %d in its own namespace", p->ns_pid);
}

static bool cannot_preload(const struct program *t)
{
	return t->secure || t->dropped_by || (t->binary && !*jprof_binary_info(t->binary)->interpreter && !t->may_be);
}

static void check_command(const struct scene *s, struct findings *f, const char *is)
{
	const struct program *t = &s->target;
	const char *via = t->via ? t->via : "", *arrow = t->via ? " starts " : "";
	if (t->dropped_by)
		findings_add(f, "program", VERDICT_BAD, "put jprof run behind it, in front of the program",
		             "%s starts %s, and takes LD_PRELOAD out of the environment", t->dropped_by, t->path);
	else if (t->may_be)
		findings_add(f, "program", VERDICT_UNKNOWN, NULL,
		             "%s%s%s (%s) starts other programs: which, and what these do, is not known", via, arrow,
		             t->path, is);
	else if (t->secure)
		findings_add(f, "program", VERDICT_BAD, "start a copy without setuid bits and file capabilities",
		             "%s%s%s (%s) is setuid, setgid or has file capabilities: the loader ignores LD_PRELOAD",
		             via, arrow, t->path, is);
	else if (!*jprof_binary_info(t->binary)->interpreter && !s->inside)
		findings_add(f, "program", VERDICT_BAD, "link it dynamically, or link a jemalloc into it",
		             "%s%s%s (%s) is linked statically: nothing can be preloaded", via, arrow, t->path, is);
	else
		findings_add(f, "program", VERDICT_OK, NULL, "%s%s%s, %s", via, arrow, t->path, is);
}

void check_program(const struct scene *s, struct findings *f)
{
	char text[doctor_text_most], is[64] = "not an ELF file that can be read";
	if (s->target.binary)
		program_describe(jprof_binary_info(s->target.binary), is, sizeof is);
	if (!s->process) {
		check_command(s, f, is);
		return;
	}
	describe_process(s->process, text, sizeof text);
	if (s->process->readable)
		findings_add(f, "program", VERDICT_OK, NULL, "%s, %s%s", text, is, s->process->ruby ? ", a Ruby" : "");
	else
		findings_add(
		    f, "program", VERDICT_UNKNOWN,
		    "look as that user or as root (in a container: with CAP_SYS_PTRACE, or from the same pod with "
		    "shareProcessNamespace)",
		    "%s; what it has mapped and its environment may not be seen by user %u", text, geteuid());
}

/* ---- LD_PRELOAD ---------------------------------------------------------------------------------------- */

struct preloads {
	size_t count, allocators;
	bool bad;
};

static bool is_nowhere(const struct scene *s, const char *name, char *why, size_t size)
{
	char *path = s->process ? NULL : preload_path(&s->target, name, strlen(name));
	bool nowhere = !s->process && !path;
	free(path);
	if (nowhere)
		snprintf(why, size, "the loader does not find it");
	return nowhere;
}

/* What would keep the loader from taking it, in *why: VERDICT_OK where nothing would. What a process may not read was
 * perhaps loaded before it gave up its rights. */
static enum verdict check_file(const struct scene *s, const char *path, char *why, size_t size)
{
	struct jprof_binary *b;
	struct jprof_error err;
	char is[64], need[64];
	if (is_for_loader(path))
		return is_nowhere(s, path, why, size) ? VERDICT_BAD : VERDICT_OK;
	if (s->process && *path != '/')
		return VERDICT_OK; /* from where it was started is not known */
	int fd = scene_open(s, path);
	if (fd < 0) {
		bool closed = errno == EACCES || errno == EPERM;
		snprintf(why, size, "%s", errno == EINVAL ? "is not a regular file" : strerror(errno));
		return closed && s->process ? VERDICT_UNKNOWN : VERDICT_BAD;
	}
	close(fd);
	if (scene_binary(s, path, &b, &err)) {
		snprintf(why, size, "%s", err.text);
		return VERDICT_BAD;
	}
	bool fits = !s->target.binary || program_fits(jprof_binary_info(s->target.binary), jprof_binary_info(b));
	program_describe(jprof_binary_info(b), is, sizeof is);
	if (!fits)
		program_describe(jprof_binary_info(s->target.binary), need, sizeof need);
	jprof_binary_free(b);
	if (!fits)
		snprintf(why, size, "is for %s, the program for %s", is, need);
	return fits ? VERDICT_OK : VERDICT_BAD;
}

static bool is_allocator(const char *path)
{
	static const char *const names[] = { "jemalloc", "tcmalloc", "mimalloc", "hoard", "snmalloc" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strstr(jp_basename(path), names[i]))
			return true;
	return false;
}

static void check_entry(const struct scene *s, struct findings *f, const char *path, struct preloads *seen)
{
	char why[doctor_text_most];
	seen->count++;
	seen->allocators += is_allocator(path);
	enum verdict verdict = check_file(s, path, why, sizeof why);
	if (verdict == VERDICT_OK)
		return;
	seen->bad = true;
	findings_add(f, "preload", verdict,
	             verdict == VERDICT_UNKNOWN ? "if the row jemalloc or agent says that it is not loaded: make it "
	                                          "readable for that user"
	             : strstr(why, "is for ")
	                 ? "name the library of the program's own system; with musl every child fails, too"
	                 : "fix the path in LD_PRELOAD (on Debian it holds the machine: "
	                   "/usr/lib/x86_64-linux-gnu, /usr/lib/aarch64-linux-gnu)",
	             "LD_PRELOAD names %s: %s", path, why);
}

void check_preload(const struct scene *s, struct findings *f)
{
	struct preloads seen = { 0 };
	const char *text = s->preload, *name;
	size_t len;
	if (!s->env_known) {
		findings_add(f, "preload", VERDICT_UNKNOWN, NULL, "%s",
		             s->process && s->process->readable
		                 ? "the environment cannot be read, or the process has written its title over it"
		                 : "the environment may not be seen");
		return;
	}
	while (text && (name = preload_next(&text, &len)) && len) {
		char *path = shortage_note(strndup(name, len));
		if (path)
			check_entry(s, f, path, &seen);
		free(path);
	}
	if (seen.allocators > 1)
		findings_add(f, "preload", VERDICT_WARN, "name one only",
		             "LD_PRELOAD has several allocators: the first counts: %s", s->preload);
	else if (!seen.bad)
		findings_add(f, "preload", VERDICT_OK, NULL, "LD_PRELOAD%s%s", seen.count ? "=" : " is not set",
		             seen.count ? s->preload : "");
}

/* ---- jemalloc -------------------------------------------------------------------------------------------- */

/* jemalloc's version stands in its file as "5.3.0-0-g" and 40 hexadecimal digits. */
static bool version_at(const char *p, const char *end, size_t *len)
{
	const char *start = p;
	for (int part = 0; part < 3; part++) {
		size_t n = 0;
		while (p < end && *p >= '0' && *p <= '9' && n < 4)
			p++, n++;
		if (!n || p >= end || *p != (part < 2 ? '.' : '-'))
			return false;
		*len = (size_t)(p - start);
		p++;
	}
	while (p < end && *p >= '0' && *p <= '9')
		p++;
	if (end - p < 42 || p[0] != '-' || p[1] != 'g')
		return false;
	return strspn(p + 2, "0123456789abcdef") == 40;
}

static bool version_in(const char *path, char *version, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t cap = 32 << 20, n = 0, len;
	char *bytes = file ? shortage_note(malloc(cap + 1)) : NULL;
	bool found = false;
	if (bytes)
		n = fread(bytes, 1, cap, file);
	if (bytes)
		bytes[n] = '\0';
	for (size_t i = 1; i < n && !found; i++)
		if (!bytes[i - 1] && bytes[i] >= '1' && bytes[i] <= '9' && version_at(bytes + i, bytes + n, &len)) {
			snprintf(version, size, "%.*s", (int)len, bytes + i);
			found = true;
		}
	free(bytes);
	if (file)
		fclose(file);
	return found;
}

/* The version, from whoever knows. */
static const char *version_of(const struct scene *s, char *version, size_t size)
{
	char path[32];
	int fd;
	if (s->report && s->report->jemalloc)
		snprintf(version, size, "%.*s", (int)strcspn(s->report->jemalloc, "-"), s->report->jemalloc);
	else if (s->proved && *s->proof.version)
		snprintf(version, size, "%s", s->proof.version);
	else if ((fd = scene_open(s, s->jemalloc)) >= 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		if (!version_in(path, version, size))
			snprintf(version, size, "not known");
		close(fd);
	} else
		snprintf(version, size, "not known");
	return version;
}

static bool agent_only(const struct scene *s)
{
	return s->preload && strstr(s->preload, "libjprof-agent") && !strstr(s->preload, "jemalloc");
}

void check_jemalloc(const struct scene *s, struct findings *f)
{
	char version[96];
	if (s->inside && !s->own.exported) {
		char fix[128];
		snprintf(fix, sizeof fix, "link it with -Wl,--export-dynamic-symbol=%s", s->own.mallctl);
		findings_add(f, "jemalloc", VERDICT_BAD, fix,
		             "part of %s, version %s, which does not export %s: the agent cannot ask it for a dump",
		             s->jemalloc, version_of(s, version, sizeof version), s->own.mallctl);
	} else if (s->jemalloc)
		findings_add(f, "jemalloc", VERDICT_OK, NULL, "%s%s, version %s", s->inside ? "part of " : "",
		             s->jemalloc, version_of(s, version, sizeof version));
	else if (s->process && !s->process->readable)
		findings_add(f, "jemalloc", VERDICT_UNKNOWN, NULL, "what is mapped may not be seen");
	else if (s->other)
		findings_add(f, "jemalloc", VERDICT_BAD, "take it out of LD_PRELOAD",
		             "LD_PRELOAD names %s first, which serves malloc: a jemalloc behind it gets nothing",
		             s->other);
	else if (!s->process && cannot_preload(&s->target))
		findings_add(f, "jemalloc", VERDICT_BAD, "see the row program",
		             "none would be loaded: LD_PRELOAD does nothing for this program");
	else if (s->preload && strstr(s->preload, "jemalloc"))
		findings_add(f, "jemalloc", VERDICT_BAD, "see the row preload; or start it by: jprof run -- COMMAND",
		             "LD_PRELOAD names a jemalloc, and %s",
		             s->process ? "yet none is loaded" : "none can be loaded");
	else
		findings_add(f, "jemalloc", VERDICT_BAD, run_it, "%s%s",
		             s->process ? "none is loaded: this process cannot be profiled any more"
		                        : "none would be loaded",
		             agent_only(s) ? "; the agent alone makes no dumps" : "");
}

/* ---- children by fork ------------------------------------------------------------------------------------ */

/* From 2.35 on an unwinder finds its way without the loader's lock (_dl_find_object, in the C library); the loader of
 * that version is known by __rseq_offset. */
void check_forks(const struct scene *s, struct findings *f)
{
	const struct jprof_binary_info *info = s->target.binary ? jprof_binary_info(s->target.binary) : NULL;
	struct jprof_binary *loader = NULL;
	struct jprof_error err;
	if (!info || strcmp(info->libc, "glibc") || !*info->interpreter ||
	    scene_binary(s, info->interpreter, &loader, &err))
		return;
	if (!binary_defines(loader, "__rseq_offset"))
		findings_add(
		    f, "forks", VERDICT_WARN, "run it on a system with glibc 2.35 or later",
		    "glibc is older than 2.35: jemalloc holds the loader's lock while it takes a sample, so that "
		    "a child which another thread forks at that moment hangs when it loads a library, with the "
		    "agent or without");
	jprof_binary_free(loader);
}

/* ---- config.prof ----------------------------------------------------------------------------------------- */

/* The fix for a jemalloc without profiling. */
static const char *build_it(const struct scene *s)
{
	bool musl = s->target.binary && !strcmp(jprof_binary_info(s->target.binary)->libc, "musl");
	return musl ? "Alpine's package has no profiling: build jemalloc with --enable-prof, as man jprof-run says"
	            : "use one built with --enable-prof: Debian's libjemalloc2 is";
}

static void check_proved(const struct scene *s, struct findings *f)
{
	const char *said = *s->proof.said ? s->proof.said : "the program that it was tried in did not end well";
	switch (s->proof.proved) {
	case PROVED_PROFILES:
		findings_add(f, "config.prof", VERDICT_OK, NULL, "built with profiling: tried here");
		break;
	case PROVED_NO_PROFILES:
		findings_add(f, "config.prof", VERDICT_BAD, build_it(s),
		             "built without profiling (--enable-prof): tried here");
		break;
	case PROVED_NO_JEMALLOC:
		findings_add(f, "config.prof", VERDICT_BAD, build_it(s), "%s reads no MALLOC_CONF: it is no jemalloc",
		             s->jemalloc);
		break;
	case PROVED_BROKEN:
		findings_add(f, "config.prof", VERDICT_BAD, "fix what the loader says", "%.*s",
		             (int)strcspn(said, "\n"), said);
		break;
	case PROVED_NOTHING:
		findings_add(f, "config.prof", VERDICT_UNKNOWN, "run jprof doctor where the program runs",
		             "no program of its C library is here to try it in");
		break;
	}
}

void check_profiling(const struct scene *s, struct findings *f)
{
	char value[16];
	const char *who;
	if (!s->jemalloc)
		return;
	if (s->report)
		findings_add(f, "config.prof", VERDICT_OK, NULL, "built with profiling: the agent is active");
	else if (s->proved)
		check_proved(s, f);
	else if ((who = scene_option(s, "prof", value, sizeof value)) && !strcmp(who, "agent"))
		findings_add(f, "config.prof", VERDICT_OK, NULL, "built with profiling: the agent says so");
	else
		findings_add(f, "config.prof", VERDICT_UNKNOWN,
		             "run jprof doctor where the process runs, or start it by jprof run", "%s",
		             s->inside ? "jemalloc is part of the program and cannot be tried by itself"
		                       : "it is not tried here: others may have written it, or it is another system's");
}

/* ---- symbols ---------------------------------------------------------------------------------------------- */

static bool is_alpine(const struct scene *s)
{
	struct look look;
	return !scene_look(s, "/etc/alpine-release", &look);
}

/* "libruby-3.1.so.3.1" comes in Debian's package libruby3.1. */
static void symbols_fix(const struct scene *s, const char *path, char *fix, size_t size)
{
	const char *name = jp_basename(path), *version = strpbrk(name, "0123456789");
	if (is_alpine(s))
		snprintf(fix, size, "apk add ruby-dbg musl-dbg where the names are looked up");
	else if (!strncmp(name, "libruby-", 8) && version)
		snprintf(fix, size,
		         "install libruby%.*s-dbgsym (Debian's debian-debug archive), or use jprof --debuginfod with "
		         "DEBUGINFOD_URLS=https://debuginfod.debian.net",
		         (int)strspn(version, "0123456789."), version);
	else
		snprintf(fix, size, "install its debug symbols (Debian: PACKAGE-dbgsym), or use jprof --debuginfod");
	char *dot = strstr(fix, ".-dbgsym");
	if (dot)
		memmove(dot, dot + 1, strlen(dot));
}

/* The libruby that a process has mapped; NULL: none. */
static char *mapped_libruby(const struct jprof_process *process)
{
	char maps_path[64], *path = NULL;
	struct jprof_maps *maps;
	snprintf(maps_path, sizeof maps_path, "/proc/%d/maps", process->pid);
	if (shortage_note_code(jprof_maps_open(maps_path, &maps, NULL)))
		return NULL;
	for (size_t i = 0; i < jprof_maps_count(maps) && !path; i++)
		if (!strncmp(jp_basename(jprof_maps_at(maps, i)->path), "libruby", 7))
			path = shortage_note(strdup(jprof_maps_at(maps, i)->path));
	jprof_maps_free(maps);
	return path;
}

/* "; a pack names 80 % of its functions" */
static void add_packed(struct jp_strbuf *to, struct jprof_binary *b)
{
	struct jprof_error err;
	size_t named = 0, functions = 0;
	char *dirs = pack_dirs();
	if (shortage_note_code(jprof_binary_packed(b, NULL, dirs, sandbox_finder(false), &named, &functions, &err)))
		jp_strbuf_printf(to, "; how many of its functions a pack names is not known: %s", err.text);
	else if (functions)
		jp_strbuf_printf(to, "; a pack names %.0f %% of its functions",
		                 (double)named * 100 / (double)functions);
	else
		jp_strbuf_printf(to, "; no pack names its functions");
	sandbox_end();
	free(dirs);
}

static void add_stripped(struct findings *f, struct jprof_binary *b, const char *path, const char *fix)
{
	struct jp_strbuf text = { 0 };
	const char *id = jprof_binary_info(b)->build_id;
	add_packed(&text, b);
	findings_add(f, "symbols", VERDICT_WARN, fix,
	             "%s is stripped: what it exports has names, and what it registers with Ruby%s; build-id %s", path,
	             shortage_text(&text), *id ? id : "none");
	jp_strbuf_release(&text);
}

/* Of a Ruby it is libruby whose names matter, where there is one. */
void check_symbols(const struct scene *s, struct findings *f)
{
	char *linked = s->process ? mapped_libruby(s->process) : linked_library(&s->target, "libruby", NULL), fix[256];
	const char *path = linked ? linked : s->target.path;
	struct jprof_binary *b;
	struct jprof_error err;
	if (!path || scene_binary(s, path, &b, &err)) {
		if (path)
			findings_add(f, "symbols", VERDICT_UNKNOWN, NULL, "%s cannot be read", path);
		free(linked);
		return;
	}
	symbols_fix(s, path, fix, sizeof fix);
	enum jprof_source source = jprof_binary_source(b);
	if (source == JPROF_SOURCE_NONE)
		shortage_note_code(JPROF_E_NOMEM);
	switch (source) {
	case JPROF_SOURCE_DWARF:
		findings_add(f, "symbols", VERDICT_OK, NULL, "%s has debug information: functions and lines", path);
		break;
	case JPROF_SOURCE_SYMTAB:
		findings_add(f, "symbols", VERDICT_OK, NULL, "%s has a symbol table: functions, no lines", path);
		break;
	default: add_stripped(f, b, path, fix); break;
	}
	jprof_binary_free(b);
	free(linked);
}
