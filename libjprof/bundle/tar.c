/* A header of 512 bytes for each file, and its bytes, filled up to the next 512. A block of zeros ends an archive. */
#include "bundle/tar.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/reader.h"

enum { tar_block = 512 };

/* POSIX.1-1988; numbers are octal digits. */
enum {
	tar_name_at = 0,
	tar_name_len = 100,
	tar_size_at = 124,
	tar_size_len = 12,
	tar_sum_at = 148,
	tar_sum_len = 8,
	tar_type_at = 156
};
enum { tar_magic_at = 257, tar_prefix_at = 345, tar_prefix_len = 155 };

static bool octal(const char *at, size_t len, uint64_t *value)
{
	size_t i = 0;
	*value = 0;
	while (i < len && at[i] == ' ')
		i++;
	size_t first = i;
	for (; i < len && at[i] >= '0' && at[i] <= '7'; i++)
		*value = *value << 3 | (uint64_t)(at[i] - '0');
	return i > first && (i == len || !at[i] || at[i] == ' ');
}

static bool is_header(const char *h)
{
	uint64_t stated;
	unsigned sum = 0;
	for (size_t i = 0; i < tar_block; i++)
		sum += i >= tar_sum_at && i < tar_sum_at + tar_sum_len ? ' ' : (unsigned char)h[i];
	return octal(h + tar_sum_at, tar_sum_len, &stated) && stated == sum;
}

static bool is_end_block(const char *h)
{
	size_t i = 0;
	while (i < tar_block && !h[i])
		i++;
	return i == tar_block;
}

/* The name in a header, with what ustar puts before it. */
static void take_name(const char *h, char path[256])
{
	bool ustar = !memcmp(h + tar_magic_at, "ustar\0", 6) && h[tar_prefix_at];
	snprintf(path, 256, "%.*s%s%.*s", ustar ? tar_prefix_len : 0, h + tar_prefix_at, ustar ? "/" : "", tar_name_len,
	         h + tar_name_at);
}

/* pax: lines "LENGTH path=NAME\n", where the length is that of the line. */
static void take_pax(struct jp_tar *tar, const char *data, size_t len)
{
	struct jp_span rest = { data, len };
	uint64_t n;
	while (rest.len) {
		struct jp_span line = rest;
		if (jp_span_decimal(&line, &n) != JP_NUMBER_OK || n > rest.len || n <= rest.len - line.len)
			return;
		line.len = (size_t)n - (rest.len - line.len);
		rest = (struct jp_span){ rest.ptr + n, rest.len - (size_t)n };
		if (jp_span_text(&line, " path=") && line.len && line.len <= sizeof tar->long_name)
			snprintf(tar->long_name, sizeof tar->long_name, "%.*s", (int)line.len - 1, line.ptr);
	}
}

/* An entry that only names the next one. False: it is none. */
static bool take_long_name(struct jp_tar *tar, char type, const struct jp_tar_entry *entry)
{
	if (type == 'x' || type == 'g')
		take_pax(tar, entry->data, entry->len);
	else if (type == 'L')
		snprintf(tar->long_name, sizeof tar->long_name, "%.*s",
		         (int)(entry->len < sizeof tar->long_name ? entry->len : 0), entry->data);
	return type == 'x' || type == 'g' || type == 'L' || type == 'K';
}

/* The header at `h`, and what follows it. */
static bool parse_tar_entry(struct jp_tar *tar, const char *h, struct jp_tar_entry *entry)
{
	uint64_t size;
	size_t left = tar->len - tar->pos;
	if (!is_header(h) || !octal(h + tar_size_at, tar_size_len, &size))
		return false;
	*entry = (struct jp_tar_entry){ .data = tar->data + tar->pos, .cut = size > left };
	entry->len = entry->cut ? left : (size_t)size;
	entry->file = h[tar_type_at] == '0' || h[tar_type_at] == '\0' || h[tar_type_at] == '7';
	size_t padded = entry->len + (tar_block - entry->len % tar_block) % tar_block;
	tar->pos += padded < left ? padded : left;
	if (*tar->long_name)
		memcpy(entry->path, tar->long_name, sizeof entry->path);
	else
		take_name(h, entry->path);
	return true;
}

enum jp_tar_result jp_tar_next(struct jp_tar *tar, struct jp_tar_entry *entry)
{
	for (;;) {
		const char *h = tar->data + tar->pos;
		size_t left = tar->len - tar->pos;
		if (!left || (left >= tar_block && is_end_block(h)))
			return JP_TAR_END;
		if (left < tar_block)
			return JP_TAR_DAMAGED;
		tar->pos += tar_block;
		if (!parse_tar_entry(tar, h, entry))
			return JP_TAR_DAMAGED;
		char type = h[tar_type_at];
		if (entry->cut || !take_long_name(tar, type, entry)) {
			*tar->long_name = '\0';
			return JP_TAR_ENTRY;
		}
	}
}
