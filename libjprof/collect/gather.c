/* What /proc and the control group tell of a process, for its member in a bundle. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/reader.h"
#include "base/strbuf.h"
#include "collect/below.h"
#include "collect/procfs.h"
#include "collect/target.h"

/* A mapping has some 700 bytes in smaps, and a process may have 65,530 of them, unless vm.max_map_count is another. */
enum { proc_limit = 64 << 20, cgroup_limit = 1 << 16 };

static const char *const proc_files[] = { "maps", "smaps", "smaps_rollup", "status" };

static const char *const v2_files[] = { "memory.current", "memory.max",  "memory.high",
	                                "memory.stat",    "memory.peak", "memory.events" };
static const char *const v1_files[] = { "memory.usage_in_bytes", "memory.limit_in_bytes", "memory.max_usage_in_bytes",
	                                "memory.stat", "memory.failcnt" };

static int add_nonempty(struct jprof_bundle_writer *writer, const char *name, const struct jp_strbuf *text,
                        struct jprof_error *err)
{
	return text->len ? jprof_bundle_writer_file(writer, name, text->text, text->len, err) : 0;
}

/* A file that cannot be read is left out: a kernel may not have it, or the process has just ended, and another may have
 * its pid. So is one that is too long: its sums would be too small, and nobody would know. */
static int add_proc(const struct jprof_target *t, const char *name, struct jprof_bundle_writer *writer,
                    struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	int rc = jp_proc_read(t->proc, t->pid, name, proc_limit + 1, &text);
	if (rc == ENOMEM)
		return jp_error_nomem(err);
	bool whole = !rc && text.len <= proc_limit && !jprof_target_check(t, NULL);
	return whole ? add_nonempty(writer, name, &text, err) : 0;
}

/* ---- the control group ---------------------------------------------------------------------------------- */

struct cgroup {
	char path[PATH_MAX]; /* below the mount, as the caller's namespace shows it; "" if it has none */
	bool v1;
};

static bool names_memory(struct jp_span controllers)
{
	static const char memory[] = "memory";
	const char *at = memmem(controllers.ptr, controllers.len, memory, sizeof memory - 1);
	return at != NULL;
}

/* A line of /proc/PID/cgroup: "0::/PATH" in version 2, "4:memory:/PATH" in version 1, which goes first. */
static void take_line(struct jp_span line, struct cgroup *cgroup)
{
	const char *first = memchr(line.ptr, ':', line.len);
	if (!first)
		return;
	size_t rest = line.len - (size_t)(first + 1 - line.ptr);
	const char *second = memchr(first + 1, ':', rest);
	if (!second)
		return;
	struct jp_span controllers = { first + 1, (size_t)(second - first - 1) };
	bool v1 = names_memory(controllers);
	if ((!v1 && controllers.len) || (!v1 && cgroup->v1))
		return;
	cgroup->v1 = v1;
	snprintf(cgroup->path, sizeof cgroup->path, "%.*s", (int)(line.ptr + line.len - second - 1), second + 1);
}

static int find_cgroup(const struct jprof_target *t, struct cgroup *cgroup)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_reader reader;
	struct jp_span line;
	int rc = jp_proc_read(t->proc, t->pid, "cgroup", cgroup_limit, &text);
	if (rc)
		return rc == ENOMEM ? -1 : 0;
	jp_reader_init(&reader, text.text, text.len);
	while (jp_reader_line(&reader, &line))
		take_line(line, cgroup);
	return 0;
}

/* Only what a control group's file system holds: any other file is not what it is called. */
static int open_of_cgroup(const struct jprof_target *t, const char *path)
{
	struct stat st;
	const struct jprof_target own = { .proc = (char *)"/proc", .pid = getpid(), .pidfd = -1 };
	return jp_below_open(t ? t : &own, JPROF_OPEN_CGROUP, path, &st);
}

static int read_cgroup_file(const struct jprof_target *t, const char *path, struct jp_strbuf *text)
{
	char chunk[1 << 12];
	int jp_cleanup(jp_file_close) fd = open_of_cgroup(t, path);
	for (ssize_t n; fd >= 0 && text->len < cgroup_limit && (n = read(fd, chunk, sizeof chunk)) > 0;)
		jp_strbuf_add(text, chunk, (size_t)n);
	return text->failed ? -1 : 0;
}

/* Where the group's files may lie: below our own mount by the path, and, if that leads out of our namespace, where
 * the process itself sees its group. */
struct cgroup_place {
	const struct jprof_target *target; /* NULL: as the caller sees it */
	char dir[PATH_MAX + 64];
};

static int add_cgroup_file(const struct cgroup_place *place, const char *name, struct jprof_bundle_writer *writer,
                           bool *found, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	char path[PATH_MAX + 128];
	snprintf(path, sizeof path, "%s/%s", place->dir, name);
	if (read_cgroup_file(place->target, path, &text))
		return jp_error_nomem(err);
	*found = *found || text.len;
	return add_nonempty(writer, name, &text, err);
}

static int add_from(const struct cgroup_place *place, bool v1, struct jprof_bundle_writer *writer, bool *found,
                    struct jprof_error *err)
{
	const char *const *files = v1 ? v1_files : v2_files;
	size_t count = v1 ? jp_count(v1_files) : jp_count(v2_files);
	int rc = 0;
	for (size_t i = 0; !rc && i < count && (!i || *found); i++)
		rc = add_cgroup_file(place, files[i], writer, found, err);
	return rc;
}

static int add_cgroup(const struct jprof_target *t, struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	struct cgroup cgroup = { 0 };
	struct cgroup_place own = { 0 }, its = { .target = t };
	bool found = false;
	if (find_cgroup(t, &cgroup))
		return jp_error_nomem(err);
	const char *mount = cgroup.v1 ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
	int rc = 0;
	if (*cgroup.path && !strstr(cgroup.path, "/..")) {
		snprintf(own.dir, sizeof own.dir, "%s%s", mount, cgroup.path);
		rc = add_from(&own, cgroup.v1, writer, &found, err);
	}
	if (rc || found || !*cgroup.path)
		return rc;
	snprintf(its.dir, sizeof its.dir, "%s", mount);
	return add_from(&its, cgroup.v1, writer, &found, err);
}

int jprof_target_gather(const struct jprof_target *t, bool cmdline, struct jprof_bundle_writer *writer,
                        struct jprof_error *err)
{
	if (jp_null(err, t, writer))
		return JPROF_E_ARGUMENT;
	int rc = 0;
	for (size_t i = 0; !rc && i < jp_count(proc_files); i++)
		rc = add_proc(t, proc_files[i], writer, err);
	if (!rc && cmdline)
		rc = add_proc(t, "cmdline", writer, err);
	return rc ? rc : add_cgroup(t, writer, err);
}

/* ---- where it dumps -------------------------------------------------------------------------------------- */

/* Takes the value of prof_prefix out of a list "KEY:VALUE,KEY:VALUE"; the last counts. */
static void take_prefix(struct jp_span list, char *prefix, size_t size)
{
	while (list.len) {
		const char *comma = memchr(list.ptr, ',', list.len);
		struct jp_span pair = { list.ptr, comma ? (size_t)(comma - list.ptr) : list.len };
		if (jp_span_text(&pair, "prof_prefix:"))
			snprintf(prefix, size, "%.*s", (int)pair.len, pair.ptr);
		if (!comma)
			return;
		list.len -= (size_t)(comma + 1 - list.ptr);
		list.ptr = comma + 1;
	}
}

/* One variable of the environment: MALLOC_CONF, or the name that a program's own jemalloc has for it. */
static void take_variable(struct jp_span variable, char *prefix, size_t size)
{
	const char *equals = memchr(variable.ptr, '=', variable.len);
	if (!equals)
		return;
	struct jp_span name = { variable.ptr, (size_t)(equals - variable.ptr) };
	if (jp_span_ends(name, "MALLOC_CONF"))
		take_prefix((struct jp_span){ equals + 1, variable.len - name.len - 1 }, prefix, size);
}

int jprof_target_prefix(const struct jprof_target *t, char *prefix, size_t size, struct jprof_error *err)
{
	if (jp_null(err, t, prefix))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	int rc = jp_proc_read(t->proc, t->pid, "environ", proc_limit, &text);
	if (rc == ENOMEM)
		return jp_error_nomem(err);
	if (rc)
		return jp_advise(err, JPROF_ADVICE_DUMP_DIR,
		                 jp_error(err, JPROF_E_IO, NULL, 0,
		                          "process %d: its environment, which says where it dumps, cannot be read: %s",
		                          t->pid, strerror(rc)));
	snprintf(prefix, size, "jeprof");
	for (size_t at = 0; at < text.len;) {
		struct jp_span variable = { text.text + at, strlen(text.text + at) };
		take_variable(variable, prefix, size);
		at += variable.len + 1;
	}
	return 0;
}
