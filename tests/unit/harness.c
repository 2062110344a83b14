#include "harness.h"

#include "base/array.h"
#include "base/strbuf.h"
#include "input/demangle.h"
#include "model/profile.h"

void assert_near_at(double is, double should, const char *file, int line)
{
	if (fabs(is - should) <= 1e-12 * fabs(should))
		return;
	print_error("%.17g should be %.17g\n", is, should);
	_fail(file, line);
}

void assert_contains_at(const char *text, const char *part, const char *file, int line)
{
	if (strstr(text, part))
		return;
	print_error("\"%s\" should contain \"%s\"\n", text, part);
	_fail(file, line);
}

int complain(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vprint_error(fmt, args);
	va_end(args);
	print_error("\n");
	return 1;
}

void assert_is_message(const char *text)
{
	assert_true(*text);
	for (; *text; text++)
		assert_false((unsigned char)*text < 0x20 || *text == 0x7f);
}

char *read_whole(const char *path, size_t *len)
{
	FILE *in = fopen(path, "rb");
	if (!in)
		fail_msg("%s: cannot be opened", path);
	assert_int_equal(fseek(in, 0, SEEK_END), 0);
	*len = (size_t)ftell(in);
	rewind(in);
	char *text = malloc(*len + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, *len, in), *len);
	text[*len] = '\0';
	fclose(in);
	return text;
}

struct jprof_dump *dump_of(const char *text)
{
	struct jprof_dump *dump = NULL;
	struct jprof_error err = { 0 };
	if (jprof_dump_parse(text, strlen(text), "test.heap", &dump, &err))
		fail_msg("test.heap:%u: %s", err.line, err.text);
	return dump;
}

struct jprof_profile *profile_of(const char *text)
{
	struct jprof_dump *dump = dump_of(text);
	struct jprof_profile *profile = NULL;
	assert_int_equal(jprof_profile_new(dump, NULL, &profile, NULL), 0);
	jprof_dump_free(dump);
	return profile;
}

static const struct known *find(const struct known *table, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].address == address)
			return &table[i];
	return NULL;
}

static void add_frame(struct jprof_profile *p, struct jp_location *l, const char *name, const struct known *known,
                      bool inlined)
{
	struct jp_strbuf brief = { 0 };
	const char *file = known ? known->file : NULL;
	jp_shorten(name, &brief);
	struct jp_function f = { jp_intern_str(&p->strings, name), jp_intern_str(&p->strings, brief.text),
		                 jp_intern_str(&p->strings, name), file ? jp_intern_str(&p->strings, file) : JP_NONE };
	jp_strbuf_release(&brief);
	assert_int_equal(jp_array_push(p->frames, p->frame_count, p->frame_cap), 0);
	p->frames[p->frame_count++] = (struct jp_frame){ jp_function_id(p, &f), known ? known->line : 0, inlined };
	l->frame_count++;
}

void name_locations(struct jprof_profile *p, const struct known *table, size_t count)
{
	for (uint32_t i = 0; i < jp_location_count(p); i++) {
		struct jp_location *l = &p->locations[i];
		const struct known *known = find(table, count, l->address);
		char address[32];
		snprintf(address, sizeof address, "0x%llx", (unsigned long long)l->address);
		l->frame_first = (uint32_t)p->frame_count;
		l->source = known ? known->source : JPROF_SOURCE_NONE;
		if (!known)
			add_frame(p, l, address, NULL, false);
		for (size_t n = 0; known && known->names[n]; n++)
			add_frame(p, l, known->names[n], known, known->names[n + 1]);
	}
	p->named = true;
}

int append_to_strbuf(void *strbuf, const void *data, size_t len)
{
	jp_strbuf_add(strbuf, data, len);
	return 0;
}

uint64_t next_draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 20;
}

struct jprof_view *view_of(const struct jprof_profile *profile, const struct asked *asked)
{
	struct jprof_view_opts opts = asked ? asked->view : (struct jprof_view_opts){ .size = 0 };
	struct jprof_error err = { 0 };
	struct jprof_view *view;
	opts.size = sizeof opts;
	if (jprof_view_new(profile, &opts, &view, &err))
		fail_msg("%s", err.text);
	return view;
}

struct jprof_table *ordered(const struct jprof_view *view, const struct asked *asked)
{
	const struct jprof_table_opts opts = { .size = sizeof opts,
		                               .cum = asked && asked->report.cum,
		                               .top = asked ? asked->report.top : 0 };
	struct jprof_table *table;
	assert_int_equal(jprof_table_new(view, &opts, &table, NULL), 0);
	return table;
}

char *text_of(const struct jprof_profile *profile, const struct asked *asked)
{
	struct jprof_report_opts opts = asked ? asked->report : (struct jprof_report_opts){ .size = 0 };
	struct jprof_view *view = view_of(profile, asked);
	struct jp_strbuf out = { 0 };
	opts.size = sizeof opts;
	assert_int_equal(jprof_render(view, "text", &opts, append_to_strbuf, &out, NULL), 0);
	jprof_view_free(view);
	jp_strbuf_str(&out, "");
	assert_false(out.failed);
	return out.text;
}
