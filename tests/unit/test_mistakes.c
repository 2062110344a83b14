/* What a program may do wrong with jprof.h and jprof-live.h: NULL for each object in turn, an index past the end, a
 * counter that does not exist, options without their size, a call too early or too late. A function with a code answers
 * with that code and a sentence, for people and without the options of a program, leaves the result as it was, and does
 * no harm where the caller wants no sentence; one without gives what an object without anything would, and NAN for a
 * number. tests/api.sh compares the names here with the libraries'. */
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"
#include "jprof-live.h"

#define MAPS "MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 00:00 0\n"
#define DUMP "heap_v2/524288\n  t*: 1: 100 [0: 0]\n@ 0x401001 0x402001\n  t*: 1: 100 [0: 0]\n\n" MAPS
#define TWO_STACKS                                                                                                     \
	"heap_v2/524288\n  t*: 2: 300 [0: 0]\n  t1: 2: 300 [0: 0] main\n"                                              \
	"@ 0x401001 0x402001\n  t*: 1: 100 [0: 0]\n  t1: 1: 100 [0: 0]\n"                                              \
	"@ 0x403001 0x402001\n  t*: 1: 200 [0: 0]\n  t1: 1: 200 [0: 0]\n\n" MAPS

static int wrong;

/* What no refused call may change: a result begins as it, and is it in the end. */
static char untouched;
#define UNTOUCHED ((void *)&untouched)
#define KEPT(result) assert_ptr_equal(result, UNTOUCHED)

/* "--option", not "<-- HERE". */
static bool names_option(const char *text)
{
	for (const char *s = text; (s = strstr(s, "--")); s += 2)
		if ((s == text || s[-1] == ' ') && s[2] >= 'a' && s[2] <= 'z')
			return true;
	return false;
}

/* For people, in words, and its line has no other. */
static bool is_sentence(const struct jprof_error *err)
{
	char line[JPROF_ERROR_LINE];
	const char *first = strchr(err->text, ' ');
	return first && strchr(first + 1, ' ') && !names_option(err->text) &&
	       strstr(jprof_error_line(err, line, sizeof line), err->text) && !strchr(line, '\n');
}

/* CALL, which takes &err, is refused with these words, and with the same code without an error. */
#define REFUSED_AS(words, as, function, ...)                                                                           \
	do {                                                                                                           \
		struct jprof_error err = { .code = 1 };                                                                \
		int code = function(__VA_ARGS__, &err);                                                                \
		if (code != (as) || err.code != code || !strstr(err.text, words) || !is_sentence(&err))                \
			wrong += complain("%s(%s): %d %s", #function, #__VA_ARGS__, code, err.text);                   \
		if (function(__VA_ARGS__, NULL) != (as))                                                               \
			wrong += complain("%s(%s): another code without an error", #function, #__VA_ARGS__);           \
	} while (0)

/* Refused with a sentence that names the function. */
#define REFUSED(function, ...) REFUSED_AS(#function, JPROF_E_ARGUMENT, function, __VA_ARGS__)
#define MISTAKEN(words, function, ...) REFUSED_AS(words, JPROF_E_ARGUMENT, function, __VA_ARGS__)

#define GIVES(what, ...)                                                                                               \
	do {                                                                                                           \
		if (!((__VA_ARGS__)what))                                                                              \
			wrong += complain("%s: not %s", #__VA_ARGS__, #what);                                          \
	} while (0)

#define IS_NAN(...) GIVES(!= 0, isnan(__VA_ARGS__))

static int drop(void *context, const void *data, size_t len)
{
	(void)context, (void)data, (void)len;
	return 0;
}

static int keep(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

TEST(test_texts)
{
	char text[8] = "before";
	struct jprof_maps *maps = UNTOUCHED;
	GIVES([0] == '\0', jprof_error_line(NULL, text, sizeof text));
	GIVES([0] == '\0', jprof_error_line(&(struct jprof_error){ .text = "x" }, NULL, 8));
	GIVES([0] == '\0', jprof_error_line(&(struct jprof_error){ .text = "x" }, text, 0));
	char *json = jprof_json_text(NULL);
	assert_string_equal(json, "null");
	free(json);
	struct jprof_json *value;
	REFUSED(jprof_json_read, NULL, 0, "j", &value);
	REFUSED(jprof_json_read, "1", 1, NULL, &value);
	REFUSED(jprof_json_read, "1", 1, "j", NULL);
	GIVES(== NULL, jprof_json_get(NULL, "a"));
	GIVES(== NULL, jprof_json_at(NULL, 0));
	GIVES(== 0, jprof_json_count(NULL));
	GIVES(== NULL, jprof_json_string(NULL));
	GIVES(!= 0, isnan(jprof_json_number(NULL)));
	assert_int_equal(jprof_json_read("[{\"a\": 1}]", 10, "j", &value, NULL), 0);
	GIVES(== NULL, jprof_json_at(value, SIZE_MAX));
	GIVES(== NULL, jprof_json_get(jprof_json_at(value, 0), NULL));
	jprof_json_free(value);
	jprof_json_free(NULL);
	char *csv = jprof_csv_text(NULL);
	assert_string_equal(csv, "\"\"");
	free(csv);
	GIVES(== 0, jprof_visible_len(NULL, 5));
	GIVES(== 0, jprof_visible_len("x", 0));
	jprof_visible("x", NULL, 8);
	jprof_visible("x", NULL, 0);
	jprof_visible(NULL, text, sizeof text);
	assert_string_equal(text, "");
	GIVES([0] != '\0', jprof_version());
	GIVES([0] != '\0', jprof_features());

	REFUSED(jprof_maps_parse, NULL, 5, "x", &maps);
	REFUSED(jprof_maps_parse, "", 0, "x", NULL);
	REFUSED(jprof_maps_open, NULL, &maps);
	REFUSED(jprof_maps_open, "/dev/null", NULL);
	assert_int_equal(jprof_maps_parse("", 0, NULL, &maps, NULL), JPROF_E_FORMAT);
	assert_int_equal(jprof_maps_parse(NULL, 0, NULL, &maps, NULL), JPROF_E_FORMAT);
	KEPT(maps);
	static const char one[] = "00400000-00500000 r-xp 00000000 00:00 0\n";
	assert_int_equal(jprof_maps_parse(one, strlen(one), NULL, &maps, NULL), 0);
	GIVES(!= NULL, jprof_maps_at(maps, 0));
	GIVES(== NULL, jprof_maps_at(maps, 1));
	GIVES(== NULL, jprof_maps_at(maps, SIZE_MAX));
	GIVES(== NULL, jprof_maps_at(NULL, 0));
	GIVES(== 0, jprof_maps_count(NULL));
	jprof_maps_free(maps);
	jprof_maps_free(NULL);
	assert_int_equal(wrong, 0);
}

TEST(test_dumps)
{
	struct jprof_dump *dump = dump_of(DUMP), *made = UNTOUCHED;
	REFUSED(jprof_dump_parse, NULL, 5, "x", &made);
	REFUSED(jprof_dump_parse, DUMP, strlen(DUMP), "x", NULL);
	REFUSED(jprof_dump_open, NULL, &made);
	REFUSED(jprof_dump_open, "/dev/null", NULL);
	GIVES(== false, jprof_dump_probe(NULL, 5));
	GIVES(== false, jprof_dump_probe(NULL, 0));
	GIVES(== NULL, jprof_dump_info(NULL));
	GIVES(== NULL, jprof_dump_maps(NULL));
	GIVES(== NULL, jprof_dump_thread(NULL, 0));
	GIVES(== NULL, jprof_dump_thread(dump, jprof_dump_info(dump)->threads));
	GIVES(== NULL, jprof_dump_thread(dump, SIZE_MAX));
	GIVES(== 0, jprof_dump_warnings(NULL));
	GIVES(== NULL, jprof_dump_warning(NULL, 0));
	GIVES(== NULL, jprof_dump_warning(dump, jprof_dump_warnings(dump)));
	jprof_dump_free(NULL);
	jprof_dump_free(dump);
	KEPT(made);
	assert_int_equal(wrong, 0);
}

static void check_numbers(const struct jprof_profile *p)
{
	const enum jprof_counter space = JPROF_INUSE_SPACE;
	const enum jprof_counter none[] = { JPROF_COUNTERS, (enum jprof_counter) - 1, (enum jprof_counter)INT32_MAX };
	for (size_t i = 0; i < jp_count(none); i++) {
		struct jprof_range range = { .samples = 5 };
		IS_NAN(jprof_profile_total(p, none[i]));
		IS_NAN(jprof_profile_thread_total(p, none[i], ""));
		IS_NAN(jprof_profile_heap_total(p, JPROF_HEAP_ALL, none[i], false));
		IS_NAN(jprof_profile_value(p, 0, none[i]));
		jprof_profile_range(p, none[i], &range);
		assert_true(isnan(range.error) && isnan(range.low) && isnan(range.high) && range.samples == 0);
		assert_string_equal(jprof_profile_bound(p, none[i]), "");
	}
	struct jprof_range range;
	IS_NAN(jprof_profile_total(NULL, space));
	IS_NAN(jprof_profile_thread_total(NULL, space, ""));
	IS_NAN(jprof_profile_heap_total(NULL, JPROF_HEAP_ALL, space, false));
	IS_NAN(jprof_profile_thread_total(p, space, NULL));
	IS_NAN(jprof_profile_value(NULL, 0, space));
	IS_NAN(jprof_profile_value(p, jprof_profile_stacks(p), space));
	IS_NAN(jprof_profile_value(p, SIZE_MAX, space));
	jprof_profile_range(p, space, NULL);
	jprof_profile_range(NULL, space, &range);
	IS_NAN(range.error);
	assert_string_equal(jprof_profile_bound(NULL, space), "");
}

TEST(test_profiles)
{
	struct jprof_profile *p = profile_of(DUMP), *made = UNTOUCHED;
	struct jprof_dump *dump = dump_of(DUMP);
	struct jprof_frame frame = { .line = 4711 };
	REFUSED(jprof_profile_new, NULL, NULL, &made);
	REFUSED(jprof_profile_new, dump, NULL, NULL);
	REFUSED(jprof_profile_take, NULL, NULL, &made);
	REFUSED(jprof_profile_take, dump, NULL, NULL);
	REFUSED(jprof_profile_parse, NULL, 5, "x", NULL, &made);
	REFUSED(jprof_profile_parse, DUMP, strlen(DUMP), "x", NULL, NULL);
	REFUSED(jprof_profile_open, NULL, NULL, &made);
	REFUSED(jprof_profile_open, "/dev/null", NULL, NULL);
	REFUSED(jprof_profile_add, NULL, p);
	REFUSED(jprof_profile_add, p, NULL);
	REFUSED(jprof_profile_difference, NULL, p);
	REFUSED(jprof_profile_difference, p, NULL);
	REFUSED(jprof_profile_sidecar, NULL, "{}", 2);
	REFUSED(jprof_profile_sidecar, p, NULL, 2);
	REFUSED(jprof_profile_find_sidecar, NULL, "x.heap");
	REFUSED(jprof_profile_find_sidecar, p, NULL);
	REFUSED(jprof_profile_symbolize, NULL, NULL);
	assert_int_equal(jprof_profile_sidecar(p, NULL, 0, NULL), 0);
	assert_int_equal(jprof_profile_parse(NULL, 0, NULL, NULL, &made, NULL), JPROF_E_FORMAT);
	KEPT(made);

	check_numbers(p);
	struct jprof_outside outside = { .processes = 4711 };
	jprof_profile_outside(NULL, false, &outside);
	assert_int_equal(outside.processes, 0);
	jprof_profile_outside(p, true, NULL);
	struct jprof_settings settings;
	struct jprof_group group;
	jprof_profile_settings(NULL, &settings);
	jprof_profile_group(NULL, &group);
	assert_false(settings.known || group.known);
	jprof_profile_settings(p, NULL);
	jprof_profile_group(p, NULL);
	assert_true(isnan(jprof_profile_figure(NULL, false, JPROF_FIGURE_RSS)));
	assert_true(isnan(jprof_profile_part(NULL, false, JPROF_PART_KEPT)));
	assert_true(isnan(jprof_profile_part(p, true, JPROF_PARTS)));
	assert_true(isnan(jprof_profile_figure(p, false, JPROF_FIGURES)));
	assert_true(isnan(jprof_profile_figure(p, true, JPROF_FIGURE_RSS)));
	GIVES(== 0, jprof_profile_time(NULL));
	GIVES(== 0, jprof_profile_unchanged(NULL));
	GIVES(== 0, jprof_profile_unchanged(p));
	struct jprof_made when;
	REFUSED(jprof_made_open, NULL, &when);
	REFUSED(jprof_made_open, "/dev/null", NULL);
	GIVES(== NULL, jprof_profile_started_as(NULL));
	struct jprof_service service = { .processes = 1 };
	jprof_profile_service(NULL, &service);
	jprof_profile_service(NULL, NULL);
	assert_int_equal(service.processes, 0);
	assert_string_equal(service.title, "");
	GIVES(== NULL, jprof_profile_info(NULL));
	GIVES(== 0, jprof_profile_threads(NULL));
	GIVES(== NULL, jprof_profile_thread(NULL, 0));
	GIVES(== NULL, jprof_profile_thread(p, jprof_profile_threads(p)));
	GIVES(== 0, jprof_profile_objects(NULL));
	GIVES(== 0, jprof_profile_tags(NULL));
	GIVES(== NULL, jprof_profile_object(NULL, 0));
	GIVES(== NULL, jprof_profile_object(p, jprof_profile_objects(p)));
	GIVES(== 0, jprof_profile_notes(NULL));
	GIVES(== NULL, jprof_profile_note(NULL, 0));
	GIVES(== NULL, jprof_profile_note(p, jprof_profile_notes(p)));
	GIVES(== JPROF_ADVICE_NONE, jprof_profile_note_advice(NULL, 0));
	GIVES(== JPROF_ADVICE_NONE, jprof_profile_note_advice(p, SIZE_MAX));
	GIVES(== 0, jprof_profile_stacks(NULL));
	GIVES(== 0, jprof_profile_frames(NULL, 0, &frame, 1));
	GIVES(== 0, jprof_profile_frames(p, jprof_profile_stacks(p), &frame, 1));
	GIVES(== 0, jprof_profile_frames(p, SIZE_MAX, &frame, 1));
	assert_int_equal(frame.line, 4711);
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	GIVES(== 2, jprof_profile_frames(p, 0, NULL, 0));
	GIVES(== 2, jprof_profile_frames(p, 0, NULL, 5));
	jprof_profile_free(NULL);
	jprof_profile_free(p);
	jprof_dump_free(dump);
	assert_int_equal(wrong, 0);
}

TEST(test_bundles)
{
	struct jprof_bundle *bundle = NULL, *made = UNTOUCHED;
	struct jprof_profile *p = UNTOUCHED;
	size_t len = 4711;
	REFUSED(jprof_bundle_parse, NULL, 5, "x", &made);
	REFUSED(jprof_bundle_parse, DUMP, strlen(DUMP), "x", NULL);
	REFUSED(jprof_bundle_open, NULL, &made);
	REFUSED(jprof_bundle_open, "/dev/null", NULL);
	struct jp_strbuf text = { 0 };
	struct jprof_bundle_writer *w;
	assert_int_equal(jprof_bundle_writer_new(NULL, keep, &text, &w, NULL), 0);
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	assert_int_equal(jprof_bundle_writer_file(w, "dump.heap", DUMP, strlen(DUMP), NULL), 0);
	assert_int_equal(jprof_bundle_writer_finish(w, NULL), 0);
	assert_int_equal(jprof_bundle_parse(text.text, text.len, NULL, &bundle, NULL), 0);
	jprof_bundle_writer_free(w);
	jp_strbuf_release(&text);
	size_t count = jprof_bundle_count(bundle);
	REFUSED(jprof_bundle_profile, NULL, 0, NULL, &p);
	REFUSED(jprof_bundle_profile, bundle, 0, NULL, NULL);
	REFUSED_AS("none of number", JPROF_E_MEMBER, jprof_bundle_profile, bundle, count, NULL, &p);
	GIVES(== 0, jprof_profile_cut(NULL, JPROF_INUSE_SPACE));
	REFUSED(jprof_bundle_difference, NULL, bundle, NULL, &p);
	REFUSED(jprof_bundle_difference, bundle, NULL, NULL, &p);
	REFUSED(jprof_bundle_difference, bundle, bundle, NULL, NULL);
	GIVES(== 0, jprof_bundle_count(NULL));
	GIVES(== NULL, jprof_bundle_info(NULL));
	GIVES(== NULL, jprof_bundle_warning(NULL));
	GIVES(== NULL, jprof_bundle_member(NULL, 0));
	GIVES(== NULL, jprof_bundle_member(bundle, count));
	GIVES(== NULL, jprof_bundle_file(NULL, 0, "dump.heap", &len));
	GIVES(== NULL, jprof_bundle_file(bundle, count, "dump.heap", &len));
	GIVES(== NULL, jprof_bundle_file(bundle, 0, NULL, &len));
	GIVES(!= NULL, jprof_bundle_file(bundle, 0, "dump.heap", NULL));
	GIVES(== 0, jprof_bundle_find(NULL, "x", 0));
	GIVES(== count, jprof_bundle_find(bundle, NULL, count + 5));
	GIVES(== count, jprof_bundle_find(bundle, "x", count + 5));
	assert_int_equal(len, 4711);
	KEPT(p);
	KEPT(made);
	jprof_bundle_free(NULL);
	jprof_bundle_free(bundle);
	assert_int_equal(wrong, 0);
}

TEST(test_bundle_writers)
{
	struct jprof_bundle_writer *w = UNTOUCHED;
	struct jprof_profile *p = profile_of(DUMP);
	REFUSED(jprof_bundle_writer_new, NULL, NULL, NULL, &w);
	REFUSED(jprof_bundle_writer_new, NULL, drop, NULL, NULL);
	KEPT(w);
	REFUSED(jprof_bundle_writer_member, NULL, NULL);
	REFUSED(jprof_bundle_writer_file, NULL, "dump.heap", "x", 1);
	REFUSED(jprof_bundle_writer_fd, NULL, "dump.heap", STDIN_FILENO);
	REFUSED(jprof_bundle_writer_symbols, NULL, p, true);
	REFUSED(jprof_bundle_writer_finish, NULL);
	assert_int_equal(jprof_bundle_writer_new(NULL, drop, NULL, &w, NULL), 0);
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	REFUSED(jprof_bundle_writer_file, w, NULL, "x", 1);
	REFUSED(jprof_bundle_writer_file, w, "dump.heap", NULL, 1);
	REFUSED(jprof_bundle_writer_fd, w, NULL, STDIN_FILENO);
	REFUSED(jprof_bundle_writer_symbols, w, NULL, true);
	REFUSED_AS("cannot be read", JPROF_E_IO, jprof_bundle_writer_fd, w, "dump.heap", -1);
	assert_int_equal(jprof_bundle_writer_file(w, "dump.heap", DUMP, strlen(DUMP), NULL), 0);
	assert_int_equal(jprof_bundle_writer_finish(w, NULL), 0);

	/* Too late. */
	REFUSED_AS("is finished", JPROF_E_ARGUMENT, jprof_bundle_writer_finish, w);
	REFUSED_AS("is finished", JPROF_E_ARGUMENT, jprof_bundle_writer_member, w, NULL);
	REFUSED_AS("is finished", JPROF_E_ARGUMENT, jprof_bundle_writer_file, w, "b", "x", 1);
	jprof_bundle_writer_free(NULL);
	jprof_bundle_writer_free(w);
	jprof_profile_free(p);
	assert_int_equal(wrong, 0);
}

TEST(test_object_files)
{
	REFUSED(jprof_names_learn, NULL, NULL, NULL, drop, NULL);
	REFUSED(jprof_names_learn, "/proc/self/exe", NULL, NULL, NULL, NULL);
	REFUSED(jprof_names_answer, NULL, drop, NULL);
	REFUSED(jprof_names_answer, &(struct jprof_name_question){ 0 }, NULL, NULL);
	REFUSED(jprof_names_answer, &(struct jprof_name_question){ .len = 1 }, drop, NULL);
	REFUSED(jprof_names_answer, &(struct jprof_name_question){ .file_count = 1 }, drop, NULL);
	struct jprof_cache_sum sum;
	REFUSED(jprof_cache_measure, NULL, &sum);
	REFUSED(jprof_cache_measure, "/nowhere", NULL);
	REFUSED(jprof_cache_empty, NULL, &sum);
	REFUSED(jprof_cache_empty, "/nowhere", NULL);
	struct jprof_binary *b = NULL;
	size_t n = 1;
	REFUSED(jprof_binary_open, NULL, NULL, &b);
	REFUSED(jprof_binary_open, NULL, "/proc/self/exe", NULL);
	REFUSED(jprof_binary_open_by, NULL, NULL, NULL, &b);
	REFUSED(jprof_binary_open_by, NULL, NULL, "/proc/self/exe", NULL);
	REFUSED(jprof_binary_open_by, &(const struct jprof_opener){ 0 }, NULL, "/proc/self/exe", &b);
	assert_int_equal(jprof_binary_open(NULL, "/proc/self/exe", &b, NULL), 0);
	GIVES(== NULL, jprof_binary_info(NULL));
	GIVES(== 0, jprof_binary_needed_count(NULL));
	GIVES(== NULL, jprof_binary_needed(NULL, 0));
	GIVES(== NULL, jprof_binary_needed(b, jprof_binary_needed_count(b)));
	GIVES(== false, jprof_binary_defines(NULL, "main"));
	GIVES(== false, jprof_binary_defines(b, NULL));
	GIVES(== false, jprof_binary_exports(NULL, "main"));
	GIVES(== false, jprof_binary_exports(b, NULL));
	REFUSED(jprof_binary_open_by, NULL, NULL, NULL, &b);
	REFUSED(jprof_binary_open_by, NULL, NULL, "/proc/self/exe", NULL);
	GIVES(== JPROF_SOURCE_NONE, jprof_binary_source(NULL));
	REFUSED(jprof_binary_packed, NULL, NULL, NULL, NULL, &n, &n);
	REFUSED(jprof_binary_packed, b, NULL, NULL, NULL, NULL, &n);
	REFUSED(jprof_binary_packed, b, NULL, NULL, NULL, &n, NULL);
	assert_int_equal(jprof_binary_packed(b, NULL, NULL, NULL, &n, &n, NULL), 0);
	assert_int_equal(n, 0);
	jprof_binary_free(NULL);
	jprof_binary_free(b);
	assert_int_equal(wrong, 0);
}

static void check_explanations(const struct jprof_profile *p)
{
	struct jprof_explanation *e = UNTOUCHED;
	REFUSED(jprof_explain_new, NULL, NULL, NULL, &e);
	REFUSED(jprof_explain_new, p, NULL, NULL, NULL);
	REFUSED_AS("no difference", JPROF_E_ARGUMENT, jprof_explain_new, p, p, NULL, &e);
	KEPT(e);
	assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
	GIVES(== NULL, jprof_explain_info(NULL));
	GIVES(== 0, jprof_explain_count(NULL));
	GIVES(== NULL, jprof_explain_at(NULL, 0));
	GIVES(== NULL, jprof_explain_at(e, jprof_explain_count(e)));
	GIVES(== NULL, jprof_explain_help(NULL, 0));
	GIVES(== NULL, jprof_explain_help(e, SIZE_MAX));
	jprof_explain_free(NULL);
	jprof_explain_free(e);
	struct jprof_series *series;
	const struct jprof_profile *const steps[] = { p };
	REFUSED(jprof_series_new, NULL, 1, NULL, NULL, &series);
	REFUSED(jprof_series_new, steps, 1, NULL, NULL, NULL);
	REFUSED_AS("is made of differences", JPROF_E_ARGUMENT, jprof_series_new, steps, 0, NULL, NULL, &series);
	REFUSED_AS("is made of differences", JPROF_E_ARGUMENT, jprof_series_new, steps, 1, NULL, NULL, &series);
	GIVES(== NULL, jprof_series_info(NULL));
	GIVES(== 0, jprof_series_count(NULL));
	GIVES(== NULL, jprof_series_at(NULL, 0));
	GIVES(== NULL, jprof_series_malloc(NULL));
	GIVES(== 0, jprof_series_objects(NULL));
	GIVES(== NULL, jprof_series_object(NULL, 0));
	GIVES(== NULL, jprof_age_band(JPROF_AGE_BANDS));
	jprof_series_free(NULL);
	assert_string_equal(jprof_verdict_words((enum jprof_verdict) - 1)->shown, "");
	assert_string_equal(jprof_shape_key((enum jprof_shape) - 1), "");
}

TEST(test_rubyheaps)
{
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	char path[] = "/tmp/jprof-nothing.XXXXXX";
	int fd = mkstemp(path);
	static const char dump[] = "{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[]}\n";
	assert_int_equal(write(fd, dump, sizeof dump - 1), sizeof dump - 1);
	close(fd);
	REFUSED(jprof_rubyheap_open, NULL, &heap);
	REFUSED(jprof_rubyheap_open, "/dev/null", NULL);
	REFUSED(jprof_rubyheap_parse, NULL, 0, "graph", &heap);
	REFUSED(jprof_rubyheap_parse, "", 0, NULL, &heap);
	REFUSED(jprof_rubyheap_parse, "", 0, "graph", NULL);
	REFUSED(jprof_rubyheap_sites, NULL, "", 0);
	REFUSED(jprof_rubyheap_buffers, NULL, "", 0, "", 0);
	assert_int_equal(jprof_rubyheap_open(path, &heap, NULL), 0);
	REFUSED(jprof_rubyheap_buffers, heap, NULL, 0, "", 0);
	REFUSED(jprof_rubyheap_buffers, heap, "", 0, NULL, 0);
	struct jprof_rubystrings *strings = NULL;
	REFUSED(jprof_rubystrings_open, NULL, NULL, &strings);
	REFUSED(jprof_rubystrings_open, path, NULL, NULL);
	assert_int_equal(jprof_rubystrings_open(path, NULL, &strings, NULL), 0);
	GIVES(== NULL, jprof_rubystrings_info(NULL));
	GIVES(== 0, jprof_rubystrings_count(NULL));
	GIVES(== NULL, jprof_rubystrings_at(NULL, 0));
	GIVES(== NULL, jprof_rubystrings_at(strings, jprof_rubystrings_count(strings)));
	jprof_rubystrings_free(strings);
	jprof_rubystrings_free(NULL);
	unlink(path);
	REFUSED(jprof_keepers_new, NULL, NULL, &keepers);
	REFUSED(jprof_keepers_new, heap, NULL, NULL);
	assert_int_equal(jprof_keepers_new(heap, NULL, &keepers, NULL), 0);
	GIVES(== NULL, jprof_rubyheap_info(NULL));
	GIVES(== NULL, jprof_keepers_info(NULL));
	GIVES(== 0, jprof_keepers_count(NULL));
	GIVES(== NULL, jprof_keepers_at(NULL, 0));
	GIVES(== NULL, jprof_keepers_at(keepers, jprof_keepers_count(keepers)));
	struct jprof_born *born = NULL;
	REFUSED(jprof_born_new, NULL, heap, NULL, &born);
	REFUSED(jprof_born_new, heap, NULL, NULL, &born);
	REFUSED(jprof_born_new, heap, heap, NULL, NULL);
	assert_int_equal(jprof_born_new(heap, heap, heap, &born, NULL), 0);
	GIVES(== NULL, jprof_born_info(NULL));
	GIVES(== 0, jprof_born_count(NULL));
	GIVES(== NULL, jprof_born_at(NULL, 0));
	GIVES(== NULL, jprof_born_at(born, jprof_born_count(born)));
	GIVES(== false, jprof_is_rubyheap(NULL));
	jprof_born_free(NULL);
	jprof_born_free(born);
	jprof_keepers_free(NULL);
	jprof_keepers_free(keepers);
	jprof_rubyheap_free(NULL);
	jprof_rubyheap_free(heap);
	assert_int_equal(wrong, 0);
}

static void check_tables(const struct jprof_view *view)
{
	struct jprof_table *table = NULL;
	struct jprof_coverage *coverage = NULL;
	struct jprof_graph *graph = NULL;
	struct jprof_path *path = NULL;
	struct jprof_sizes *sizes = NULL;
	REFUSED(jprof_path_new, NULL, &path);
	REFUSED(jprof_path_new, view, NULL);
	REFUSED(jprof_sizes_new, NULL, &sizes);
	REFUSED(jprof_sizes_new, view, NULL);
	REFUSED(jprof_table_new, NULL, NULL, &table);
	REFUSED(jprof_table_new, view, NULL, NULL);
	REFUSED(jprof_coverage_new, NULL, &coverage);
	REFUSED(jprof_coverage_new, view, NULL);
	REFUSED(jprof_graph_new, NULL, NULL, &graph);
	REFUSED(jprof_graph_new, view, NULL, NULL);
	assert_int_equal(jprof_table_new(view, NULL, &table, NULL), 0);
	assert_int_equal(jprof_coverage_new(view, &coverage, NULL), 0);
	assert_int_equal(jprof_graph_new(view, NULL, &graph, NULL), 0);
	GIVES(== 0, jprof_table_count(NULL));
	GIVES(== NULL, jprof_table_at(NULL, 0));
	GIVES(== NULL, jprof_table_at(table, jprof_table_count(table)));
	GIVES(== 0, jprof_coverage_count(NULL));
	GIVES(== 1, jprof_coverage_named(NULL));
	GIVES(== NULL, jprof_coverage_at(NULL, 0));
	GIVES(== NULL, jprof_coverage_at(coverage, jprof_coverage_count(coverage)));
	GIVES(== NULL, jprof_graph_info(NULL));
	GIVES(== 0, jprof_graph_nodes(NULL));
	GIVES(== 0, jprof_graph_edges(NULL));
	GIVES(== NULL, jprof_graph_node(NULL, 0));
	GIVES(== NULL, jprof_graph_node(graph, jprof_graph_nodes(graph)));
	GIVES(== NULL, jprof_graph_edge(NULL, 0));
	GIVES(== NULL, jprof_graph_edge(graph, jprof_graph_edges(graph)));
	assert_int_equal(jprof_path_new(view, &path, NULL), 0);
	assert_int_equal(jprof_sizes_new(view, &sizes, NULL), 0);
	GIVES(== 0, jprof_sizes_count(NULL));
	GIVES(== NULL, jprof_sizes_at(NULL, 0));
	GIVES(== NULL, jprof_sizes_at(sizes, jprof_sizes_count(sizes)));
	jprof_path_free(NULL);
	jprof_path_free(path);
	jprof_sizes_free(NULL);
	jprof_sizes_free(sizes);
	jprof_table_free(NULL);
	jprof_table_free(table);
	jprof_coverage_free(NULL);
	jprof_coverage_free(coverage);
	jprof_graph_free(NULL);
	jprof_graph_free(graph);
}

TEST(test_views)
{
	struct jprof_profile *p = profile_of(DUMP);
	struct jprof_view *view = NULL, *made = UNTOUCHED;
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	REFUSED(jprof_view_new, NULL, NULL, &made);
	REFUSED(jprof_view_new, p, NULL, NULL);
	assert_int_equal(jprof_view_new(p, NULL, &view, NULL), 0);
	REFUSED(jprof_view_thread, NULL, 0, &made);
	REFUSED(jprof_view_thread, view, 0, NULL);
	REFUSED_AS("none of number", JPROF_E_ARGUMENT, jprof_view_thread, view, jprof_view_threads(view), &made);
	REFUSED_AS("none of number", JPROF_E_ARGUMENT, jprof_view_thread, view, SIZE_MAX, &made);
	GIVES(== NULL, jprof_view_info(NULL));
	GIVES(== 0, jprof_view_threads(NULL));
	check_tables(view);
	check_explanations(p);

	GIVES(== NULL, jprof_format_at(SIZE_MAX));
	GIVES(== NULL, jprof_format_find(NULL));
	REFUSED(jprof_render, NULL, "text", NULL, drop, NULL);
	REFUSED(jprof_render, view, NULL, NULL, drop, NULL);
	REFUSED(jprof_render, view, "text", NULL, NULL, NULL);
	REFUSED(jprof_render_info, NULL, NULL, NULL, drop, NULL);
	REFUSED(jprof_render_info, view, NULL, NULL, NULL, NULL);
	KEPT(made);
	jprof_view_free(NULL);
	jprof_view_free(view);
	jprof_profile_free(p);
	assert_int_equal(wrong, 0);
}

/* Each thread of a view by its number, and no more of them; the view of one has none of its own. */
TEST(test_threads)
{
	const struct jprof_profile_opts each = { .size = sizeof each, .thread = "*" };
	static const char two[] = "heap_v2/524288\n  t*: 2: 200 [0: 0]\n  t1: 1: 100 [0: 0]\n  t2: 1: 100 [0: 0]\n"
				  "@ 0x401001\n  t*: 2: 200 [0: 0]\n  t1: 1: 100 [0: 0]\n  t2: 1: 100 [0: 0]\n" MAPS;
	struct jprof_profile *p;
	struct jprof_view *view, *part, *none = UNTOUCHED;
	assert_int_equal(jprof_profile_parse(two, strlen(two), NULL, &each, &p, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	assert_int_equal(jprof_view_new(p, NULL, &view, NULL), 0);
	assert_int_equal(jprof_view_threads(view), 2);
	assert_int_equal(jprof_view_thread(view, 1, &part, NULL), 0);
	REFUSED_AS("has 2 thread labels", JPROF_E_ARGUMENT, jprof_view_thread, view, 2, &none);
	REFUSED_AS("has 0 thread labels", JPROF_E_ARGUMENT, jprof_view_thread, part, 0, &none);
	KEPT(none);
	jprof_view_free(part);
	jprof_view_free(view);
	jprof_profile_free(p);
	assert_int_equal(wrong, 0);
}

/* Every format takes no options, and an option struct of zeros, or says what it wants. */
TEST(test_reports_without_options)
{
	const struct jprof_view_opts errors = { .size = sizeof errors, .errors = true };
	const struct jprof_report_opts zeros = { .size = sizeof zeros };
	struct jprof_profile *p = profile_of(DUMP);
	struct jprof_view *view;
	const struct jprof_format *format;
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	assert_int_equal(jprof_view_new(p, &errors, &view, NULL), 0);
	for (size_t i = 0; (format = jprof_format_at(i)); i++) {
		struct jprof_error err = { 0 };
		int rc = jprof_render(view, format->name, NULL, drop, NULL, &err);
		if (rc != jprof_render(view, format->name, &zeros, drop, NULL, NULL) ||
		    !rc == (format->argument != NULL) || !rc == !!*err.text)
			wrong += complain("%s: %d %s", format->name, rc, err.text);
	}
	jprof_view_free(view);
	jprof_profile_free(p);
	assert_int_equal(wrong, 0);
}

TEST(test_processes)
{
	const int self = getpid();
	const struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &self, .pid_count = 1 };
	const struct jprof_processes_opts none = { .size = sizeof none, .pid_count = 1 };
	struct jprof_processes *list = NULL;
	struct jprof_target *target = NULL;
	struct jprof_bundle_writer *writer;
	struct jprof_dump_watch *watch = UNTOUCHED;
	struct jprof_dump_file *file = NULL;
	struct jprof_rights rights;
	char prefix[8];
	REFUSED(jprof_processes_new, NULL, NULL);
	REFUSED(jprof_processes_new, &none, &list);
	assert_int_equal(jprof_processes_new(&opts, &list, NULL), 0);
	const struct jprof_process *me = jprof_processes_at(list, 0);
	GIVES(!= NULL, me);
	GIVES(== NULL, jprof_processes_at(list, jprof_processes_count(list)));
	GIVES(== NULL, jprof_processes_at(NULL, 0));
	GIVES(== 0, jprof_processes_count(NULL));

	assert_int_equal(jprof_bundle_writer_new(NULL, drop, NULL, &writer, NULL), 0);
	REFUSED(jprof_target_open, NULL, NULL, &target);
	REFUSED(jprof_target_open, me, NULL, NULL);
	assert_int_equal(jprof_target_open(me, NULL, &target, NULL), 0);
	REFUSED(jprof_target_rights, NULL, &rights);
	REFUSED(jprof_target_rights, target, NULL);
	jprof_target_use(NULL, NULL);
	jprof_target_use(target, NULL);
	REFUSED(jprof_target_check, NULL);
	REFUSED(jprof_target_signal, NULL, 0);
	REFUSED(jprof_target_prefix, NULL, prefix, sizeof prefix);
	REFUSED(jprof_target_prefix, target, NULL, sizeof prefix);
	REFUSED(jprof_target_gather, NULL, false, writer);
	REFUSED(jprof_core_heap, NULL, NULL, writer, &(struct jprof_heap_seen){ 0 });
	REFUSED(jprof_core_heap, "core", NULL, NULL, &(struct jprof_heap_seen){ 0 });
	REFUSED(jprof_core_heap, "core", NULL, writer, NULL);
	REFUSED(jprof_target_heap, NULL, NULL, writer, &(struct jprof_heap_seen){ 0 });
	REFUSED(jprof_target_heap, target, NULL, NULL, &(struct jprof_heap_seen){ 0 });
	REFUSED(jprof_target_gather, target, false, NULL);
	int fd = -1;
	bool packed;
	uint64_t size;
	REFUSED(jprof_unpack_file, NULL, "", &packed, &size);
	REFUSED(jprof_unpack_file, &fd, NULL, &packed, &size);
	REFUSED(jprof_unpack_file, &fd, "", NULL, &size);
	REFUSED(jprof_unpack_file, &fd, "", &packed, NULL);
	struct jprof_copies *copies = NULL;
	char *text;
	size_t text_len;
	REFUSED(jprof_target_buffers, NULL, &text, &text_len);
	REFUSED(jprof_target_buffers, target, NULL, &text_len);
	REFUSED(jprof_target_buffers, target, &text, NULL);
	REFUSED(jprof_target_v8, NULL, writer);
	REFUSED(jprof_target_v8, target, NULL);
	REFUSED(jprof_target_copies, NULL, target, &copies);
	REFUSED(jprof_target_copies, target, NULL, &copies);
	REFUSED(jprof_target_copies, target, target, NULL);
	assert_int_equal(jprof_copies_count(NULL), 0);
	assert_null(jprof_copies_at(NULL, 0));
	assert_true(jprof_copies_total(NULL).processes == 0);
	jprof_copies_free(NULL);
	REFUSED(jprof_target_watch, NULL, "x", false, &watch);
	REFUSED(jprof_target_watch, target, NULL, false, &watch);
	REFUSED(jprof_target_watch, target, "x", false, NULL);
	REFUSED(jprof_dump_watch_wait, NULL, 0, &file);
	REFUSED(jprof_target_sidecar, NULL, NULL, &file);
	REFUSED(jprof_target_sidecar, target, NULL, &file);
	REFUSED(jprof_target_table, NULL, NULL, &file);
	REFUSED(jprof_target_table, target, NULL, &file);
	REFUSED(jprof_dump_file_remove, NULL);
	GIVES(== -1, jprof_dump_file_fd(NULL));
	GIVES(== NULL, jprof_dump_file_name(NULL));
	KEPT(watch);
	assert_null(file);
	jprof_dump_file_free(NULL);
	jprof_dump_watch_free(NULL);
	jprof_target_free(NULL);
	jprof_target_free(target);
	jprof_bundle_writer_free(writer);
	jprof_processes_free(NULL);
	jprof_processes_free(list);
	assert_int_equal(wrong, 0);
}

TEST(test_agents)
{
	struct jprof_agent *agent = UNTOUCHED;
	struct jprof_dump_file *file = NULL, *sidecar = NULL;
	const struct jprof_agent_report *report = NULL;
	const struct jprof_agent_dump *dump = NULL;
	const struct jprof_process process = { .state = JPROF_PROCESS_ALIVE };
	const char *json = NULL;
	bool was = false;
	REFUSED(jprof_agent_connect, NULL, NULL, &agent);
	REFUSED(jprof_agent_connect, &process, NULL, NULL);
	REFUSED_AS("has no agent", JPROF_E_ARGUMENT, jprof_agent_connect, &process, NULL, &agent);
	REFUSED(jprof_agent_report, NULL, &report);
	REFUSED(jprof_agent_dump, NULL, NULL, &dump);
	REFUSED(jprof_agent_stats, NULL, &json);
	REFUSED(jprof_agent_set_active, NULL, true, &was);
	REFUSED(jprof_agent_files, NULL, NULL, &file, &sidecar);
	REFUSED(jprof_agent_table, NULL, NULL, NULL, &file);
	GIVES(== -1, jprof_agent_graph(NULL));
	GIVES(== false, jprof_agent_label_good(NULL));
	GIVES(== false, jprof_agent_label_good(""));
	jprof_agent_free(NULL);
	KEPT(agent);
	assert_int_equal(wrong, 0);
}

/* ---- mistakes of those who give something ------------------------------------------------------------------ */

/* What they are made with: a profile as it was read, one with its names, views of that. */
static struct jprof_dump *given;
static struct jprof_profile *raw, *named;
static struct jprof_view *plain_view, *with_errors;

FIXTURE(set_up)
{
	const struct jprof_view_opts errors = { .size = sizeof errors, .errors = true };
	given = dump_of(TWO_STACKS);
	raw = profile_of(TWO_STACKS);
	named = profile_of(TWO_STACKS);
	return jprof_profile_symbolize(named, NULL, NULL) || jprof_view_new(named, NULL, &plain_view, NULL) ||
	       jprof_view_new(named, &errors, &with_errors, NULL);
}

FIXTURE(tear_down)
{
	jprof_view_free(with_errors);
	jprof_view_free(plain_view);
	jprof_profile_free(named);
	jprof_profile_free(raw);
	jprof_dump_free(given);
	return 0;
}

static int refuse(void *context, const void *data, size_t len)
{
	(void)context, (void)data, (void)len;
	return 1;
}

#define UNSIZED(type, ...)                                                                                             \
	&(const struct type)                                                                                           \
	{                                                                                                              \
		__VA_ARGS__                                                                                            \
	}
#define OPTS(type, ...)                                                                                                \
	&(const struct type)                                                                                           \
	{                                                                                                              \
		.size = sizeof(struct type), __VA_ARGS__                                                               \
	}
#define NO_SIZE ".size = sizeof"

TEST(test_options_without_size)
{
	struct jprof_profile *p = UNTOUCHED;
	struct jprof_view *view = UNTOUCHED;
	struct jprof_table *table = UNTOUCHED;
	struct jprof_graph *graph = UNTOUCHED;
	struct jprof_bundle_writer *w = UNTOUCHED;
	MISTAKEN(NO_SIZE, jprof_profile_new, given, UNSIZED(jprof_profile_opts, .thread = "1"), &p);
	MISTAKEN(NO_SIZE, jprof_profile_parse, DUMP, strlen(DUMP), "a.heap", UNSIZED(jprof_profile_opts, .thread = "1"),
	         &p);
	MISTAKEN(NO_SIZE, jprof_profile_open, SAMPLES "/heaps/jemalloc-5.3.0.heap",
	         UNSIZED(jprof_profile_opts, .thread = "1"), &p);
	MISTAKEN(NO_SIZE, jprof_profile_symbolize, raw, UNSIZED(jprof_symbolize_opts, .no_lookup = true));
	MISTAKEN(NO_SIZE, jprof_view_new, named, UNSIZED(jprof_view_opts, .counter = JPROF_INUSE_SPACE), &view);
	MISTAKEN("neither errors nor ages", jprof_view_new, named,
	         OPTS(jprof_view_opts, .labels = true, .errors = true), &view);
	MISTAKEN(NO_SIZE, jprof_table_new, plain_view, UNSIZED(jprof_table_opts, .top = 5), &table);
	MISTAKEN(NO_SIZE, jprof_graph_new, plain_view, UNSIZED(jprof_graph_opts, .nodecount = 5), &graph);
	MISTAKEN(NO_SIZE, jprof_render, plain_view, "text", UNSIZED(jprof_report_opts, .top = 5), drop, NULL);
	MISTAKEN(NO_SIZE, jprof_bundle_writer_new, UNSIZED(jprof_bundle_writer_opts, .label = "boot"), drop, NULL, &w);
	/* Nothing beyond the struct is looked at: the sanitizer would see it. */
	MISTAKEN(NO_SIZE, jprof_table_new, plain_view, UNSIZED(jprof_table_opts, .size = SIZE_MAX), &table);
	MISTAKEN(NO_SIZE, jprof_graph_new, plain_view, UNSIZED(jprof_graph_opts, .size = 1 << 20), &graph);
	MISTAKEN(NO_SIZE, jprof_view_new, named,
	         UNSIZED(jprof_view_opts, .size = offsetof(struct jprof_view_opts, focus) + 3, .focus = "x"), &view);
	MISTAKEN(NO_SIZE, jprof_table_new, plain_view, UNSIZED(jprof_table_opts, .size = sizeof(size_t) - 1, .top = 5),
	         &table);
	KEPT(p), KEPT(view), KEPT(table), KEPT(graph), KEPT(w);
	assert_int_equal(wrong, 0);
}

TEST(test_what_does_not_exist)
{
	static const char folder[] = SAMPLES "/no-such-folder";
	struct jprof_profile *p = UNTOUCHED;
	struct jprof_view *view = UNTOUCHED;
	MISTAKEN("counter 4", jprof_view_new, named, OPTS(jprof_view_opts, .counter = JPROF_COUNTERS), &view);
	MISTAKEN("counter", jprof_view_new, named, OPTS(jprof_view_opts, .counter = (enum jprof_counter) - 1), &view);
	MISTAKEN("granularity 9", jprof_view_new, named, OPTS(jprof_view_opts, .granularity = JPROF_BY_TAG + 1), &view);
	MISTAKEN("fold 5", jprof_view_new, named, OPTS(jprof_view_opts, .fold = JPROF_FOLD_RAW + 1), &view);
	MISTAKEN("no thread no such one", jprof_view_new, named, OPTS(jprof_view_opts, .thread = "no such one"), &view);
	MISTAKEN("no thread 4711", jprof_profile_new, given, OPTS(jprof_profile_opts, .thread = "4711"), &p);
	MISTAKEN("no such report format: tekst", jprof_render, plain_view, "tekst", NULL, drop, NULL);
	MISTAKEN("focus", jprof_view_new, named, OPTS(jprof_view_opts, .focus = "("), &view);
	MISTAKEN("retain", jprof_view_new, named, OPTS(jprof_view_opts, .retain = "["), &view);
	MISTAKEN("peek", jprof_render, plain_view, "peek", OPTS(jprof_report_opts, .pattern = "("), drop, NULL);
	MISTAKEN("give a pattern", jprof_render, plain_view, "peek", OPTS(jprof_report_opts, .pattern = NULL), drop,
	         NULL);
	MISTAKEN("give a pattern", jprof_render, plain_view, "list", OPTS(jprof_report_opts, .pattern = ""), drop,
	         NULL);
	MISTAKEN("no_such_function", jprof_render, plain_view, "peek",
	         OPTS(jprof_report_opts, .pattern = "no_such_function"), drop, NULL);
	MISTAKEN("no_such_function", jprof_render, plain_view, "list",
	         OPTS(jprof_report_opts, .pattern = "no_such_function"), drop, NULL);
	REFUSED_AS("directory", JPROF_E_IO, jprof_profile_symbolize, raw,
	           OPTS(jprof_symbolize_opts, .sysroot = folder));
	REFUSED_AS("", JPROF_E_IO, jprof_profile_symbolize, raw, OPTS(jprof_symbolize_opts, .perf_map = folder));
	MISTAKEN("jprof_profile_symbolize: NULL", jprof_profile_symbolize, raw,
	         OPTS(jprof_symbolize_opts, .live_pid = 1, .opener = &(const struct jprof_opener){ 0 }));
	REFUSED_AS("", JPROF_E_IO, jprof_profile_open, folder, NULL, &p);
	REFUSED_AS("", JPROF_E_FORMAT, jprof_profile_open, SAMPLES "/heaps/README.md", NULL, &p);
	KEPT(p), KEPT(view);
	assert_int_equal(wrong, 0);
}

/* Too early, too late, for another view. */
TEST(test_order)
{
	static const char sidecar[] = "{\"jprof_sidecar\":1}", before[] = "before jprof_profile_symbolize";
	struct jprof_profile *first, *p = UNTOUCHED;
	struct jprof_view *view = UNTOUCHED;
	struct jprof_dump *dump;
	assert_int_equal(jprof_dump_open(SAMPLES "/heaps/hand-4.heap", &dump, NULL), 0);
	assert_int_equal(jprof_profile_take(dump, NULL, &first, NULL), 0);
	assert_true(jprof_dump_info(dump)->stacks && jprof_dump_maps(dump));
	MISTAKEN("open the dump again", jprof_profile_new, dump, NULL, &p);
	jprof_profile_free(first);
	jprof_dump_free(dump);
	MISTAKEN("call jprof_profile_symbolize first", jprof_view_new, raw, NULL, &view);
	MISTAKEN(before, jprof_profile_add, named, raw);
	MISTAKEN(before, jprof_profile_add, raw, named);
	MISTAKEN(before, jprof_profile_difference, named, raw);
	MISTAKEN(before, jprof_profile_difference, raw, named);
	MISTAKEN("", jprof_profile_sidecar, named, sidecar, strlen(sidecar));
	MISTAKEN(".errors = true", jprof_render, plain_view, "csv", NULL, drop, NULL);
	MISTAKEN(".errors = true", jprof_render, plain_view, "json", NULL, drop, NULL);
	REFUSED_AS("written", JPROF_E_WRITE, jprof_render, plain_view, "text", NULL, refuse, NULL);
	REFUSED_AS("written", JPROF_E_WRITE, jprof_render_info, with_errors, NULL, NULL, refuse, NULL);
	KEPT(p), KEPT(view);
	assert_int_equal(wrong, 0);
}

static struct jprof_bundle_writer *new_writer(bool with_member, bool with_file)
{
	struct jprof_bundle_writer *w;
	assert_int_equal(jprof_bundle_writer_new(NULL, drop, NULL, &w, NULL), 0);
	if (with_member)
		assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	if (with_file)
		assert_int_equal(jprof_bundle_writer_file(w, "dump.heap", DUMP, strlen(DUMP), NULL), 0);
	return w;
}

TEST(test_order_of_bundles)
{
	struct jprof_bundle_writer *empty = new_writer(false, false), *member = new_writer(true, false),
				   *file = new_writer(true, true), *made = UNTOUCHED;
	MISTAKEN("member", jprof_bundle_writer_file, empty, "dump.heap", DUMP, strlen(DUMP));
	MISTAKEN("member", jprof_bundle_writer_finish, empty);
	MISTAKEN("A-Za-z0-9._-", jprof_bundle_writer_file, member, "../dump.heap", DUMP, strlen(DUMP));
	MISTAKEN("already", jprof_bundle_writer_file, file, "dump.heap", DUMP, strlen(DUMP));
	MISTAKEN(NO_SIZE, jprof_bundle_writer_member, file, UNSIZED(jprof_bundle_member, .name = "1"));
	MISTAKEN("", jprof_bundle_writer_symbols, file, raw, true);
	MISTAKEN("compression 3", jprof_bundle_writer_new,
	         OPTS(jprof_bundle_writer_opts, .compression = JPROF_COMPRESS_GZIP + 1), drop, NULL, &made);
	KEPT(made);
	jprof_bundle_writer_free(empty);
	jprof_bundle_writer_free(member);
	jprof_bundle_writer_free(file);
	assert_int_equal(wrong, 0);
}

/* A refused call leaves its profile as it was. */
TEST(test_nothing_is_changed)
{
	assert_near(jprof_profile_total(raw, JPROF_INUSE_SPACE), jprof_profile_total(named, JPROF_INUSE_SPACE));
	assert_int_equal(jprof_profile_info(raw)->inputs, 1);
	assert_int_equal(jprof_profile_info(named)->inputs, 1);
	assert_int_equal(jprof_profile_add(raw, raw, NULL), 0);
}

TESTS_BETWEEN(set_up, tear_down)
