/* Tables of Ruby stacks: docs/internals/ruby-table.md. What is no table is refused whole, with its line. */
#include "harness.h"
#include "input/rubytable.h"

#define HEAD "jprof-table 1\nprocess 17 99 boot-id\ndump 4096 00ff\nids 7f00 0 40000 40400 240400\n"
#define SLOTS "slots 131072\n"

static const char sound[] =
    HEAD "ruby 3.1.2 on\ninterpreter 100 20 /lib/lib ruby.so\ntime 12.345\nstart 11.250 2 1\nbounds 3 5\n"
	 "e 1 1.000 2.000\nsomething new\ns 1 app/a b.rb\ns 7 Caf\xc3\xa9%0A%25\ns 3 call\n"
	 "n 4 0 1 12 7 # 3\nn 9 4 0 0 0 - 3\nm 2 9 cut 12\nm 5 0 after-gc 0\nm 6 0 later 7\n"
	 "end 5\n";

static struct jp_rubytable *parse(const char *text, size_t len, struct jprof_error *err)
{
	struct jp_rubytable *table = NULL;
	int rc = jp_rubytable_parse(text, len, "x.ruby", &table, err);
	assert_int_equal(!rc, table != NULL);
	return table;
}

TEST(test_sound)
{
	struct jprof_error err = { 0 };
	struct jp_rubytable *t = parse(sound, sizeof sound - 1, &err);
	assert_non_null(t);
	assert_int_equal(t->dump.size, 4096);
	assert_int_equal(t->dump.fnv, 0xff);
	assert_int_equal(t->pid, 17);
	assert_int_equal(t->start_ticks, 99);
	assert_string_equal(t->boot, "boot-id");
	assert_true(t->stacks && t->interpreter);
	assert_int_equal(t->began, 11250);
	assert_int_equal(t->first, 2);
	assert_int_equal(t->forks, 1);
	assert_int_equal(t->before, 3);
	assert_int_equal(t->after, 5);
	assert_int_equal(t->frame_count, 5);
	const struct jp_rubyframe *f = &t->frames[jp_rubytable_frame(t, 2)];
	assert_int_equal(f->word, JP_RUBY_CUT);
	assert_int_equal(f->line, 12);
	assert_int_equal(f->depth, 3);
	f = &t->frames[f->parent];
	assert_int_equal(f->path, JP_NONE);
	assert_int_equal(f->separator, '-');
	f = &t->frames[f->parent];
	assert_string_equal(jp_rubytable_text(t, f->path), "app/a b.rb");
	assert_string_equal(jp_rubytable_text(t, f->owner), "Caf\xc3\xa9\n%");
	assert_string_equal(jp_rubytable_text(t, f->method), "call");
	assert_int_equal(f->line, 12);
	assert_int_equal(f->separator, '#');
	assert_int_equal(f->parent, JP_NONE);
	assert_int_equal(t->frames[jp_rubytable_frame(t, 5)].word, JP_RUBY_AFTER_GC);
	assert_int_equal(t->frames[jp_rubytable_frame(t, 6)].word, JP_RUBY_OTHER);
	assert_string_equal(jp_rubytable_text(t, t->frames[jp_rubytable_frame(t, 6)].method), "later");
	const uint64_t none[] = { 0, 1, 3, 10, 0x3ffff, 0x40000, 0x40401, UINT64_MAX };
	for (size_t i = 0; i < jp_count(none); i++)
		assert_int_equal(jp_rubytable_frame(t, none[i]), JP_NONE);
	jp_rubytable_free(t);
}

/* One that names its dump and no process: its texts are empty. */
TEST(test_no_process)
{
	static const char text[] = "jprof-table 1\ndump 1 1\nids 0 4 4 5 6\nend 0\n";
	struct jprof_error err = { 0 };
	struct jp_rubytable *t = parse(text, sizeof text - 1, &err);
	assert_non_null(t);
	assert_false(t->stacks);
	assert_string_equal(t->why, "");
	assert_string_equal(t->boot, "");
	jp_rubytable_free(t);
}

/* Wherever it is cut it is no table. */
TEST(test_every_cut)
{
	for (size_t len = 0; len < sizeof sound - 1; len++) {
		struct jprof_error err = { 0 };
		char *cut = malloc(len + 1); /* for the sanitizer to see a read behind it */
		memcpy(cut, sound, len);
		if (parse(cut, len, &err))
			fail_msg("%zu bytes of a table are a table", len);
		assert_is_message(err.text);
		free(cut);
	}
}

static const char *const faulty[] = {
	"jprof-table 2\nend 0\n",
	"jprof-table\nend 0\n",
	"heap_v2/1\n",
	"jprof-table 1\nids 0 0 1 2 3\nend 0\n",  /* of no dump */
	"jprof-table 1\ndump 1 1\nend 0\n",       /* no numbers */
	HEAD "end 1\n",                           /* one frame less than it had */
	HEAD "end 0\nend 0\n",                    /* something behind its end */
	HEAD "s 0 x\nend 0\n",                    /* no number of a string */
	HEAD "s 1048576 x\nend 0\n",              /* a number that none has */
	HEAD "s 99999999999999999999 x\nend 0\n", /* longer than 64 bits */
	HEAD "s 1 x\ns 1 y\nend 0\n",             /* twice */
	HEAD "s 1 x%\nend 0\n",                   /* half a character */
	HEAD "s 1 x%4\nend 0\n",                  /* likewise */
	HEAD "s 1 x%zz\nend 0\n",                 /* none */
	HEAD "n 1 0 5 1 0 - 0\nend 1\n",          /* a string that does not come before */
	HEAD "n 1 1 0 1 0 - 0\nend 1\n",          /* its own caller */
	HEAD "n 1 2 0 1 0 - 0\nn 2 1 0 1 0 - 0\nend 2\n",
	HEAD "n 0 0 0 1 0 - 0\nend 1\n",
	HEAD "n 262144 0 0 1 0 - 0\nend 1\n",
	HEAD "n 1 0 0 1 0 - 0\nn 1 0 0 1 0 - 0\nend 2\n",
	HEAD "n 1 0 0 1 0 ! 0\nend 1\n",
	HEAD "n 1 0 0 1 0 - 0 0\nend 1\n",
	HEAD "n 1 0 0 -1 0 - 0\nend 1\n",
	HEAD "n 1 0 0\nend 1\n",
	HEAD "m 1 0 cut\nend 1\n",
	HEAD "m 1 0  0\nend 1\n",
	HEAD "t 0 - x\nend 0\n",          /* no tag's number */
	HEAD "t 1024 - x\nend 0\n",       /* a number that none has */
	HEAD "t 1 - x\nt 1 - y\nend 0\n", /* twice */
	HEAD "t 1 -\nend 0\n",            /* no text */
	HEAD "t 1 - \nend 0\n",
	HEAD "t 1  x\nend 0\n", /* no kind */
	HEAD "t 1 - x%\nend 0\n",
	HEAD "t 1\nend 0\n",
	HEAD "t -1 - x\nend 0\n",
	HEAD "o 7f00 0 0 0 5 0 40 26\nend 0\n", /* samples of no rate */
	HEAD "slots 0\nend 0\n",
	HEAD "slots 1073741825\nend 0\n",
	HEAD "slots 1\nslots 1\nend 0\n",
	HEAD "slots 1.5\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 5 0 40\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 5 0 40 26 1\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 5 0 40 0\nend 0\n", /* of no size: its probability is 0 */
	HEAD SLOTS "o 7f00 0 0 0 5 0 0 40\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 5 0 65536 40\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 5 0 40 65536\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 32 0 40 40\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 0 5 1 40 40\nend 0\n", /* a string that does not come before */
	HEAD SLOTS "o 7f00 262144 0 0 5 0 40 40\nend 0\n",
	HEAD SLOTS "o 7f00 0 1024 0 5 0 40 40\nend 0\n",
	HEAD SLOTS "o 7f00 0 0 4294967296 5 0 40 40\nend 0\n",
	HEAD SLOTS "o 11112222333344445 0 0 0 5 0 40 40\nend 0\n",
	HEAD SLOTS "o -1 0 0 0 5 0 40 40\nend 0\n",
	HEAD "bounds 5 5\nend 0\n",
	HEAD "start 5.000 0 0\nend 0\n", /* epochs begin with 1 */
	HEAD "start 5 1 0\nend 0\n",
	HEAD "start 5.000 1\nend 0\n",
	HEAD "start 5.000 1 -1\nend 0\n",
	"jprof-table 1\ndump 1 1\nids 0 4 3 5 6\nend 0\n",
};

TEST(test_faults)
{
	for (size_t i = 0; i < jp_count(faulty); i++) {
		struct jprof_error err = { 0 };
		if (parse(faulty[i], strlen(faulty[i]), &err))
			fail_msg("is a table: %s", faulty[i]);
		assert_is_message(err.text);
		assert_string_equal(err.path, "x.ruby");
	}
	struct jprof_error err = { 0 };
	static const char with_nul[] = HEAD "s 1 a\0b\nend 0\n";
	assert_null(parse(with_nul, sizeof with_nul - 1, &err));
}

static void check_tag(const struct jp_rubytable *t, uint64_t number, enum jp_tag_kind kind, const char *text)
{
	const struct jp_rubytag *tag = jp_rubytable_tag(t, number);
	assert_non_null(tag);
	assert_int_equal(tag->kind, kind);
	assert_string_equal(jp_rubytable_text(t, tag->text), text);
}

TEST(test_tag_lines)
{
	static const char text[] = HEAD "t 7 route GET /users/:id\nt 1 job Mail%25%0A\nt 1023 - route x\n"
					"t 2 later text\nend 0\n";
	struct jp_rubytable *t = parse(text, sizeof text - 1, NULL);
	assert_non_null(t);
	check_tag(t, 0x40007, JP_TAG_ROUTE, "GET /users/:id");
	check_tag(t, 0x40001, JP_TAG_JOB, "Mail%\n");
	check_tag(t, 0x403ff, JP_TAG_PLAIN, "route x");
	check_tag(t, 0x40002, JP_TAG_PLAIN, "text"); /* a kind of a later agent */
	const uint64_t none[] = { 0, 1, 7, 0x3ffff, 0x40000, 0x40003, 0x40400, 0x40407, UINT64_MAX };
	for (size_t i = 0; i < jp_count(none); i++)
		assert_null(jp_rubytable_tag(t, none[i]));
	jp_rubytable_free(t);
}

/* The weights are those of docs/internals/ruby-table.md, and of Python's math.expm1: 40 / (1 - exp(-26 / 131072)). */
TEST(test_slot_lines)
{
	static const char text[] =
	    HEAD "s 3 Node\nn 9 0 0 0 0 - 3\n" SLOTS "o 7fffee001000 9 7 2 1 3 40 26\n"
		 "o 1 5 0 0 31 0 65535 65535\no ffffffffffffffff 0 1023 4294967295 0 0 1 1\nend 1\n";
	struct jp_rubytable *t = parse(text, sizeof text - 1, NULL);
	assert_non_null(t);
	assert_int_equal(t->slot_rate, 131072);
	assert_int_equal(t->slot_count, 3);
	const struct jp_rubyslot *s = t->slots;
	assert_true(s->address == 0x7fffee001000 && s->frame == 0 && s->tag == 7 && s->epoch == 2 && s->type == 1);
	assert_string_equal(jp_rubytable_text(t, s->class), "Node");
	assert_float_equal(jp_rubytable_slot_bytes(t, s), 201669.23143044498, 1e-3);
	assert_true(s[1].frame == JP_NONE && s[1].class == JP_NONE && s[1].slot == 65535);
	assert_float_equal(jp_rubytable_slot_bytes(t, s + 2), 131072.50000063577, 1e-3);
	jp_rubytable_free(t);
}

/* A stack is never deeper than an agent makes it, however long the chain. */
TEST(test_depth)
{
	for (unsigned frames = jp_rubytable_deepest; frames <= jp_rubytable_deepest + 1; frames++) {
		struct jprof_error err = { 0 };
		char *text = NULL;
		size_t len;
		FILE *out = open_memstream(&text, &len);
		fputs(HEAD, out);
		for (unsigned i = 1; i <= frames; i++)
			fprintf(out, "n %u %u 0 1 0 - 0\n", i, i - 1);
		fprintf(out, "end %u\n", frames);
		fclose(out);
		struct jp_rubytable *t = parse(text, len, &err);
		assert_int_equal(t != NULL, frames == jp_rubytable_deepest);
		jp_rubytable_free(t);
		free(text);
	}
}
