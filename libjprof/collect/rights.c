/* Whose rights a process has, so that nobody lends it more. proc(5), /proc/PID/status. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "collect/procfs.h"
#include "collect/target.h"

enum { number_limit = 64 };

static bool same_user_namespace(const struct jprof_target *t)
{
	struct stat own, other;
	return !stat("/proc/self/ns/user", &own) && !stat(jp_target_path(t, "ns/user"), &other) &&
	       own.st_ino == other.st_ino && own.st_dev == other.st_dev;
}

/* The number that stands in a file of /proc; `otherwise` if it cannot be read. */
static unsigned number_in(const char *path, unsigned otherwise)
{
	char text[number_limit];
	FILE *file = fopen(path, "re");
	if (file && fgets(text, sizeof text, file))
		otherwise = (unsigned)strtoul(text, NULL, 10);
	if (file)
		fclose(file);
	return otherwise;
}

/* Whether every user of the machine has a number in the caller's user namespace: "0 0 4294967295". */
static bool all_are_mapped(void)
{
	unsigned long long inside = 1, outside = 1, count = 0;
	FILE *file = fopen("/proc/self/uid_map", "re");
	bool good = !file || (fscanf(file, "%llu %llu %llu", &inside, &outside, &count) == 3 && !inside && !outside &&
	                      count >= UINT32_MAX);
	if (file)
		fclose(file);
	return good;
}

/* What the kernel shows for a user that has no number here. */
static bool has_no_number(unsigned uid)
{
	enum { usual = 65534 };
	return uid == number_in("/proc/sys/kernel/overflowuid", usual) && !all_are_mapped();
}

static int read_groups(struct jprof_target *t, struct jp_span status, size_t *count)
{
	struct jp_reader reader;
	struct jp_span line, word;
	uint64_t group;
	size_t cap = *count = 0;
	free(t->groups);
	t->groups = NULL;
	jp_reader_init(&reader, status.ptr, status.len);
	while (jp_reader_line(&reader, &line)) {
		if (!jp_span_text(&line, "Groups:"))
			continue;
		while (jp_proc_word(&line, &word)) {
			if (jp_array_push(t->groups, *count, cap))
				return -1;
			if (jp_span_decimal(&word, &group) == JP_NUMBER_OK)
				t->groups[(*count)++] = (unsigned)group;
		}
	}
	return 0;
}

/* Who gained rights by what it runs must not be lent them for what it did before; who gave some up is let. */
static int refuse_rights(const struct jprof_target *t, const struct jp_proc_status *s, struct jprof_error *err)
{
	if (s->real_uid && (s->real_uid != s->uid || s->real_gid != s->gid))
		return jp_error(err, JPROF_E_IO, NULL, 0,
		                "process %d: runs a setuid or setgid program (user %u as %u, group %u as %u): nothing "
		                "is opened for it",
		                t->pid, s->real_uid, s->uid, s->real_gid, s->gid);
	if (s->uid != t->uid)
		return jp_error(err, JPROF_E_IO, NULL, 0,
		                "process %d: was user %u a moment ago and is user %u now: nothing is opened for it; "
		                "try again",
		                t->pid, t->uid, s->uid);
	if (has_no_number(s->uid))
		return jp_error(err, JPROF_E_IO, NULL, 0,
		                "process %d: its user has no number in this user namespace: run jprof outside of it",
		                t->pid);
	return 0;
}

int jprof_target_rights(struct jprof_target *t, struct jprof_rights *rights, struct jprof_error *err)
{
	if (jp_null(err, t, rights))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_proc_status s;
	size_t count;
	int error = jp_proc_read(t->proc, t->pid, "status", jp_proc_status_limit, &text);
	if (error)
		return jp_proc_error(err, t->pid, error);
	jp_proc_status_parse((struct jp_span){ text.text, text.len }, &s);
	if (read_groups(t, (struct jp_span){ text.text, text.len }, &count))
		return jp_error_nomem(err);
	int rc = refuse_rights(t, &s, err);
	rc = rc ? rc : jprof_target_check(t, err);
	if (rc)
		return rc;
	*rights = (struct jprof_rights){ .uid = s.uid,
		                         .gid = s.gid,
		                         .real_uid = s.real_uid,
		                         .real_gid = s.real_gid,
		                         .groups = t->groups,
		                         .group_count = count,
		                         .capabilities = same_user_namespace(t) ? s.effective : 0 };
	return 0;
}

void jprof_target_use(struct jprof_target *t, const struct jprof_opener *opener)
{
	if (t)
		t->opener = opener ? *opener : (struct jprof_opener){ 0 };
}
