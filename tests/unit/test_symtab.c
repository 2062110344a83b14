/* usage: test_symtab LIBRARY READELF STRIPPED READELF
 * unit_subject.c as a library, and without .symtab; each with what `readelf -sW` says of it. */
#include <fcntl.h>
#include <libelf.h>
#include <unistd.h>

#include "harness.h"
#include "input/symtab.h"

enum { max_symbols = 256 };

struct truth {
	unsigned long long value, size;
	char type[16], section[16], name[128];
	bool dynamic;
};

struct subject {
	const char *library, *readelf;
	int fd;
	Elf *elf;
	struct jp_symtab *symtab;
	struct truth truth[max_symbols]; /* functions, and what has no type, in sections of code */
	size_t count;
};

static struct subject full, stripped;

static bool is_known(const char *section)
{
	return strspn(section, "0123456789") == strlen(section);
}

static void read_truth(struct subject *s)
{
	char line[1024], code[2][16] = { "", "" };
	bool dynamic = false;
	FILE *in = fopen(s->readelf, "r");
	assert_non_null(in);
	while (fgets(line, sizeof line, in)) {
		struct truth *t = &s->truth[s->count];
		if (!strncmp(line, "Symbol table", 12))
			dynamic = strstr(line, ".dynsym");
		if (sscanf(line, " %*d: %llx %lli %15s %*s %*s %15s %127s", &t->value, (long long *)&t->size, t->type,
		           t->section, t->name) != 5 ||
		    !is_known(t->section) || (strcmp(t->type, "FUNC") && strcmp(t->type, "NOTYPE")))
			continue;
		t->dynamic = dynamic;
		if (!strcmp(t->name, "subject_exported"))
			strcpy(code[0], t->section);
		if (!strcmp(t->name, "tail"))
			strcpy(code[1], t->section);
		assert_true(++s->count < max_symbols);
	}
	fclose(in);
	size_t kept = 0;
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->truth[i].section, code[0]) || !strcmp(s->truth[i].section, code[1]))
			s->truth[kept++] = s->truth[i];
	s->count = kept;
	assert_true(kept >= 8);
}

static void open_subject(struct subject *s)
{
	elf_version(EV_CURRENT);
	s->fd = open(s->library, O_RDONLY | O_CLOEXEC);
	s->elf = elf_begin(s->fd, ELF_C_READ, NULL);
	assert_non_null(s->elf);
	s->symtab = jp_symtab_new(s->elf, NULL);
	assert_non_null(s->symtab);
	read_truth(s);
}

FIXTURE(set_up)
{
	open_subject(&full);
	open_subject(&stripped);
	return 0;
}

FIXTURE(clean_up)
{
	struct subject *all[] = { &full, &stripped };
	for (size_t i = 0; i < jp_count(all); i++) {
		jp_symtab_free(all[i]->symtab);
		elf_end(all[i]->elf);
		close(all[i]->fd);
	}
	return 0;
}

static const struct truth *named(const struct subject *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->truth[i].name, name))
			return &s->truth[i];
	fail_msg("readelf knows no %s", name);
	return NULL;
}

/* Where the innermost of the symbols that hold the address starts; false and 0 if none does. */
static bool innermost(const struct subject *s, uint64_t vaddr, uint64_t *start)
{
	bool found = false;
	*start = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct truth *t = &s->truth[i];
		if (vaddr < t->value || vaddr - t->value >= t->size || (found && t->value < *start))
			continue;
		*start = t->value;
		found = true;
	}
	return found;
}

static bool is_called(const struct subject *s, uint64_t start, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->truth[i].value == start && !strcmp(s->truth[i].name, name))
			return true;
	return false;
}

/* Every address from before the first function to behind the last. */
static void check_every_address(const struct subject *s)
{
	uint64_t first = UINT64_MAX, last = 0, start;
	size_t hits = 0;
	for (size_t i = 0; i < s->count; i++) {
		first = s->truth[i].value < first ? s->truth[i].value : first;
		last = s->truth[i].value + s->truth[i].size > last ? s->truth[i].value + s->truth[i].size : last;
	}
	for (uint64_t vaddr = first - 16; vaddr < last + 64; vaddr++) {
		const struct jp_symbol *symbol = jp_symtab_find(s->symtab, vaddr, 0, 0);
		bool held = innermost(s, vaddr, &start);
		if (held && (!symbol || symbol->value != start || !is_called(s, start, symbol->name)))
			fail_msg("0x%llx: %s", (unsigned long long)vaddr, symbol ? symbol->name : "nothing");
		if (!held && symbol && symbol->size)
			fail_msg("0x%llx: %s does not hold it", (unsigned long long)vaddr, symbol->name);
		hits += held;
	}
	assert_true(hits > 50);
}

TEST(test_every_address_by_its_symbol)
{
	check_every_address(&full);
	check_every_address(&stripped);
}

static const char *name_at(const struct subject *s, uint64_t vaddr, uint64_t fde_start, uint64_t fde_end)
{
	const struct jp_symbol *symbol = jp_symtab_find(s->symtab, vaddr, fde_start, fde_end);
	return symbol ? symbol->name : "none";
}

/* A static function after an exported one is not the exported one. */
TEST(test_stripped_statics_have_no_name)
{
	const struct truth *hidden = named(&full, "subject_static");
	for (uint64_t i = 0; i < hidden->size; i++) {
		assert_string_equal(name_at(&full, hidden->value + i, 0, 0), "subject_static");
		assert_string_equal(name_at(&stripped, hidden->value + i, hidden->value, hidden->value + hidden->size),
		                    "none");
	}
}

TEST(test_symbols_without_size)
{
	uint64_t bare = named(&full, "bare")->value, next = named(&full, "bare_next")->value;
	uint64_t tail = named(&full, "tail")->value;
	assert_int_equal(named(&full, "bare")->size, 0);
	assert_int_equal(next, bare + 8);
	assert_string_equal(name_at(&full, bare, 0, 0), "bare");
	assert_string_equal(name_at(&full, bare + 7, 0, 0), "bare");
	assert_string_equal(name_at(&full, next, 0, 0), "bare_next");
	assert_string_equal(name_at(&full, next + 7, 0, 0), "bare_next");
	assert_string_equal(name_at(&full, next + 8, 0, 0), "outer");
	/* within the function that .eh_frame knows, and not in one that starts later */
	assert_string_equal(name_at(&full, bare + 4, bare, bare + 8), "bare");
	assert_string_equal(name_at(&full, bare + 4, bare + 2, bare + 8), "none");
	assert_string_equal(name_at(&full, bare + 2, bare + 2, bare + 8), "none");
	/* up to the section's end */
	assert_string_equal(name_at(&full, tail, 0, 0), "tail");
	assert_string_equal(name_at(&full, tail + 11, 0, 0), "tail");
	assert_string_equal(name_at(&full, tail + 12, 0, 0), "none");
}

TEST(test_one_inside_another)
{
	uint64_t outer = named(&full, "outer")->value;
	assert_string_equal(name_at(&full, outer + 7, 0, 0), "outer");
	assert_string_equal(name_at(&full, outer + 8, 0, 0), "inner");
	assert_string_equal(name_at(&full, outer + 15, 0, 0), "inner");
	assert_string_equal(name_at(&full, outer + 16, 0, 0), "outer");
	assert_string_equal(name_at(&full, outer + 23, 0, 0), "outer");
	assert_string_equal(name_at(&full, outer + 24, 0, 0), "twin"); /* of three, the plain exported one */
}

TEST(test_sources)
{
	uint64_t exported = named(&full, "subject_exported")->value;
	assert_int_equal(jp_symtab_find(full.symtab, exported, 0, 0)->source, JPROF_SOURCE_SYMTAB);
	assert_int_equal(jp_symtab_find(stripped.symtab, exported, 0, 0)->source, JPROF_SOURCE_DYNSYM);
	/* names from the debug file of a stripped library */
	struct jp_symtab *both = jp_symtab_new(stripped.elf, full.elf);
	uint64_t hidden = named(&full, "subject_static")->value;
	assert_string_equal(jp_symtab_find(both, hidden, 0, 0)->name, "subject_static");
	jp_symtab_free(both);
}

TEST(test_exports)
{
	const struct subject *all[] = { &full, &stripped };
	for (size_t i = 0; i < jp_count(all); i++) {
		assert_true(jp_symtab_exports(all[i]->symtab, "subject_exported"));
		assert_true(jp_symtab_exports(all[i]->symtab, "subject_weak"));
		assert_false(jp_symtab_exports(all[i]->symtab, "subject_static"));
		assert_false(jp_symtab_exports(all[i]->symtab, "subject_data"));
		assert_false(jp_symtab_exports(all[i]->symtab, "subject"));
	}
}

TEST(test_walking_in_order)
{
	const struct jp_symbol *symbol;
	uint64_t before = 0;
	size_t count = 0;
	for (; (symbol = jp_symtab_at(stripped.symtab, count)); count++) {
		assert_true(symbol->value >= before);
		assert_true(is_called(&stripped, symbol->value, symbol->name));
		before = symbol->value;
	}
	assert_int_equal(count, stripped.count);
	assert_null(jp_symtab_at(stripped.symtab, count + 1));
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	full = (struct subject){ .library = argv[1], .readelf = argv[2] };
	stripped = (struct subject){ .library = argv[3], .readelf = argv[4] };
	return run_listed(set_up, clean_up);
}
