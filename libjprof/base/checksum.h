/* Size and 64 bits of FNV-1a over bytes: by these a table of Ruby stacks knows its dump (docs/internals/ruby-table.md).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/bytesource.h"

struct jp_checksum {
	uint64_t size, fnv;
};

/* Of no bytes. */
struct jp_checksum jp_checksum_none(void);

void jp_checksum_add(struct jp_checksum *sum, const void *data, size_t len);

/* A source that hands on what `of` has, which it takes over, and adds it to *sum, which must outlive it. NULL when
 * memory is short: `of` is the caller's then. */
struct jp_bytesource *jp_checksum_source(struct jp_bytesource *of, struct jp_checksum *sum);
