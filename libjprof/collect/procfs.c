/* The formats are those of proc(5). */
#include "collect/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

enum { stat_limit = 4096, start_field = 22, ppid_field = 4 };

void jp_proc_path(const char *proc, int pid, const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%d/%s", proc, pid, name);
}

static int read_up_to(int fd, size_t limit, struct jp_strbuf *out)
{
	char chunk[1 << 14];
	while (limit) {
		ssize_t n = read(fd, chunk, limit < sizeof chunk ? limit : sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!n)
			break;
		jp_strbuf_add(out, chunk, (size_t)n);
		limit -= (size_t)n;
	}
	jp_strbuf_add(out, "", 0);
	return out->failed ? ENOMEM : 0;
}

int jp_proc_read(const char *proc, int pid, const char *name, size_t limit, struct jp_strbuf *out)
{
	char path[PATH_MAX];
	jp_proc_path(proc, pid, name, path, sizeof path);
	int jp_cleanup(jp_file_close) fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	return fd < 0 ? errno : read_up_to(fd, limit, out);
}

int jp_proc_link(const char *proc, int pid, const char *name, struct jp_strbuf *out)
{
	char path[PATH_MAX], target[PATH_MAX];
	jp_proc_path(proc, pid, name, path, sizeof path);
	ssize_t n = readlink(path, target, sizeof target);
	if (n < 0)
		return errno;
	jp_strbuf_add(out, target, (size_t)n);
	return out->failed ? ENOMEM : 0;
}

bool jp_proc_word(struct jp_span *line, struct jp_span *word)
{
	jp_span_blanks(line);
	*word = (struct jp_span){ line->ptr, 0 };
	while (line->len && *line->ptr != ' ' && *line->ptr != '\t' && *line->ptr != '\n')
		word->len += jp_span_char(line, *line->ptr);
	return word->len > 0;
}

bool jp_proc_stat_parse(struct jp_span text, struct jp_proc_stat *stat)
{
	struct jp_span word;
	const char *paren = memrchr(text.ptr, ')', text.len);
	uint64_t value;
	if (!paren)
		return false;
	struct jp_span rest = { paren + 1, text.len - (size_t)(paren + 1 - text.ptr) };
	if (!jp_proc_word(&rest, &word))
		return false;
	stat->state = *word.ptr;
	for (int field = ppid_field; field <= start_field; field++) {
		if (!jp_proc_word(&rest, &word))
			return false;
		if (field != ppid_field && field != start_field)
			continue;
		if (jp_span_decimal(&word, &value) != JP_NUMBER_OK || (field == ppid_field && value > INT_MAX))
			return false;
		if (field == ppid_field)
			stat->ppid = (int)value;
		else
			stat->start_ticks = value;
	}
	return true;
}

static uint64_t status_value(struct jp_span line)
{
	uint64_t value;
	struct jp_span word;
	return jp_proc_word(&line, &word) && jp_span_decimal(&word, &value) == JP_NUMBER_OK ? value : 0;
}

static int pid_number(struct jp_span line)
{
	uint64_t value = status_value(line);
	return value <= INT_MAX ? (int)value : 0;
}

/* The first two of the four ids of a line. */
static void take_ids(struct jp_span line, unsigned *real, unsigned *effective)
{
	struct jp_span word;
	*real = (unsigned)status_value(line);
	if (jp_proc_word(&line, &word))
		*effective = (unsigned)status_value(line);
}

static void take_hex(struct jp_span line, uint64_t *value)
{
	struct jp_span word;
	if (jp_proc_word(&line, &word))
		(void)jp_span_hex(&word, value);
}

static void parse_status_line(struct jp_span line, struct jp_proc_status *s)
{
	struct jp_span word = { 0 };
	if (jp_span_text(&line, "Name:")) {
		jp_span_blanks(&line);
		snprintf(s->name, sizeof s->name, "%.*s", (int)(line.len < sizeof s->name ? line.len : sizeof s->name),
		         line.ptr);
	} else if (jp_span_text(&line, "Tgid:")) {
		s->tgid = pid_number(line);
	} else if (jp_span_text(&line, "NSpid:")) {
		for (struct jp_span at = line; jp_proc_word(&at, &word);)
			s->ns_pid = pid_number(word);
	} else if (jp_span_text(&line, "Uid:")) {
		take_ids(line, &s->real_uid, &s->uid);
	} else if (jp_span_text(&line, "Gid:")) {
		take_ids(line, &s->real_gid, &s->gid);
	} else if (jp_span_text(&line, "VmRSS:")) {
		uint64_t kb = status_value(line);
		s->rss = kb < UINT64_MAX / 1024 ? kb * 1024 : 0;
	} else if (jp_span_text(&line, "SigCgt:")) {
		take_hex(line, &s->caught);
	} else if (jp_span_text(&line, "CapEff:")) {
		take_hex(line, &s->effective);
	}
}

void jp_proc_status_parse(struct jp_span text, struct jp_proc_status *status)
{
	struct jp_reader reader;
	struct jp_span line;
	*status = (struct jp_proc_status){ 0 };
	jp_reader_init(&reader, text.ptr, text.len);
	while (jp_reader_line(&reader, &line))
		parse_status_line(line, status);
	if (!status->ns_pid)
		status->ns_pid = status->tgid;
}

/* Needs no memory: what it answers decides who a process is. */
uint64_t jp_proc_start_ticks(const char *proc, int pid)
{
	char path[PATH_MAX], text[stat_limit];
	struct jp_proc_stat stat;
	ssize_t n;
	jp_proc_path(proc, pid, "stat", path, sizeof path);
	int jp_cleanup(jp_file_close) fd = open(path, O_RDONLY | O_CLOEXEC);
	do
		n = fd < 0 ? -1 : read(fd, text, sizeof text);
	while (n < 0 && fd >= 0 && errno == EINTR);
	if (n < 0)
		return 0;
	errno = ESRCH;
	return jp_proc_stat_parse((struct jp_span){ text, (size_t)n }, &stat) ? stat.start_ticks : 0;
}

bool jp_proc_is_gone(int error)
{
	return error == ENOENT || error == ESRCH;
}

int jp_proc_error(struct jprof_error *err, int pid, int error)
{
	if (error == ENOMEM)
		return jp_error_nomem(err);
	if (jp_proc_is_gone(error))
		return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: has ended meanwhile", pid);
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: cannot be looked at: %s", pid, strerror(error));
}
