/* A header of 512 bytes for each file, and its bytes, filled up to the next 512. A block of zeros ends an archive. */
#include "bundle/tar.h"

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
enum { tar_sparse_more_at = 482, tar_more_sparse_at = 504 }; /* GNU's: in a header of type S, in a block behind it */
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

/* A number of GNU tar's that has too many digits: after the byte 0x80 it is big-endian. */
static bool tar_size(const char *h, uint64_t *size)
{
	const unsigned char *at = (const unsigned char *)h + tar_size_at;
	if (*at != 0x80)
		return octal(h + tar_size_at, tar_size_len, size);
	*size = 0;
	for (size_t i = 1; i < tar_size_len; i++) {
		if (*size >> 56)
			return false;
		*size = *size << 8 | at[i];
	}
	return true;
}

static bool is_header(const char *h)
{
	uint64_t stated;
	unsigned sum = 0;
	for (size_t i = 0; i < tar_block; i++)
		sum += i >= tar_sum_at && i < tar_sum_at + tar_sum_len ? ' ' : (unsigned char)h[i];
	return octal(h + tar_sum_at, tar_sum_len, &stated) && stated == sum;
}

/* Of pax, for the next entry or for all; of GNU, a name or a link's target. */
static bool is_description(char type)
{
	return type == 'x' || type == 'g' || type == 'L' || type == 'K';
}

static bool is_end_block(const char *h)
{
	size_t i = 0;
	while (i < tar_block && !h[i])
		i++;
	return i == tar_block;
}

/* "", if it is too long or holds a zero: a part of it may be another file's. */
static void keep_tar_path(char path[jp_tar_path_room], const char *name, size_t len)
{
	bool whole = len < jp_tar_path_room && !memchr(name, '\0', len);
	snprintf(path, jp_tar_path_room, "%.*s", whole ? (int)len : 0, name);
}

/* The name in a header, with what ustar puts before it. */
static void header_name(const char *h, char path[jp_tar_path_room])
{
	char name[tar_prefix_len + 1 + tar_name_len + 1];
	bool ustar = !memcmp(h + tar_magic_at, "ustar\0", 6) && h[tar_prefix_at];
	int len = snprintf(name, sizeof name, "%.*s%s%.*s", ustar ? tar_prefix_len : 0, h + tar_prefix_at,
	                   ustar ? "/" : "", tar_name_len, h + tar_name_at);
	keep_tar_path(path, name, (size_t)len);
}

/* pax: lines "LENGTH KEY=VALUE\n", where the length is that of the line. */
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
		if (jp_span_text(&line, " path=") && line.len) {
			tar->next.named = true;
			keep_tar_path(tar->next.path, line.ptr, line.len - 1);
		} else if (jp_span_text(&line, " size=")) {
			tar->next.sized = jp_span_decimal(&line, &tar->next.size) == JP_NUMBER_OK;
		} else if (jp_span_starts(line, " GNU.sparse.")) {
			tar->next.sparse = true;
		}
	}
}

/* An entry that only describes the next one. What a global one says counts for all that follow, so that it names none.
 * False: it is none. */
static bool take_description(struct jp_tar *tar, char type, const struct jp_tar_entry *entry)
{
	if (type == 'x') {
		take_pax(tar, entry->data, entry->len);
	} else if (type == 'L') {
		tar->next.named = true;
		keep_tar_path(tar->next.path, entry->data, strnlen(entry->data, entry->len));
	}
	return is_description(type);
}

/* Behind a header of GNU's sparse files: blocks with more of where their data belong. */
static void skip_sparse_blocks(struct jp_tar *tar, const char *h)
{
	bool more = h[tar_type_at] == 'S' && h[tar_sparse_more_at];
	while (more && tar->len - tar->pos >= tar_block) {
		more = tar->data[tar->pos + tar_more_sparse_at];
		tar->pos += tar_block;
	}
}

/* The header at `h`, and what follows it. */
static bool parse_tar_entry(struct jp_tar *tar, const char *h, struct jp_tar_entry *entry)
{
	uint64_t size;
	if (!is_header(h) || !tar_size(h, &size))
		return false;
	char type = h[tar_type_at];
	if (tar->next.sized && !is_description(type))
		size = tar->next.size;
	skip_sparse_blocks(tar, h);
	size_t left = tar->len - tar->pos;
	*entry = (struct jp_tar_entry){ .data = tar->data + tar->pos, .cut = size > left };
	entry->len = entry->cut ? left : (size_t)size;
	entry->file = (type == '0' || type == '\0' || type == '7') && !tar->next.sparse;
	size_t padded = entry->len + (tar_block - entry->len % tar_block) % tar_block;
	tar->pos += padded < left ? padded : left;
	if (tar->next.named)
		memcpy(entry->path, tar->next.path, sizeof entry->path);
	else
		header_name(h, entry->path);
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
		if (entry->cut || !take_description(tar, type, entry)) {
			tar->next = (struct jp_tar_described){ 0 };
			return JP_TAR_ENTRY;
		}
	}
}
