#include "input/minidebug.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "input/unpack.h"

enum { most_unpacked = 128 << 20 };

struct jp_minidebug {
	struct jp_strbuf bytes;
	Elf *elf;
};

static const unsigned char magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };

static const struct jp_unpack_limits limits = { .size = most_unpacked, .free_size = most_unpacked, .ratio = 1000 };

/* NULL, or what is wrong. */
static const char *unpack(const Elf_Data *packed, struct jp_strbuf *out)
{
	struct jprof_error fault = { 0 }, err = { 0 };
	if (packed->d_size < sizeof magic || memcmp(packed->d_buf, magic, sizeof magic))
		return "it is not compressed with xz";
	int rc = jp_unpack(packed->d_buf, packed->d_size, "", &limits, out, &fault, &err);
	out->failed |= rc == JPROF_E_NOMEM;
	if (rc == JPROF_E_UNSUPPORTED)
		return "it is larger than 128 MiB when unpacked";
	return fault.code ? "its compressed data are damaged" : NULL;
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
