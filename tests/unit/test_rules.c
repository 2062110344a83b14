/* What memory of a Ruby is for: a stack for each rule that is built in, written as functions of libruby, innermost
 * first, or as a library that Ruby called. Names are those of Ruby 3.1 to 3.4, which the rules of
 * docs/internals/parts.md mean. */
#include "base/strbuf.h"
#include "harness.h"
#include "view/rules.h"
#include "view/view.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"00200000-00300000 r-xp 00000000 08:01 12 /usr/lib/libruby-3.1.so.3.1.2\n"                                     \
	"00400000-00500000 r-xp 00000000 08:01 13 /usr/%s\n"

enum { functions_most = 6 };

/* The group of one stack: functions of libruby, or with a library its function, called by rb_vm_exec. */
static char *group_of(const char *library, const char *const *functions, const char *rules)
{
	struct known names[functions_most + 1] = { 0 };
	struct jp_strbuf text = { 0 };
	size_t count = 0;
	jp_strbuf_str(&text, "heap_v2/1\n@");
	if (library)
		jp_strbuf_str(&text, " 0x400010");
	for (; functions[count]; count++) {
		uint64_t address = 0x200011 + 0x100 * count;
		jp_strbuf_printf(&text, " 0x%llx", (unsigned long long)address);
		names[count] = (struct known){ .address = address - (count || library ? 1 : 0),
			                       .source = JPROF_SOURCE_SYMTAB,
			                       .names = { functions[count] } };
	}
	jp_strbuf_str(&text, "\n  t*: 1: 100 [0: 0]\n");
	jp_strbuf_printf(&text, MAPS, library ? library : "lib/none.so");
	struct jprof_profile *p = profile_of(text.text);
	name_locations(p, names, count);
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.fold = JPROF_FOLD_RAW,
	                                                            .view.granularity = JPROF_BY_GROUP,
	                                                            .view.rules = rules,
	                                                            .view.rules_len = rules ? strlen(rules) : 0 });
	char *group = strdup(view->rows[0].name);
	jprof_view_free(view);
	jprof_profile_free(p);
	jp_strbuf_release(&text);
	return group;
}

#define DATA "Ruby data: "
#define CODE "Ruby's own code: "
#define STACK(...)                                                                                                     \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, "rb_vm_exec", NULL                                                                        \
	}

static const struct {
	const char *const *functions;
	const char *group;
} stacks[] = {
	{ STACK("rb_ary_transient_heap_evacuate", "transient_heap_evacuate"), DATA "survived a GC" },
	{ STACK("iseq_set_sequence", "rb_iseq_compile_node"), CODE "compiled code" },
	{ STACK("0x1", "rb_iseq_compile_node"), CODE "compiled code" },
	{ STACK("ibf_load_iseq"), CODE "compiled code" },
	{ STACK("rb_add_method.constprop.0"), CODE "methods" },
	{ STACK("vm_cc_new"), CODE "methods" },
	{ STACK("0x1", "rb_st_update", "0x2", "Module#define_method"), CODE "methods" },
	{ STACK("0x1", "Thread#initialize"), DATA "threads" },
	{ STACK("0x1", "rb_st_update", "0x2", "String#to_sym"), CODE "symbols" },
	{ STACK("rb_class_boot", "rb_define_class_id"), CODE "classes" },
	{ STACK("st_insert", "rb_const_set"), CODE "classes" },
	{ STACK("fstr_update_callback", "st_update"), CODE "hash keys" },
	{ STACK("0x1", "rb_st_update", "register_fstring", "rb_fstring", "rb_hash_aset"), CODE "hash keys" },
	{ STACK("rb_sym_intern_ascii"), CODE "symbols" },
	{ STACK("thread_create_core"), DATA "threads" },
	{ STACK("heap_page_allocate", "heap_assign_page"), CODE "GC bookkeeping" },
	{ STACK("0x1", "rb_st_foreach", "rb_ec_wb_protected_newobj_of"), CODE "GC bookkeeping" },
	{ STACK("yjit::codegen::gen_single_block"), CODE "JIT" },
	{ STACK("onig_compile_ruby", "rb_reg_new_str"), DATA "Regexp" },
	{ STACK("vm_make_env_each"), DATA "closures" },
	{ STACK("str_new0", "rb_str_new"), DATA "String" },
	{ STACK("rb_str_times"), DATA "String" },
	{ STACK("0x1", "rb_ary_join", "Array#join"), DATA "String" }, /* 0x1 is of string.c, without names */
	{ STACK("0x1", "rb_ary_push", "Array#<<"), DATA "Array" },
	{ STACK("ary_resize_capa", "rb_ary_push"), DATA "Array" },
	{ STACK("generic_ivar_update"), DATA "ivars" },
	{ STACK("rebuild_table", "st_add_direct", "rb_hash_aset"), DATA "Hash" },
	{ STACK("bignew_1"), DATA "Integer" },
	{ STACK("io_alloc"), DATA "IO buffers" },
	{ STACK("marshal_load"), DATA "Marshal" },
	{ STACK("rb_data_typed_object_zalloc"), DATA "built-in objects" },
	{ STACK("dln_load"), CODE "loading" },
	{ STACK("0x1", "0x2", "the garbage collector"), CODE "GC bookkeeping" },
	/* Outside of the interpreter's machinery nobody allocated. */
	{ STACK("0x1", "vm_exec_core", "rb_str_times"), "Ruby, not told apart: libruby-3.1" },
	{ STACK("rb_ensure", "rb_hash_foreach"), "Ruby, not told apart: libruby-3.1" },
};

/* Where Debian has the extensions of gems, and those that come with Ruby. */
#define GEM "lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0/"
#define ARCH "lib/x86_64-linux-gnu/ruby/3.1.0/"

static const struct {
	const char *library, *group, *rule;
} libraries[] = {
	{ GEM "nokogiri/nokogiri.so", "native gems: nokogiri", "Nokogiri" },
	{ ARCH "openssl.so", "Ruby's own extensions: openssl.so", "OpenSSL" },
	{ GEM "json/ext/parser.so", "native gems: json", "serialisation" },
	{ ARCH "json/ext/parser.so", "Ruby's own extensions: parser.so", "serialisation" },
	{ "local/lib/ruby/3.3.0/x86_64-linux/json/ext/parser.so", "Ruby's own extensions: parser.so", "serialisation" },
	{ "local/bundle/gems/json-2.7.1/lib/json/ext/parser.so", "native gems: json 2.7.1", "serialisation" },
	{ GEM "grpc/grpc_c.so", "native gems: grpc", "gRPC" },
	{ GEM "pg_ext.so", "native gems: pg_ext", "database" },
	{ GEM "RMagick2.so", "native gems: RMagick2", "images" },
	{ ARCH "zlib.so", "Ruby's own extensions: zlib.so", "compression" },
	{ "local/lib/ruby/3.3.0/x86_64-linux/fiddle.so", "Ruby's own extensions: fiddle.so", "FFI" },
	{ "local/lib/ruby/gems/3.3.0/extensions/x86_64-linux/3.3.0/zlib-3.1.1/zlib.so", "native gems: zlib 3.1.1",
	  "compression" },
	{ "local/lib/ruby/site_ruby/3.3.0/x86_64-linux/ffi_c.so", "native gems: ffi_c.so", "FFI" },
	{ GEM "puma/puma_http11.so", "native gems: puma", "server" },
};

TEST(test_each_rule)
{
	struct jp_rules rules;
	assert_int_equal(jp_rules_read(&rules, (struct jp_span){ "", 0 }, true, NULL), 0);
	assert_int_equal(rules.given, 0);
	bool *tried = calloc(rules.count, sizeof *tried);
	for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
		char *group = group_of(NULL, stacks[i].functions, NULL);
		assert_string_equal(group, stacks[i].group);
		for (size_t r = 0; r < rules.count; r++)
			tried[r] =
			    tried[r] || (strstr(group, ": ") && !strcmp(strstr(group, ": ") + 2, rules.rules[r].group));
		free(group);
	}
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
		const char *base = strrchr(libraries[i].library, '/');
		uint32_t r = jp_rule_find(&rules, JP_RULE_LIBRARY, base ? base + 1 : libraries[i].library);
		char *group = group_of(libraries[i].library, STACK("rb_str_new"), NULL);
		assert_string_equal(group, libraries[i].group);
		assert_true(r < rules.count);
		assert_string_equal(rules.rules[r].group, libraries[i].rule);
		tried[r] = true;
		free(group);
	}
	for (size_t r = 0; r < rules.count; r++) {
		if (!tried[r] || !rules.rules[r].what || !rules.rules[r].remedy)
			print_error("%s: no test stack, or nothing is said of it\n", rules.rules[r].group);
		assert_true(tried[r] && rules.rules[r].what && rules.rules[r].remedy);
	}
	free(tried);
	jp_rules_release(&rules);
}

/* The caller's rules go first: libraries, functions; and a line that is none is an error with its number. */
TEST(test_given_rules)
{
	static const char given[] =
	    "# ours\n\n[prices] our code\nfn rb_str_times load_*\nlib zlib.so\nwhat price lists\n";
	char *group = group_of(NULL, STACK("str_new0", "rb_str_times"), given);
	assert_string_equal(group, DATA "String"); /* the innermost function decides */
	free(group);
	group = group_of(NULL, STACK("rb_str_times"), given);
	assert_string_equal(group, "our code: prices");
	free(group);
	group = group_of(ARCH "zlib.so", STACK("rb_str_new"), given);
	assert_string_equal(group, "our code: prices");
	free(group);

	static const struct {
		const char *text;
		unsigned line;
	} wrong[] = { { "fn x", 1 },         { "\n[a]\n", 2 },           { "[] b", 1 }, { "[a b", 1 },
		      { "[a] b\nfoo x", 2 }, { "[a] b\nfn x\nwhat", 3 }, { "[ ] b", 1 } };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct jp_rules rules;
		struct jprof_error err;
		struct jp_span text = { wrong[i].text, strlen(wrong[i].text) };
		assert_int_equal(jp_rules_read(&rules, text, true, &err), JPROF_E_FORMAT);
		assert_int_equal(err.line, wrong[i].line);
		jp_rules_release(&rules);
	}
	/* A NUL would end a text early. */
	static const char cut[] = "[a]\0 b\n";
	struct jp_rules rules;
	struct jprof_error err;
	assert_int_equal(jp_rules_read(&rules, (struct jp_span){ cut, sizeof cut - 1 }, true, &err), JPROF_E_FORMAT);
	jp_rules_release(&rules);
}

/* What compilers append is no part of a name; a name of C++ may have a thousand bytes. */
TEST(test_names_of_each_length)
{
	static const char text[] = "[a] b\nfn cut long_*\n";
	char name[1001] = "long_";
	struct jp_rules rules;
	memset(name + 5, 'x', sizeof name - 6);
	assert_int_equal(jp_rules_read(&rules, (struct jp_span){ text, sizeof text - 1 }, false, NULL), 0);
	assert_int_equal(jp_rule_find(&rules, JP_RULE_FUNCTION, "cut.isra.0"), 0);
	assert_int_equal(jp_rule_find(&rules, JP_RULE_FUNCTION, "cuts"), JP_NO_RULE);
	assert_int_equal(jp_rule_find(&rules, JP_RULE_FUNCTION, name), 0);
	name[900] = '.';
	assert_int_equal(jp_rule_find(&rules, JP_RULE_FUNCTION, name), 0);
	jp_rules_release(&rules);
}
