/* Many pictures in one process: Graphviz keeps things from one to the next. Each must be as the first of its
 * kind, and no memory touched that was freed (the sanitizer of a developer's build looks). */
#include "dot.h"
#include "gvcmodule.h"
#include "harness.h"
#include "model/profile.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"                            \
	"00600000-00700000 r-xp 00000000 08:01 43   /usr/lib/libxml2.so.2.9\n"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "a.c", 10, { "a(int)" } },
	{ 0x402000, JPROF_SOURCE_DWARF, "b.c", 20, { "small", "b" } },
	{ 0x601000, JPROF_SOURCE_SYMTAB, NULL, 0, { "xmlNew" } },
};

static const char text[] = "heap_v2/1\n"
			   "@ 0x401000 0x601001 0x402001\n  t*: 1: 6000 [0: 0]\n"
			   "@ 0x601000 0x401001 0x402001\n  t*: 1: 3000 [0: 0]\n" MAPS;

static struct dot_picture draw(const struct jprof_profile *p, const char *format, bool cluster)
{
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE });
	const struct dot_opts opts = {
		.view = jprof_view_info(view), .title = "again", .cluster = cluster, .gvc = &jprof_gvc
	};
	struct jprof_graph *graph;
	struct dot_picture picture;
	struct jprof_error err;
	assert_int_equal(jprof_graph_new(view, NULL, &graph, NULL), 0);
	if (dot_draw(graph, &opts, format, &picture, &err))
		fail_msg("%s: %s", format, err.text);
	assert_string_equal(picture.remark, "");
	jprof_graph_free(graph);
	jprof_view_free(view);
	return picture;
}

/* cairo writes a font's glyphs to PostScript in the order of their addresses, and from 1.18 on packs the date of a
 * PDF where it cannot be taken out. */
static bool is_stable(const char *format, const struct dot_picture *picture)
{
	return strcmp(format, "ps") && (strcmp(format, "pdf") || !memmem(picture->data, picture->len, "/ObjStm", 7));
}

TEST(test_again)
{
	static const char *const formats[] = { "svg", "pdf", "dot", "png", "ps", "gif" };
	enum { count = 2 * jp_count(formats) };
	struct dot_picture first[count];
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	for (int i = 0; i < 5 * count; i++) {
		struct dot_picture picture = draw(p, formats[i % count / 2], i % 2);
		if (i < count) {
			first[i] = picture;
			continue;
		}
		if (is_stable(formats[i % count / 2], &picture)) {
			assert_int_equal(picture.len, first[i % count].len);
			assert_memory_equal(picture.data, first[i % count].data, picture.len);
		}
		free(picture.data);
	}
	for (int i = 0; i < count; i++)
		free(first[i].data);
	jprof_profile_free(p);
}
