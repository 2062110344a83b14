/* Decoding of machine code. The bytes and what they mean are those of the manuals: Intel SDM volume 2, Arm ARM. Who
 * decodes for others is not believed. */
#include <elf.h>

#include "harness.h"
#include "input/askdecoded.h"
#include "input/decoder.h"

struct code {
	unsigned char bytes[8];
	size_t len, size; /* bytes given, bytes of the instruction */
	uint64_t target;
	const char *mnemonic;
};

static void check(int machine, const struct code *codes, size_t count)
{
	struct jp_decoder *decoder = NULL;
	struct jprof_error err = { 0 };
	int wrong = 0, rc = jp_decoder_new(machine, &decoder, &err);
	if (rc) { /* a build without capstone */
		assert_int_equal(rc, JPROF_E_UNSUPPORTED);
		assert_is_message(err.text);
		assert_contains(err.text, "capstone");
		skip();
	}
	for (size_t i = 0; i < count; i++) {
		struct jp_decoded is;
		assert_int_equal(jp_decode(decoder, codes[i].bytes, codes[i].len, 0x1000, &is), 0);
		size_t len = strlen(codes[i].mnemonic);
		if (is.size != codes[i].size || is.target != codes[i].target ||
		    strncmp(is.text, codes[i].mnemonic, len))
			wrong += complain("%zu: \"%s\", %u bytes, to 0x%llx; should be %s", i, is.text, is.size,
			                  (unsigned long long)is.target, codes[i].mnemonic);
	}
	jp_decoder_free(decoder);
	assert_int_equal(wrong, 0);
}

TEST(test_x86_64)
{
	static const struct code codes[] = {
		{ { 0x55 }, 1, 1, 0, "pushq %rbp" },
		{ { 0xe8, 0xfb, 0x0f, 0, 0, 0xc3 }, 6, 5, 0x2000, "callq 0x2000" },
		{ { 0xff, 0xd0 }, 2, 2, 0, "callq *%rax" },
		{ { 0xeb, 0xfe }, 2, 2, 0x1000, "jmp 0x1000" },
		{ { 0xc3, 0xff }, 2, 1, 0, "ret" },
		{ { 0xe8, 0xfb }, 2, 1, 0, ".byte 0xe8" }, /* cut */
		{ { 0x06 }, 1, 1, 0, ".byte 0x06" },       /* none in 64-bit mode */
	};
	check(EM_X86_64, codes, jp_count(codes));
}

TEST(test_aarch64)
{
	static const struct code codes[] = {
		{ { 0x1f, 0x20, 0x03, 0xd5 }, 4, 4, 0, "nop" },
		{ { 0xc0, 0x03, 0x5f, 0xd6, 1 }, 5, 4, 0, "ret" },
		{ { 0x00, 0x04, 0x00, 0x94 }, 4, 4, 0x2000, "bl " },
		{ { 0x00, 0x00, 0x3f, 0xd6 }, 4, 4, 0, "blr x0" },
		{ { 0xff, 0xff, 0xff, 0xff }, 4, 4, 0, ".byte 0xff, 0xff, 0xff, 0xff" },
		{ { 0x1f, 0x20 }, 2, 2, 0, ".byte 0x1f, 0x20" },
	};
	check(EM_AARCH64, codes, jp_count(codes));
}

TEST(test_others)
{
	struct jp_decoder *decoder = NULL;
	struct jprof_error err = { 0 };
	assert_int_equal(jp_decoder_new(EM_S390, &decoder, &err), JPROF_E_UNSUPPORTED);
	assert_is_message(err.text);
	assert_contains(err.text, "disasm");
	assert_null(decoder);
	jp_decoder_free(NULL);
}

/* ---- who decodes for others --------------------------------------------------------------------- */

struct told {
	const char *bytes; /* of each answer */
	size_t len;
	unsigned asked;
};

static int tell(void *context, const struct jprof_name_question *q, void **answer, size_t *len, struct jprof_error *err)
{
	struct told *told = context;
	(void)q;
	(void)err;
	told->asked++;
	*answer = memcpy(malloc(told->len + 1), told->bytes, told->len);
	*len = told->len;
	return 0;
}

#define TOLD(bytes) bytes, sizeof bytes - 1 /* without the literal's own NUL */

TEST(test_told)
{
	static const struct {
		const char *bytes;
		size_t len;
		int rc;
		size_t count; /* of 4 bytes of code */
		unsigned asked;
	} answers[] = {
		{ TOLD("\2\0\0\0\0\0\0\0\0nop\0\2\1\2\0\0\0\0\0\0go\0"), 0, 2, 1 },
		{ TOLD("\1\0\0\0\0\0\0\0\0nop\0"), 0, 4, 4 }, /* part by part */
		{ TOLD(""), 0, 0, 1 },
		{ TOLD("\0\0\0\0\0\0\0\0\0nop\0"), JPROF_E_UNSUPPORTED, 0, 1 },
		{ TOLD("\5\0\0\0\0\0\0\0\0nop\0"), JPROF_E_UNSUPPORTED, 0, 1 },
		{ TOLD("\3\0\0\0\0\0\0\0\0nop\0"), JPROF_E_UNSUPPORTED, 1, 2 },
		{ TOLD("\1\0\0\0\0\0\0\0\0nop"), JPROF_E_UNSUPPORTED, 0, 1 },
		{ TOLD("\1\0\0\0"), JPROF_E_UNSUPPORTED, 0, 1 },
	};
	struct jp_objfile *file;
	struct jp_decoder *decoder;
	assert_int_equal(jp_objfile_open((struct jp_root){ 0 }, "/proc/self/exe", &file, NULL), 0);
	if (jp_decoder_new(file->headers.machine, &decoder, NULL)) {
		jp_objfile_close(file);
		skip();
	}
	jp_decoder_free(decoder);
	for (size_t i = 0; i < jp_count(answers); i++) {
		struct told told = { answers[i].bytes, answers[i].len, 0 };
		const struct jprof_name_finder finder = { .find = tell, .context = &told };
		struct jp_arena arena = { 0 };
		struct jp_instructions got = { 0 };
		struct jprof_error err = { 0 };
		assert_int_equal(jp_ask_decoded(file, &finder, 100, 104, &arena, &got, &err), answers[i].rc);
		assert_int_equal(got.count, answers[i].count);
		assert_int_equal(told.asked, answers[i].asked);
		if (answers[i].rc)
			assert_contains(err.text, "damaged");
		if (!i) {
			assert_string_equal(got.items[1].text, "go");
			assert_true(got.items[1].vaddr == 102 && got.items[1].target == 0x201);
		}
		free(got.items);
		jp_arena_release(&arena);
	}
	jp_objfile_close(file);
}
