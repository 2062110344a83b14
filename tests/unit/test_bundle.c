/* Bundles by the API: what is written is read, hostile ones are refused or read in part. */
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"

static const char dump[] = "heap_v2/4096\n"
			   "  t*: 3: 300 [0: 0]\n"
			   "  t0: 3: 300 [0: 0]\n"
			   "@ 0x401000 0x402001\n"
			   "  t*: 3: 300 [0: 0]\n"
			   "  t0: 3: 300 [0: 0]\n"
			   "\nMAPPED_LIBRARIES:\n"
			   "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n";

static int add(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

static int refuse(void *context, const void *data, size_t len)
{
	(void)context;
	(void)data;
	(void)len;
	return 1;
}

#define must(call) assert_int_equal((call), 0)

static struct jprof_bundle_writer *writer(enum jprof_compression how, struct jp_strbuf *out)
{
	const struct jprof_bundle_writer_opts opts = {
		.size = sizeof opts, .compression = how, .label = "boot", .time = 1700000000
	};
	struct jprof_bundle_writer *w;
	must(jprof_bundle_writer_new(&opts, add, out, &w, NULL));
	return w;
}

static void add_member(struct jprof_bundle_writer *w, const char *name, uint64_t pid, const char *role)
{
	const struct jprof_bundle_member m = { .size = sizeof m,
		                               .name = name,
		                               .pid = pid,
		                               .start_ticks = 5,
		                               .boot_id = "boot",
		                               .program = "/opt/app/server",
		                               .title = "puma: \"x\"\n",
		                               .role = role,
		                               .time = 17 };
	must(jprof_bundle_writer_member(w, &m, NULL));
	must(jprof_bundle_writer_file(w, "dump.heap", dump, strlen(dump), NULL));
}

static struct jprof_bundle *read_back(const struct jp_strbuf *bytes)
{
	struct jprof_bundle *b;
	struct jprof_error err = { 0 };
	if (jprof_bundle_parse(bytes->text, bytes->len, "b", &b, &err))
		fail_msg("%s", err.text);
	return b;
}

TEST(test_there_and_back)
{
	static const enum jprof_compression kinds[] = { JPROF_COMPRESS_BEST, JPROF_COMPRESS_GZIP };
	for (size_t i = 0; i < jp_count(kinds); i++) {
		struct jp_strbuf bytes = { 0 };
		struct jprof_bundle_writer *w = writer(kinds[i], &bytes);
		size_t len;
		add_member(w, NULL, 41, "master");
		must(jprof_bundle_writer_file(w, "extra", "a\0b", 3, NULL));
		add_member(w, NULL, 42, "worker");
		must(jprof_bundle_writer_finish(w, NULL));
		jprof_bundle_writer_free(w);
		struct jprof_bundle *b = read_back(&bytes);
		assert_null(jprof_bundle_warning(b));
		assert_true(jprof_bundle_info(b)->version == 1);
		assert_string_equal(jprof_bundle_info(b)->label, "boot");
		assert_true(jprof_bundle_info(b)->time == 1700000000);
		assert_int_equal(jprof_bundle_count(b), 2);
		const struct jprof_bundle_member *m = jprof_bundle_member(b, 0);
		assert_string_equal(m->name, "41");
		assert_string_equal(m->role, "master");
		assert_string_equal(m->title, "puma: \"x\"\n");
		assert_string_equal(m->program, "/opt/app/server");
		assert_string_equal(m->boot_id, "boot");
		assert_string_equal(m->label, "");
		assert_true(m->pid == 41 && m->start_ticks == 5 && m->time == 17);
		assert_memory_equal(jprof_bundle_file(b, 0, "extra", &len), "a\0b", 4);
		assert_int_equal(len, 3);
		assert_null(jprof_bundle_file(b, 1, "extra", &len));
		assert_string_equal(jprof_bundle_file(b, 1, "dump.heap", NULL), dump);
		jprof_bundle_free(b);
		jp_strbuf_release(&bytes);
	}
}

/* What the side-car tells fills what the caller leaves open. */
TEST(test_sidecar)
{
	static const char agent[] = "{\"pid\": 9, \"start_ticks\": 88, \"boot_id\": \"x\", \"program\": \"ruby\",\n"
				    "\"label\": \"steady\", \"time\": 1234.75, \"objects\": [\n"
				    "{\"path\": \"/elsewhere\", \"base\": \"0x400000\", \"build_id\": \"ABCD\"}]}";
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_BEST, &bytes);
	const struct jprof_bundle_member given = { .size = sizeof given, .role = "worker" };
	must(jprof_bundle_writer_member(w, &given, NULL));
	must(jprof_bundle_writer_file(w, "agent.json", agent, strlen(agent), NULL));
	must(jprof_bundle_writer_file(w, "dump.heap", dump, strlen(dump), NULL));
	must(jprof_bundle_writer_finish(w, NULL));
	jprof_bundle_writer_free(w);
	struct jprof_bundle *b = read_back(&bytes);
	const struct jprof_bundle_member *m = jprof_bundle_member(b, 0);
	assert_string_equal(m->name, "9");
	assert_string_equal(m->role, "worker");
	assert_string_equal(m->label, "steady");
	assert_string_equal(m->program, "/elsewhere");
	assert_true(m->pid == 9 && m->start_ticks == 88 && m->time == 1234);

	struct jprof_profile *p;
	struct jprof_view *view;
	struct jprof_coverage *c;
	const struct jprof_symbolize_opts nowhere = { .size = sizeof nowhere, .sysroot = "/proc/self/fdinfo" };
	must(jprof_bundle_profile(b, 0, NULL, &p, NULL));
	must(jprof_profile_symbolize(p, &nowhere, NULL));
	must(jprof_view_new(p, NULL, &view, NULL));
	must(jprof_coverage_new(view, &c, NULL));
	jprof_view_free(view);
	assert_string_equal(jprof_coverage_at(c, 0)->build_id, "abcd");
	jprof_coverage_free(c);
	jprof_profile_free(p);
	jprof_bundle_free(b);
	jp_strbuf_release(&bytes);
}

TEST(test_names_and_choice)
{
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_BEST, &bytes);
	add_member(w, NULL, 1, "master");
	add_member(w, NULL, 1, "worker");
	add_member(w, "../../etc/x", 0, "worker");
	add_member(w, "1", 2, NULL);
	must(jprof_bundle_writer_finish(w, NULL));
	jprof_bundle_writer_free(w);
	struct jprof_bundle *b = read_back(&bytes);
	static const char *const names[] = { "1", "1-2", "dump", "1-3" };
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(jprof_bundle_member(b, i)->name, names[i]);
	assert_int_equal(jprof_bundle_find(b, "1", 0), 0);
	assert_int_equal(jprof_bundle_find(b, "1", 1), 4);
	assert_int_equal(jprof_bundle_find(b, "2", 0), 3);
	assert_int_equal(jprof_bundle_find(b, "worker", 0), 1);
	assert_int_equal(jprof_bundle_find(b, "worker", 2), 2);
	assert_int_equal(jprof_bundle_find(b, "nobody", 0), 4);
	assert_int_equal(jprof_bundle_find(b, NULL, 3), 3);
	struct jprof_profile *p;
	const struct jprof_profile_opts one = { .size = sizeof one, .member = "worker" };
	must(jprof_profile_parse(bytes.text, bytes.len, NULL, &one, &p, NULL));
	assert_int_equal(jprof_profile_info(p)->inputs, 2);
	assert_string_equal(jprof_profile_info(p)->members, "1-2 (worker), dump (worker)");
	jprof_profile_free(p);
	const struct jprof_profile_opts none = { .size = sizeof none, .member = "nobody" };
	assert_int_equal(jprof_profile_parse(bytes.text, bytes.len, NULL, &none, &p, NULL), JPROF_E_MEMBER);
	jprof_bundle_free(b);
	jp_strbuf_release(&bytes);
}

/* Of two bundles without the thread there is no difference, and the error says so. */
TEST(test_no_such_thread)
{
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_GZIP, &bytes);
	add_member(w, NULL, 1, NULL);
	must(jprof_bundle_writer_finish(w, NULL));
	jprof_bundle_writer_free(w);
	struct jprof_bundle *b = read_back(&bytes);
	const struct jprof_profile_opts opts = { .size = sizeof opts, .thread = "t7" };
	struct jprof_profile *p;
	struct jprof_error err = { 0 };
	assert_int_equal(jprof_bundle_difference(b, b, &opts, &p, &err), JPROF_E_ARGUMENT);
	assert_int_equal(err.code, JPROF_E_ARGUMENT);
	assert_non_null(strstr(err.text, "t7"));
	jprof_bundle_free(b);
	jp_strbuf_release(&bytes);
}

TEST(test_misuse)
{
	static const char *const bad[] = {
		"",    "a/b",       "../x",
		".x",  "-x",        "a b",
		"a\n", "dump.heap", "12345678901234567890123456789012345678901234567890123456789012345"
	};
	struct jp_strbuf bytes = { 0 };
	struct jprof_error err;
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_BEST, &bytes);
	assert_int_equal(jprof_bundle_writer_finish(w, &err), JPROF_E_ARGUMENT);
	jprof_bundle_writer_free(w);
	w = writer(JPROF_COMPRESS_BEST, &bytes);
	assert_int_equal(jprof_bundle_writer_file(w, "dump.heap", "", 0, &err), JPROF_E_ARGUMENT);
	add_member(w, NULL, 1, NULL);
	for (size_t i = 0; i < jp_count(bad); i++) {
		assert_int_equal(jprof_bundle_writer_file(w, bad[i], "", 0, &err), JPROF_E_ARGUMENT);
		assert_is_message(err.text);
	}
	jprof_bundle_writer_free(w);
	must(jprof_bundle_writer_new(NULL, refuse, NULL, &w, NULL));
	add_member(w, NULL, 1, NULL);
	assert_int_equal(jprof_bundle_writer_finish(w, &err), JPROF_E_WRITE);
	jprof_bundle_writer_free(w);
	jprof_bundle_writer_free(NULL);
	jprof_bundle_free(NULL);
	assert_int_equal(bytes.len, 0);
}

/* From where the descriptor stands: a file in pieces, a pipe at once. */
TEST(test_descriptors)
{
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_BEST, &bytes);
	enum { size = 200000 };
	char *text = malloc(size);
	int ends[2];
	size_t len;
	assert_non_null(text);
	for (size_t i = 0; i < size; i++)
		text[i] = (char)('a' + i * i % 26);
	FILE *file = tmpfile();
	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fflush(file), 0);
	add_member(w, NULL, 3, NULL);
	assert_true(lseek(fileno(file), 10, SEEK_SET) == 10);
	must(jprof_bundle_writer_fd(w, "file", fileno(file), NULL));
	must(pipe(ends));
	assert_true(write(ends[1], text, 1000) == 1000);
	close(ends[1]);
	must(jprof_bundle_writer_fd(w, "pipe", ends[0], NULL));
	close(ends[0]);
	must(jprof_bundle_writer_fd(w, "end", fileno(file), NULL));
	assert_int_equal(jprof_bundle_writer_fd(w, "closed", ends[0], NULL), JPROF_E_IO);
	must(jprof_bundle_writer_finish(w, NULL));
	jprof_bundle_writer_free(w);
	struct jprof_bundle *b = read_back(&bytes);
	assert_memory_equal(jprof_bundle_file(b, 0, "file", &len), text + 10, size - 10);
	assert_int_equal(len, size - 10);
	assert_memory_equal(jprof_bundle_file(b, 0, "pipe", &len), text, 1000);
	assert_int_equal(len, 1000);
	assert_non_null(jprof_bundle_file(b, 0, "end", &len));
	assert_int_equal(len, 0);
	jprof_bundle_free(b);
	jp_strbuf_release(&bytes);
	fclose(file);
	free(text);
}

#define RUBY(number) (0x70000001 + 2 * (number))
#define EPOCH(number) RUBY(0x40400 + (number))

static void add_lost_stack(struct jp_strbuf *to, unsigned place, unsigned epoch)
{
	jp_strbuf_printf(to, "@ 0x%x 0x%x", 0x401000 + 0x100 * place, RUBY(4));
	if (epoch)
		jp_strbuf_printf(to, " 0x%x", EPOCH(epoch));
	jp_strbuf_str(to, "\n  t*: 1: 300 [0: 0]\n  t0: 1: 300 [0: 0]\n");
}

/* The table is that of the dump before: since then its numbers may stand for other Ruby stacks, and its samples of
 * objects are none of these. */
TEST(test_unreachable)
{
	static const char frames[] =
	    "jprof-table 1\nprocess 1 5 boot\ndump 1 1\nids 70000000 0 40000 40400 240400\n"
	    "ruby 3.3.0 on\ntime 12.000\nstart 1.000 1 0\nbounds 3 5\ne 3 1.000 2.000\n"
	    "s 1 app.rb\ns 2 lose\nn 4 0 1 7 0 - 2\nslots 131072\no 7f00 4 0 3 5 0 40 40\nend 1\n";
	const unsigned epochs[] = { 3, 5, 0 };
	const struct jprof_profile_opts opts = { .size = sizeof opts, .samples = JPROF_SAMPLES_UNREACHABLE };
	const struct jprof_view_opts sites = { .size = sizeof sites, .granularity = JPROF_BY_SITE };
	struct jp_strbuf lost = { 0 }, bytes = { 0 };
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_BEST, &bytes);
	jp_strbuf_str(&lost, "heap_v2/4096\n  t*: 3: 900 [0: 0]\n  t0: 3: 900 [0: 0]\n");
	for (unsigned i = 0; i < jp_count(epochs); i++)
		add_lost_stack(&lost, i, epochs[i]);
	jp_strbuf_str(&lost, "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
	                     "70000000-70481000 ---s 00000000 00:01 2050 /memfd:jprof-ids:1 (deleted)\n");
	add_member(w, NULL, 1, NULL);
	must(jprof_bundle_writer_file(w, "frames", frames, strlen(frames), NULL));
	must(jprof_bundle_writer_file(w, "unreachable.heap", lost.text, lost.len, NULL));
	add_member(w, NULL, 2, NULL);
	must(jprof_bundle_writer_finish(w, NULL));
	jprof_bundle_writer_free(w);
	struct jprof_bundle *b = read_back(&bytes);
	struct jprof_profile *p;
	struct jprof_view *view;
	struct jprof_table *table;
	unsigned of_line = 0, others = 0;
	must(jprof_bundle_profile(b, 0, &opts, &p, NULL));
	const struct jprof_symbolize_opts nowhere = { .size = sizeof nowhere, .sysroot = "/proc/self/fdinfo" };
	must(jprof_profile_symbolize(p, &nowhere, NULL));
	must(jprof_view_new(p, &sites, &view, NULL));
	must(jprof_table_new(view, NULL, &table, NULL));
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		*(strcmp(row->name, "app.rb:7 lose") ? &others : &of_line) += row->flat > 0;
	}
	assert_int_equal(of_line, 1);
	assert_int_equal(others, 2);
	jprof_table_free(table);
	jprof_view_free(view);
	jprof_profile_free(p);
	must(jprof_bundle_profile(b, 1, &opts, &p, NULL)); /* it has none */
	assert_string_equal(jprof_profile_info(p)->format, "");
	jprof_profile_free(p);
	jprof_bundle_free(b);
	jp_strbuf_release(&lost);
	jp_strbuf_release(&bytes);
}

/* Each cut of one leaves an error of one line, or members that are whole and a warning. */
TEST(test_cut)
{
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *w = writer(JPROF_COMPRESS_GZIP, &bytes);
	add_member(w, NULL, 1, NULL);
	add_member(w, NULL, 2, NULL);
	must(jprof_bundle_writer_finish(w, NULL));
	jprof_bundle_writer_free(w);
	int wrong = 0;
	for (size_t len = 0; len < bytes.len; len++) {
		struct jprof_bundle *b;
		struct jprof_error err = { 0 };
		if (jprof_bundle_parse(bytes.text, len, "b", &b, &err)) {
			assert_is_message(err.text);
			continue;
		}
		wrong += jprof_bundle_warning(b) ? 0 : complain("no warning of %zu bytes", len);
		for (size_t i = 0; i < jprof_bundle_count(b); i++)
			wrong += strcmp(jprof_bundle_file(b, i, "dump.heap", NULL), dump)
			             ? complain("not whole at %zu", len)
			             : 0;
		jprof_bundle_free(b);
	}
	assert_int_equal(wrong, 0);
	jp_strbuf_release(&bytes);
}
