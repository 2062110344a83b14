/* Debug information unpacked into a file in memory: its sections are those that objcopy packed; what is never read is
 * not there; of damaged files it is left out, or sound. usage: test_debugimage PLAIN PACKED, the same library before
 * and after */
#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include "base/file.h"
#include "harness.h"
#include "input/debugimage.h"
#include "shortmem.h"

static const char *plain_path, *packed_path;

/* The section of that name, NULL: none; *shdr is its header. */
static Elf_Scn *section_of(Elf *elf, const char *wanted, GElf_Shdr *shdr)
{
	size_t names;
	Elf_Scn *scn = NULL;
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		assert_non_null(gelf_getshdr(scn, shdr));
		const char *name = elf_strptr(elf, names, shdr->sh_name);
		if (name && !strcmp(name, wanted))
			return scn;
	}
	return NULL;
}

static void *image_of(const char *path, size_t *size)
{
	struct jp_objfile *file;
	assert_int_equal(jp_objfile_open((struct jp_root){ 0 }, path, &file, NULL), 0);
	void *image = jp_debugimage_new(file, size);
	jp_objfile_close(file);
	return image;
}

static void same_section(Elf *image, Elf *plain, const char *name)
{
	GElf_Shdr shdr, other;
	Elf_Scn *a = section_of(image, name, &shdr), *b = section_of(plain, name, &other);
	assert_true(a && b);
	assert_false(shdr.sh_flags & SHF_COMPRESSED);
	Elf_Data *x = elf_rawdata(a, NULL), *y = elf_rawdata(b, NULL);
	assert_int_equal(x->d_size, y->d_size);
	assert_memory_equal(x->d_buf, y->d_buf, x->d_size);
}

TEST(test_sections)
{
	static const char *const read[] = { ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str" };
	static const char *const unread[] = { ".debug_aranges", ".debug_loclists" };
	size_t size, packed = 0;
	GElf_Shdr shdr;
	elf_version(EV_CURRENT);
	void *bytes = image_of(packed_path, &size);
	assert_non_null(bytes);
	Elf *image = elf_memory(bytes, size);
	int fd = open(plain_path, O_RDONLY | O_CLOEXEC), packed_fd = open(packed_path, O_RDONLY | O_CLOEXEC);
	Elf *plain = elf_begin(fd, ELF_C_READ, NULL), *given = elf_begin(packed_fd, ELF_C_READ, NULL);
	assert_true(image && plain && given);
	for (size_t i = 0; i < jp_count(read); i++) {
		assert_non_null(section_of(given, read[i], &shdr));
		packed += (shdr.sh_flags & SHF_COMPRESSED) != 0;
		same_section(image, plain, read[i]);
	}
	assert_true(packed > 0);
	for (size_t i = 0; i < jp_count(unread); i++) {
		assert_non_null(section_of(plain, unread[i], &shdr));
		assert_null(section_of(image, unread[i], &shdr));
	}
	assert_null(section_of(image, ".text", &shdr));
	elf_end(image);
	elf_end(plain);
	elf_end(given);
	close(fd);
	close(packed_fd);
	free(bytes);
	assert_null(image_of(plain_path, &size)); /* libdw reads it as it is */
}

static volatile unsigned char touched; /* what was read of an image: all of it, for the sanitizers */

/* Each section lies within the image, and libelf can read it. */
static int is_unsound(const char *path)
{
	size_t size;
	struct jp_objfile *file;
	void *bytes = NULL;
	Elf_Scn *scn = NULL;
	int wrong = 0;
	if (jp_objfile_open((struct jp_root){ 0 }, path, &file, NULL))
		return 0;
	bytes = jp_debugimage_new(file, &size);
	jp_objfile_close(file);
	Elf *image = bytes ? elf_memory(bytes, size) : NULL;
	while (image && (scn = elf_nextscn(image, scn))) {
		GElf_Shdr shdr;
		wrong += !gelf_getshdr(scn, &shdr) || shdr.sh_offset > size || shdr.sh_size > size - shdr.sh_offset;
		Elf_Data *data = elf_rawdata(scn, NULL);
		for (size_t i = 0; data && i < data->d_size; i++)
			touched = ((unsigned char *)data->d_buf)[i];
	}
	wrong += bytes && !image;
	elf_end(image);
	free(bytes);
	return wrong;
}

static struct jp_strbuf given;

static int change_byte(int fd, const char *path, size_t at, unsigned char with)
{
	unsigned char byte = (unsigned char)given.text[at] ^ with;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
	int wrong = is_unsound(path);
	assert_int_equal(pwrite(fd, &given.text[at], 1, (off_t)at), 1);
	return wrong ? complain("byte %zu ^ %02x", at, with) : 0;
}

/* What says how large things are: the headers of the file and of its sections, and of what is packed. */
TEST(test_damaged)
{
	char path[] = "/tmp/jprof-debugimage-XXXXXX";
	int wrong = 0, fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(jp_file_read(packed_path, &given, NULL, NULL), 0);
	assert_int_equal(write(fd, given.text, given.len), given.len);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)given.text;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(given.text + head->e_shoff);
	for (size_t at = 0; at < sizeof *head; at++)
		wrong += change_byte(fd, path, at, 0x81);
	for (size_t i = 0; i < head->e_shnum; i++) {
		if (!(sections[i].sh_flags & SHF_COMPRESSED))
			continue;
		for (size_t at = 0; at < sizeof *sections; at++) {
			wrong += change_byte(fd, path, head->e_shoff + i * sizeof *sections + at, 0x81);
			wrong += change_byte(fd, path, head->e_shoff + i * sizeof *sections + at, 0x08);
		}
		for (size_t at = 0; at < 64 && at < sections[i].sh_size; at++)
			wrong += change_byte(fd, path, sections[i].sh_offset + at, 0x41);
	}
	assert_int_equal(wrong, 0);
	jp_strbuf_release(&given);
	close(fd);
	unlink(path);
}

/* Of each packed section in turn a file that has a GiB of it, and claims that a TiB and more comes of it. */
TEST(test_huge_claims)
{
	char path[] = "/tmp/jprof-debugimage-XXXXXX";
	const uint64_t packed = UINT64_C(1) << 30;
	const Elf64_Chdr huge = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = packed * 1040, .ch_addralign = 1 };
	size_t size, without = 0;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(jp_file_read(packed_path, &given, NULL, NULL), 0);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)given.text;
	Elf64_Shdr *sections = (Elf64_Shdr *)(void *)(given.text + head->e_shoff);
	for (size_t i = 0; i < head->e_shnum; i++) {
		Elf64_Shdr before = sections[i];
		if (!(before.sh_flags & SHF_COMPRESSED))
			continue;
		sections[i].sh_offset = (given.len + 15) / 16 * 16;
		sections[i].sh_size = sizeof huge + packed;
		assert_int_equal(pwrite(fd, given.text, given.len, 0), given.len);
		assert_int_equal(pwrite(fd, &huge, sizeof huge, (off_t)sections[i].sh_offset), sizeof huge);
		assert_int_equal(ftruncate(fd, (off_t)(sections[i].sh_offset + sections[i].sh_size)), 0);
		void *image = image_of(path, &size);
		without += !image;
		free(image);
		sections[i] = before;
	}
	assert_true(without > 0); /* those that are read */
	jp_strbuf_release(&given);
	close(fd);
	unlink(path);
}

/* Memory that is short is no error: there is no image, and libdw has the file. */
TEST(test_short_memory)
{
	struct jp_objfile *file;
	void *image = NULL;
	size_t size, failing = 0;
	assert_int_equal(jp_objfile_open((struct jp_root){ 0 }, packed_path, &file, NULL), 0);
	while (!image) {
		shortmem_arm(++failing);
		image = jp_debugimage_new(file, &size);
		assert_true(!image == (shortmem_disarm() >= failing));
	}
	assert_true(failing > 2); /* the image, and what is packed, failed before */
	free(image);
	jp_objfile_close(file);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	plain_path = argv[1];
	packed_path = argv[2];
	return run_listed(NULL, NULL);
}
