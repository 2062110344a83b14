#include "input/flat.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/index.h"

void jp_flat_release(struct jp_flat *f)
{
	jp_intern_release(&f->strings);
	jp_strbuf_release(&f->written);
	free(f->at);
}

void jp_flat_begin(struct jp_flat *f, const char magic[8], uint32_t version)
{
	enum { magic_bytes = 8 };
	if (f->out) {
		jp_strbuf_add(f->out, magic, magic_bytes);
	} else {
		f->wrong = f->in.len < magic_bytes || memcmp(f->in.data, magic, magic_bytes);
		jp_bytes_seek(&f->in, magic_bytes);
	}
	f->wrong = jp_flat_u32(f, version, version) != version || f->wrong;
}

uint32_t jp_flat_u32(struct jp_flat *f, uint32_t value, uint32_t most)
{
	if (f->out) {
		jp_strbuf_uint(f->out, value, sizeof value);
		return value;
	}
	value = (uint32_t)jp_bytes_uint(&f->in, sizeof value);
	f->wrong = f->wrong || value > most || f->in.bad;
	return value;
}

uint64_t jp_flat_u64(struct jp_flat *f, uint64_t value)
{
	if (f->out)
		jp_strbuf_uint(f->out, value, sizeof value);
	else
		value = jp_bytes_uint(&f->in, sizeof value);
	f->wrong = f->wrong || f->in.bad;
	return value;
}

/* Where the string stands in the text that is written. */
static uint32_t position_of(struct jp_flat *f, const char *string)
{
	if (!string || f->wrong)
		return JP_NONE;
	uint32_t known = f->strings.count, id = jp_intern_str(&f->strings, string);
	if (id == JP_NONE || (id == known && jp_array_push(f->at, known, f->at_cap))) {
		f->wrong = true;
		return JP_NONE;
	}
	if (id == known) {
		f->at[id] = (uint32_t)f->written.len;
		jp_strbuf_add(&f->written, string, strlen(string) + 1);
		f->text_len = f->written.len;
		f->wrong = f->written.failed || f->text_len > INT32_MAX;
	}
	return f->at[id];
}

const char *jp_flat_text(struct jp_flat *f, const char *string)
{
	uint32_t at = jp_flat_u32(f, f->out ? position_of(f, string) : 0, JP_NONE);
	if (f->out)
		return string;
	if (at == JP_NONE || !f->text)
		return NULL;
	f->wrong = f->wrong || at >= f->text_len;
	return f->wrong ? NULL : f->text + at;
}
