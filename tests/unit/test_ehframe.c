/* usage: test_ehframe (LIBRARY READELF)...
 * unit_subject.c as a library, with and without the search table .eh_frame_hdr; each with what
 * `readelf --debug-dump=frames` says of it. */
#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include "harness.h"
#include "input/ehframe.h"

enum { max_fdes = 256, max_subjects = 4 };

struct subject {
	const char *library, *readelf;
	int fd;
	Elf *elf;
	struct jp_ehframe *ehframe;
	unsigned long long fde[max_fdes][2]; /* [start, end) */
	size_t count;
};

static struct subject subjects[max_subjects];
static size_t subject_count;

static void read_truth(struct subject *s)
{
	char line[1024];
	FILE *in = fopen(s->readelf, "r");
	assert_non_null(in);
	while (fgets(line, sizeof line, in)) {
		const char *pc = strstr(line, " FDE ") ? strstr(line, "pc=") : NULL;
		if (pc && sscanf(pc, "pc=%llx..%llx", &s->fde[s->count][0], &s->fde[s->count][1]) == 2)
			assert_true(++s->count < max_fdes);
	}
	fclose(in);
	assert_true(s->count >= 4);
}

FIXTURE(set_up)
{
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < subject_count; i++) {
		struct subject *s = &subjects[i];
		s->fd = open(s->library, O_RDONLY | O_CLOEXEC);
		s->elf = elf_begin(s->fd, ELF_C_READ, NULL);
		s->ehframe = jp_ehframe_new(s->elf);
		assert_non_null(s->ehframe);
		read_truth(s);
	}
	return 0;
}

FIXTURE(clean_up)
{
	for (size_t i = 0; i < subject_count; i++) {
		jp_ehframe_free(subjects[i].ehframe);
		elf_end(subjects[i].elf);
		close(subjects[i].fd);
	}
	jp_ehframe_free(NULL);
	return 0;
}

static size_t fde_of(const struct subject *s, uint64_t vaddr)
{
	size_t i = 0;
	while (i < s->count && (vaddr < s->fde[i][0] || vaddr >= s->fde[i][1]))
		i++;
	return i;
}

static void check_every_address(const struct subject *s)
{
	uint64_t first = UINT64_MAX, last = 0, start, end;
	for (size_t i = 0; i < s->count; i++) {
		first = s->fde[i][0] < first ? s->fde[i][0] : first;
		last = s->fde[i][1] > last ? s->fde[i][1] : last;
	}
	for (uint64_t vaddr = first - 64; vaddr < last + 64; vaddr++) {
		size_t i = fde_of(s, vaddr);
		bool found = jp_ehframe_find(s->ehframe, vaddr, &start, &end);
		if (found != (i < s->count))
			fail_msg("%s: 0x%llx", s->library, (unsigned long long)vaddr);
		if (found) {
			assert_int_equal(start, s->fde[i][0]);
			assert_int_equal(end, s->fde[i][1]);
		}
	}
}

TEST(test_every_address_by_its_description)
{
	for (size_t i = 0; i < subject_count; i++)
		check_every_address(&subjects[i]);
}

TEST(test_far_addresses)
{
	static const uint64_t far[] = { 0, 1, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX };
	for (size_t i = 0; i < subject_count; i++)
		for (size_t k = 0; k < jp_count(far); k++) {
			uint64_t start = 1, end = 2;
			assert_false(jp_ehframe_find(subjects[i].ehframe, far[k], &start, &end));
		}
}

/* A file's head and a file of nothing: both have no tables, and no answers. */
TEST(test_damaged_files)
{
	size_t len;
	uint64_t start, end;
	char *bytes = read_whole(subjects[0].library, &len);
	for (size_t cut = 0; cut <= len; cut += cut < 128 ? 1 : 97) {
		char *part = malloc(cut + !cut);
		memcpy(part, bytes, cut);
		Elf *elf = elf_memory(part, cut);
		struct jp_ehframe *e = elf ? jp_ehframe_new(elf) : NULL;
		for (size_t i = 0; e && i < subjects[0].count; i++)
			if (jp_ehframe_find(e, subjects[0].fde[i][0], &start, &end))
				assert_int_equal(start, subjects[0].fde[i][0]);
		jp_ehframe_free(e);
		elf_end(elf);
		free(part);
	}
	free(bytes);
}

/* Every byte of the file in turn set to 0xff: any answer but a crash, and never one that does not
 * hold the address. */
TEST(test_flipped_bytes)
{
	size_t len;
	char *bytes = read_whole(subjects[0].library, &len);
	for (size_t at = 64; at < len; at++) {
		char was = bytes[at];
		bytes[at] = (char)0xff;
		Elf *elf = elf_memory(bytes, len);
		struct jp_ehframe *e = elf ? jp_ehframe_new(elf) : NULL;
		for (size_t i = 0; e && i < subjects[0].count; i++) {
			uint64_t vaddr = subjects[0].fde[i][0], start, end;
			if (jp_ehframe_find(e, vaddr, &start, &end))
				assert_true(start <= vaddr && vaddr < end);
		}
		jp_ehframe_free(e);
		elf_end(elf);
		bytes[at] = was;
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc && subject_count < max_subjects; i += 2)
		subjects[subject_count++] = (struct subject){ .library = argv[i], .readelf = argv[i + 1] };
	if (!subject_count)
		return 2;
	return run_listed(set_up, clean_up);
}
