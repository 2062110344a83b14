/* Which frames go. Stacks are written from the innermost frame outwards, by addresses that stand
 * for names: 0x4.. lie in the program, 0x5.. in a library, 0x7f.. in an allocator's library. */
#include "base/strbuf.h"
#include "harness.h"
#include "view/walk.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"                                                 \
	"00500000-00600000 r-xp 00000000 08:01 43   /usr/lib/libstdc++.so.6\n"                                         \
	"7f000000-7f100000 r-xp 00000000 08:01 44   /usr/lib/libjemalloc.so.2\n"
#define COUNTERS "\n  t*: 1: 100 [0: 0]\n"

#define N JPROF_SOURCE_SYMTAB
#define FDE JPROF_SOURCE_FDE

/* Addresses of return are one less than in the dump; those of frame 0 are not. */
static const struct known names[] = {
	{ 0x7f000010, N, NULL, 0, { "prof_backtrace_impl" } },
	{ 0x7f000020, FDE, NULL, 0, { "libjemalloc.so.2!0x20" } },
	{ 0x7f000030, N, NULL, 0, { "malloc" } },
	{ 0x400010, N, NULL, 0, { "je_prof_backtrace" } },
	{ 0x400020, N, NULL, 0, { "imalloc_body" } },
	{ 0x400030, N, NULL, 0, { "_rjem_je_malloc" } },
	{ 0x400040, N, NULL, 0, { "hidden_slow_path" } },
	{ 0x401000, N, NULL, 0, { "main" } },
	{ 0x401010, N, NULL, 0, { "row_new" } },
	{ 0x401020, N, NULL, 0, { "free" } },
	{ 0x401030, N, NULL, 0, { "malloc" } },
	{ 0x401040, N, NULL, 0, { "ruby_xmalloc" } },
	{ 0x401050, N, NULL, 0, { "objspace_xmalloc0" } },
	{ 0x401060, N, NULL, 0, { "ruby_xmalloc", "rb_str_new" } },
	{ 0x401070, N, NULL, 0, { "rb_vm_exec" } },
	{ 0x401080, N, NULL, 0, { "vm_exec_core" } },
	{ 0x401090, FDE, NULL, 0, { "ruby_xmalloc" } },
	{ 0x4010a0, N, NULL, 0, { "rb_ary_push" } },
	{ 0x4010b0, N, NULL, 0, { "rb_yield", "rb_ary_each" } },
	{ 0x4010c0, FDE, NULL, 0, { "server!0x10c0" } },
	{ 0x4010d0, N, NULL, 0, { "zmalloc" } },
	{ 0x4010e0, N, NULL, 0, { "zmalloc", "hashTypeSet" } },
	{ 0x4010f0, N, NULL, 0, { "pool::take(int)" } },
	{ 0x401100, N, NULL, 0, { "std::__new_allocator::allocate", "std::vector::push_back" } },
	{ 0x401110, N, NULL, 0, { "std::__new_allocator::allocate", "Index::add" } },
	{ 0x401120, N, NULL, 0, { "std::vector::resize" } },
	{ 0x401130, N, NULL, 0, { "alloc::raw_vec::finish_grow" } },
	{ 0x401140, N, NULL, 0, { "alloc::vec::Vec::push" } },
	{ 0x500030, FDE, NULL, 0, { "libstdc++!0x30" } },
	{ 0x500010, N, NULL, 0, { "operator new(unsigned long)" } },
	{ 0x500020, N, NULL, 0, { "std::string::reserve()" } },
};

static struct jprof_profile *named_profile(const char *stacks, bool library)
{
	char text[2048];
	snprintf(text, sizeof text, "heap_v2/1\n%s" MAPS, stacks);
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	if (library)
		p->objects[p->allocator_hint].allocator = true;
	return p;
}

static struct jprof_view *folded(const struct jprof_profile *p, enum jprof_fold level)
{
	return view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE, .view.fold = level });
}

/* Folds one stack and checks what is left of it. */
static int check_also(bool library, enum jprof_fold level, const char *also, const char *addresses, const char *left)
{
	char stack[512];
	struct jp_strbuf is = { 0 };
	snprintf(stack, sizeof stack, "@ %s" COUNTERS, addresses);
	struct jprof_profile *p = named_profile(stack, library);
	struct jprof_view *view = view_of(
	    p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE, .view.fold = level, .view.fold_also = also });
	assert_int_equal(view->stack_count, 1);
	assert_near(view->info.total, 100);
	struct jp_walk walk;
	assert_int_equal(jp_walk_init(&walk, view), 0);
	jp_walk_frames(&walk, 0);
	for (uint32_t i = 0; i < walk.depth; i++)
		jp_strbuf_printf(&is, "%s%s", is.len ? " < " : "", jp_frame_name(view, walk.frames[i]));
	jp_walk_release(&walk);
	int wrong = strcmp(is.text, left) ? complain("%s: \"%s\" should be \"%s\"", addresses, is.text, left) : 0;
	jp_strbuf_release(&is);
	jprof_view_free(view);
	jprof_profile_free(p);
	return wrong;
}

struct folding {
	enum jprof_fold level;
	const char *addresses, *left;
};

static void check_all(bool library, const struct folding *cases, size_t count)
{
	int wrong = 0;
	for (size_t i = 0; i < count; i++)
		wrong += check_also(library, cases[i].level, NULL, cases[i].addresses, cases[i].left);
	assert_int_equal(wrong, 0);
}

/* All of the library's frames at the inner end go, named or not; those further out stay. */
TEST(test_allocator_as_library)
{
	static const struct folding cases[] = {
		{ JPROF_FOLD_NONE, "0x7f000010 0x7f000021 0x7f000031 0x401011 0x401001", "row_new < main" },
		{ JPROF_FOLD_NONE, "0x7f000020 0x401011", "row_new" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x401011 0x7f000031 0x401001", "row_new < malloc < main" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x500011 0x500021 0x401001", "std::string::reserve < main" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x401021 0x401001", "free < main" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x401011 0x401021 0x401001", "row_new < free < main" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x401011 0x401031 0x401001", "row_new < malloc < main" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x7f000021", "libjemalloc.so.2!0x20" }, /* never the last one */
		{ JPROF_FOLD_NONE, "0x7f000010", "prof_backtrace_impl" },
	};
	check_all(true, cases, jp_count(cases));
}

/* Up to the first entry point, whatever its prefix. */
TEST(test_allocator_in_the_program)
{
	static const struct folding cases[] = {
		{ JPROF_FOLD_NONE, "0x400010 0x400021 0x400031 0x401011 0x401001", "row_new < main" },
		{ JPROF_FOLD_NONE, "0x400010 0x400041 0x400031 0x401011 0x401001", "row_new < main" },
		{ JPROF_FOLD_NONE, "0x400010 0x401031 0x401011 0x401001", "row_new < main" },
		{ JPROF_FOLD_NONE, "0x400010 0x400031 0x500011 0x500021 0x401001", "std::string::reserve < main" },
		{ JPROF_FOLD_NONE, "0x400010 0x400021 0x401011 0x401001",
		  "row_new < main" }, /* no entry point to be seen */
		{ JPROF_FOLD_NONE, "0x400010 0x400031 0x401021 0x401011 0x401001", "free < row_new < main" },
		{ JPROF_FOLD_NONE, "0x400010 0x400031 0x401011 0x401021 0x401001", "row_new < free < main" },
		{ JPROF_FOLD_NONE, "0x400010 0x400031", "_rjem_je_malloc" },
		{ JPROF_FOLD_NONE, "0x401010 0x401001", "row_new < main" },
	};
	check_all(false, cases, jp_count(cases));
}

TEST(test_wrappers_of_the_language)
{
	static const struct folding cases[] = {
		{ JPROF_FOLD_NONE, "0x7f000010 0x401051 0x401041 0x4010a1 0x401001",
		  "objspace_xmalloc0 < ruby_xmalloc < rb_ary_push < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401051 0x401041 0x4010a1 0x401001", "rb_ary_push < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010a1 0x401041 0x401001", "rb_ary_push < ruby_xmalloc < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401041", "ruby_xmalloc" },
		/* inlined into its caller: only that frame goes */
		{ JPROF_FOLD_NONE, "0x7f000010 0x401061 0x401001", "ruby_xmalloc < rb_str_new < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401061 0x401001", "rb_str_new < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401051 0x401061 0x401001", "rb_str_new < main" },
		/* a name that is none does not count */
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401091 0x401001", "ruby_xmalloc < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010a1 0x401081 0x401071 0x401001",
		  "rb_ary_push < vm_exec_core < rb_vm_exec < main" },
		{ JPROF_FOLD_VM, "0x7f000010 0x401041 0x4010a1 0x401081 0x401071 0x401001", "rb_ary_push < main" },
		{ JPROF_FOLD_VM, "0x7f000010 0x401081 0x401071", "vm_exec_core < rb_vm_exec" },
		{ JPROF_FOLD_VM, "0x7f000010 0x4010a1 0x4010b1 0x401001",
		  "rb_ary_push < rb_yield < rb_ary_each < main" },
	};
	check_all(true, cases, jp_count(cases));
}

/* A function without a name that a wrapper of its object file called belongs to the wrapper; what called the wrapper
 * does not, nor does one of another file. */
TEST(test_nameless_functions_of_wrappers)
{
	static const struct folding cases[] = {
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010c1 0x4010d1 0x4010a1 0x401001", "rb_ary_push < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010c1 0x4010e1 0x401001", "hashTypeSet < main" },
		{ JPROF_FOLD_NONE, "0x7f000010 0x4010c1 0x4010d1 0x401001", "server!0x10c0 < zmalloc < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010d1 0x4010c1 0x401001", "server!0x10c0 < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010c1 0x4010a1 0x401001", "server!0x10c0 < rb_ary_push < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x500031 0x4010d1 0x401001", "libstdc++!0x30 < zmalloc < main" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x4010c1 0x4010d1", "zmalloc" },
		{ JPROF_FOLD_STD, "0x7f000010 0x4010c1 0x401121 0x401001",
		  "server!0x10c0 < std::vector::resize < main" },
	};
	check_all(true, cases, jp_count(cases));
}

/* The user's own, by short or full name, at each level. */
TEST(test_also)
{
	static const char stack[] = "0x7f000010 0x4010d1 0x4010f1 0x4010a1 0x401001";
	int wrong = check_also(true, JPROF_FOLD_ALLOC, "^pool::take$", stack, "rb_ary_push < main");
	wrong += check_also(true, JPROF_FOLD_ALLOC, "take.int", stack, "rb_ary_push < main");
	wrong += check_also(true, JPROF_FOLD_ALLOC, "", stack, "pool::take < rb_ary_push < main");
	wrong += check_also(true, JPROF_FOLD_NONE, "^pool::take$|zmalloc", stack, "rb_ary_push < main");
	wrong += check_also(true, JPROF_FOLD_NONE, "^pool::take$", stack, "zmalloc < pool::take < rb_ary_push < main");
	wrong += check_also(true, JPROF_FOLD_ALLOC, "!0x10c0", "0x7f000010 0x4010c1 0x401001", "main");
	assert_int_equal(wrong, 0);
}

TEST(test_standard_libraries)
{
	static const struct folding cases[] = {
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401101 0x401121 0x401001",
		  "std::__new_allocator::allocate < std::vector::push_back < std::vector::resize < main" },
		{ JPROF_FOLD_STD, "0x7f000010 0x500011 0x401101 0x401121 0x401001", "main" },
		{ JPROF_FOLD_VM, "0x7f000010 0x500011 0x401101 0x401121 0x401001", "main" },
		{ JPROF_FOLD_STD, "0x7f000010 0x401111 0x401121 0x401001", "Index::add < std::vector::resize < main" },
		{ JPROF_FOLD_STD, "0x7f000010 0x401121", "std::vector::resize" },
		{ JPROF_FOLD_ALLOC, "0x7f000010 0x401131 0x401141 0x401001", "alloc::vec::Vec::push < main" },
		{ JPROF_FOLD_STD, "0x7f000010 0x401131 0x401141 0x401001", "main" },
	};
	check_all(true, cases, jp_count(cases));
}

/* Stacks that are equal once folded become one; no byte is lost. Unfolded they are three. */
TEST(test_stacks_meet)
{
	struct jprof_profile *p =
	    named_profile("@ 0x7f000010 0x7f000021 0x401011 0x401001" COUNTERS
	                  "@ 0x7f000010 0x7f000031 0x401011 0x401001" COUNTERS "@ 0x7f000010 0x401011" COUNTERS,
	                  true);
	struct jprof_view *view = folded(p, JPROF_FOLD_ALLOC), *raw = folded(p, JPROF_FOLD_RAW);
	assert_int_equal(view->stack_count, 2);
	assert_near(jp_stack_number(view, 0, JPROF_INUSE_SPACE), 200);
	assert_near(jp_stack_number(view, 1, JPROF_INUSE_SPACE), 100);
	assert_int_equal(raw->stack_count, 3);
	assert_int_equal(raw->stacks[0].depth, 4);
	jprof_view_free(view);
	jprof_view_free(raw);
	jprof_profile_free(p);
}

/* The part of a location that is left has the whole's outer frames, and is a place of its own. */
TEST(test_a_location_folded_in_part)
{
	struct jprof_profile *p = named_profile("@ 0x7f000010 0x401061 0x401061 0x401001" COUNTERS, true);
	struct jprof_view *view = folded(p, JPROF_FOLD_ALLOC);
	const struct jp_view_stack *stack = &view->stacks[0];
	uint32_t count, first = jp_place_frames(view, stack, 0, &count),
			whole = jp_place_frames(view, stack, 1, &(uint32_t){ 0 });
	assert_int_equal(stack->depth, 3);
	assert_int_equal(stack->skip, 1);
	assert_int_equal(stack->places[0], stack->places[1]);
	assert_int_equal(count, 1);
	assert_int_equal(first, whole + 1);
	jprof_view_free(view);
	jprof_profile_free(p);
}
