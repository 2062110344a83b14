#include "collect/announcement.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"

static bool number_then_colon(struct jp_span *text, uint64_t limit, int *value)
{
	uint64_t n;
	if (jp_span_decimal(text, &n) != JP_NUMBER_OK || n > limit || !jp_span_char(text, ':'))
		return false;
	*value = (int)n;
	return true;
}

bool jp_announce_parse(const char *path, struct jp_announce *a)
{
	static const char deleted[] = " (deleted)";
	enum { last_signal = 64 };
	struct jp_span text = { path, strlen(path) };
	if (!jp_span_text(&text, "/memfd:jprof-agent:") || !number_then_colon(&text, INT_MAX, &a->version) ||
	    !number_then_colon(&text, last_signal, &a->signal))
		return false;
	if (jp_span_ends(text, deleted))
		text.len -= sizeof deleted - 1;
	a->socket = text.ptr;
	a->socket_len = text.len;
	return a->version > 0 && (!text.len || (text.len > 1 && (*text.ptr == '/' || *text.ptr == '@')));
}

bool jp_trouble_parse(uint64_t offset, int *trouble, int *error)
{
	const uint64_t first = 1 << 30, step = 1 << 16, errors = 256, last = 1 << 14;
	if (offset < first || offset % step || (offset - first) / step >= last)
		return false;
	*trouble = (int)((offset - first) / step / errors);
	*error = (int)((offset - first) / step % errors);
	return *trouble > 0;
}

static const char *trouble_advice(int error)
{
	switch (error) {
	case EMFILE: return "; it has no descriptors left: raise ulimit -n";
	case ENFILE: return "; the system has no descriptors left";
	case EAGAIN: return "; raise ulimit -u, or pids.max of its control group";
	case ENOMEM: return "; raise ulimit -v, or give it more memory";
	case EPERM:
	case EACCES:
	case ENOSYS: return "; a seccomp filter or another rule of the system forbids it there";
	default: return "";
	}
}

void jp_trouble_text(int trouble, int error, char *text, size_t size)
{
	static const char *const words[] = {
		"found what this jprof does not know",
		"could not announce itself (memfd_create)",
		"could not start its thread",
		"got too small a stack for its thread",
		"could not make a pipe",
		"could not open a control socket",
		"found too little memory to work in",
	};
	size_t known = trouble > 0 && (size_t)trouble < sizeof words / sizeof *words ? (size_t)trouble : 0;
	snprintf(text, size, "%s%s%s%s", words[known], error ? ": " : "", error ? strerror(error) : "",
	         trouble_advice(error));
}
