#include "input/minidebug.h"

#include <archive.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

enum { most_unpacked = 128 << 20, chunk_bytes = 1 << 14 };

struct jp_minidebug {
	struct jp_strbuf bytes;
	Elf *elf;
};

static const unsigned char magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
static const char damaged[] = "its compressed data are damaged";

static void free_archive(struct archive **archive)
{
	archive_read_free(*archive);
}

/* NULL, or what is wrong. */
static const char *unpack(const Elf_Data *packed, struct jp_strbuf *out)
{
	struct archive jp_cleanup(free_archive) *a = archive_read_new();
	struct archive_entry *entry;
	char chunk[chunk_bytes];
	if (!a || archive_read_support_filter_xz(a) != ARCHIVE_OK ||
	    archive_read_support_format_empty(a) != ARCHIVE_OK || archive_read_support_format_raw(a) != ARCHIVE_OK)
		return "this libarchive cannot read xz";
	if (packed->d_size < sizeof magic || memcmp(packed->d_buf, magic, sizeof magic))
		return "it is not compressed with xz";
	int rc = archive_read_open_memory(a, packed->d_buf, packed->d_size);
	if (rc == ARCHIVE_OK)
		rc = archive_read_next_header(a, &entry);
	if (rc == ARCHIVE_EOF)
		return NULL;
	if (rc != ARCHIVE_OK)
		return damaged;
	for (;;) {
		la_ssize_t n = archive_read_data(a, chunk, sizeof chunk);
		if (n < 0)
			return damaged;
		if (!n)
			return NULL;
		if (out->len + (size_t)n > most_unpacked)
			return "it is larger than 128 MiB when unpacked";
		jp_strbuf_add(out, chunk, (size_t)n);
		if (out->failed)
			return NULL;
	}
}

static const char *open_unpacked(struct jp_minidebug *mini)
{
	if (!mini->bytes.len)
		return "it is empty";
	mini->elf = elf_memory(mini->bytes.text, mini->bytes.len);
	return mini->elf && elf_kind(mini->elf) == ELF_K_ELF ? NULL : "it holds no ELF file";
}

int jp_minidebug_load(const struct jp_elffile *file, struct jp_minidebug **out)
{
	const Elf_Data *packed = jp_elffile_section(file, ".gnu_debugdata");
	if (!packed || !packed->d_buf)
		return 0;
	struct jp_minidebug *mini = calloc(1, sizeof *mini);
	if (!mini)
		return -1;
	const char *wrong = unpack(packed, &mini->bytes);
	bool failed = mini->bytes.failed;
	if (!wrong && !failed)
		wrong = open_unpacked(mini);
	if (!wrong && !failed) {
		*out = mini;
		return 0;
	}
	if (wrong)
		jp_objfile_remark(file->object, "its .gnu_debugdata (MiniDebugInfo) cannot be used: %s", wrong);
	jp_minidebug_free(mini);
	return failed ? -1 : 0;
}

Elf *jp_minidebug_elf(const struct jp_minidebug *mini)
{
	return mini->elf;
}

void jp_minidebug_free(struct jp_minidebug *mini)
{
	if (!mini)
		return;
	elf_end(mini->elf);
	jp_strbuf_release(&mini->bytes);
	free(mini);
}
