#include "formats.h"

#include "base/file.h"

struct jprof_profile *must_parse(const void *data, size_t len, const struct jprof_profile_opts *opts)
{
	struct jprof_error err = { 0 };
	struct jprof_profile *profile;
	if (jprof_profile_parse(data, len, "test", opts, &profile, &err))
		fail_msg("must be read: %s:%u: %s", err.path, err.line, err.text);
	return profile;
}

void must_refuse(const void *data, size_t len, const char *part)
{
	struct jprof_error err = { 0 };
	struct jprof_profile *profile;
	int rc = jprof_profile_parse(data, len, "test", NULL, &profile, &err);
	if (!rc) {
		jprof_profile_free(profile);
		fail_msg("must be refused: %s", part);
	}
	if (!strstr(err.text, part))
		fail_msg("\"%s\" should hold \"%s\"", err.text, part);
	assert_int_equal(rc, err.code);
	assert_null(strchr(err.text, '\n'));
}

const struct jprof_symbolize_opts no_files_here = { .size = sizeof no_files_here, .sysroot = "/proc/self/fdinfo" };

static int to_buffer(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

struct jprof_view *folded(const struct jprof_profile *profile, enum jprof_fold fold)
{
	struct jprof_view_opts opts = { .size = sizeof opts, .counter = JPROF_INUSE_SPACE, .fold = fold };
	struct jprof_error err = { 0 };
	struct jprof_view *view;
	if (jprof_view_new(profile, &opts, &view, &err))
		fail_msg("no view: %s", err.text);
	return view;
}

struct jp_strbuf rendered(const struct jprof_profile *profile, const char *format, bool normalize, enum jprof_fold fold)
{
	struct jprof_error err = { 0 };
	struct jp_strbuf out = { 0 };
	struct jprof_report_opts opts = { .size = sizeof opts, .normalize = normalize };
	struct jprof_view *view = folded(profile, fold);
	if (jprof_render(view, format, &opts, to_buffer, &out, &err))
		fail_msg("cannot be written: %s", err.text);
	jprof_view_free(view);
	return out;
}

double cum_of_row(const struct jprof_profile *profile, struct jprof_view_opts asked, const char *row)
{
	struct jprof_view *view;
	struct jprof_table *table;
	double value = -1;
	asked.size = sizeof asked;
	asked.fold = JPROF_FOLD_NONE;
	assert_int_equal(jprof_view_new(profile, &asked, &view, NULL), 0);
	assert_int_equal(jprof_table_new(view, NULL, &table, NULL), 0);
	for (size_t i = 0; i < jprof_table_count(table); i++)
		if (!strcmp(jprof_table_at(table, i)->name, row))
			value = jprof_table_at(table, i)->cum;
	jprof_table_free(table);
	jprof_view_free(view);
	return value;
}

struct jp_strbuf whole_file(const char *path)
{
	struct jprof_error err = { 0 };
	struct jp_strbuf text = { 0 };
	if (jp_file_read(path, &text, NULL, &err))
		fail_msg("%s: %s", path, err.text);
	return text;
}

void assert_noted(const struct jprof_profile *profile, const char *part)
{
	size_t hits = 0;
	for (size_t i = 0; i < jprof_profile_notes(profile); i++)
		hits += strstr(jprof_profile_note(profile, i), part) != NULL;
	if (hits != 1)
		fail_msg("%zu of %zu notes hold \"%s\"; the first: %s", hits, jprof_profile_notes(profile), part,
		         jprof_profile_notes(profile) ? jprof_profile_note(profile, 0) : "");
}

static void same_table(const struct jprof_view *a, const struct jprof_view *b, const char *what)
{
	struct jprof_table *ta, *tb;
	assert_int_equal(jprof_table_new(a, NULL, &ta, NULL), 0);
	assert_int_equal(jprof_table_new(b, NULL, &tb, NULL), 0);
	size_t count = jprof_table_count(ta);
	if (count != jprof_table_count(tb))
		fail_msg("%s: %zu rows and %zu", what, count, jprof_table_count(tb));
	for (size_t i = 0; i < count; i++) {
		const struct jprof_row *ra = jprof_table_at(ta, i), *rb = jprof_table_at(tb, i);
		if (strcmp(ra->name, rb->name) || ra->flat != rb->flat || ra->cum != rb->cum)
			fail_msg("%s: row %zu is %s %.17g %.17g and %s %.17g %.17g", what, i, ra->name, ra->flat,
			         ra->cum, rb->name, rb->flat, rb->cum);
	}
	jprof_table_free(ta);
	jprof_table_free(tb);
}

/* Both views have the same rows; `folds` of the first, and none of the second. */
static void same_views(const struct jprof_profile *a, const struct jprof_profile *b, struct jprof_view_opts opts,
                       enum jprof_fold folds, const char *what)
{
	struct jprof_view *va, *vb;
	opts.fold = folds;
	assert_int_equal(jprof_view_new(a, &opts, &va, NULL), 0);
	opts.fold = JPROF_FOLD_RAW;
	assert_int_equal(jprof_view_new(b, &opts, &vb, NULL), 0);
	same_table(va, vb, what);
	jprof_view_free(va);
	jprof_view_free(vb);
}

void assert_same_rows(const struct jprof_profile *a, const struct jprof_profile *b, bool full, bool addresses,
                      enum jprof_fold fold, const char *what)
{
	static const enum jprof_granularity granularities[] = { JPROF_BY_FUNCTION, JPROF_BY_LINE, JPROF_BY_FILE,
		                                                JPROF_BY_LIBRARY,  JPROF_BY_SITE, JPROF_BY_ADDRESS };
	bool has_ruby = jprof_profile_info(a)->has_ruby;
	assert_int_equal(has_ruby, jprof_profile_info(b)->has_ruby);
	for (size_t by = 0; by < jp_count(granularities) - !addresses; by++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			for (int names = 0; names <= full; names++)
				for (int ruby = JPROF_RUBY_MERGED; ruby <= (has_ruby ? JPROF_RUBY_OFF : 0); ruby++)
					same_views(a, b,
					           (struct jprof_view_opts){ .size = sizeof(struct jprof_view_opts),
					                                     .counter = (enum jprof_counter)c,
					                                     .granularity = granularities[by],
					                                     .full_names = names,
					                                     .ruby = (enum jprof_ruby)ruby },
					           fold, what);
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (jprof_profile_total(a, (enum jprof_counter)c) != jprof_profile_total(b, (enum jprof_counter)c))
			fail_msg("%s: totals differ", what);
}
