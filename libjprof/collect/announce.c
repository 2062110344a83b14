#include "collect/announce.h"

#include <limits.h>
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
