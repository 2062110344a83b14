/* Whose memory is it? Stacks are written as the first hexadecimal digits of addresses, innermost first. */
#include "base/strbuf.h"
#include "harness.h"
#include "view/owner.h"
#include "view/view.h"

static const char maps[] =
    "\nMAPPED_LIBRARIES:\n"
    "00100000-00101000 r-xp 00000000 08:01 11 /usr/bin/ruby3.1\n"
    "00200000-00201000 r-xp 00000000 08:01 12 /usr/lib/libruby-3.1.so.3.1.2\n"
    "00300000-00301000 r-xp 00000000 08:01 13 /usr/lib/libxml2.so.2.9.14\n"
    "00400000-00401000 r-xp 00000000 08:01 14 /var/lib/gems/3.1.0/extensions/x86_64-linux/3.1.0/"
    "nokogiri-1.13.10/nokogiri/nokogiri.so\n"
    "00500000-00501000 r-xp 00000000 08:01 15 /usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0/sqlite3/"
    "sqlite3_native.so\n"
    "00600000-00601000 r-xp 00000000 08:01 16 /usr/lib/libsqlite3.so.0.8.6\n"
    "00700000-00701000 r-xp 00000000 08:01 17 /usr/lib/libc.so.6\n"
    "00800000-00801000 r-xp 00000000 08:01 18 /usr/lib/libjprof-agent.so\n"
    "00900000-00901000 r-xp 00000000 00:00 0\n"
    "00a00000-00a01000 r-xp 00000000 08:01 19 /usr/sbin/knotd\n"
    "00b00000-00b01000 r-xp 00000000 08:01 20 /usr/lib/libzscanner.so.4.0.0\n"
    "00c00000-00c01000 r-xp 00000000 08:01 21 /usr/lib/postgresql/15/bin/postgres\n"
    "00d00000-00d01000 r-xp 00000000 08:01 22 /usr/lib/postgresql/15/lib/plpgsql.so\n"
    "00e00000-00e01000 r-xp 00000000 08:01 23 /usr/bin/node\n"
    "00f00000-00f01000 r-xp 00000000 08:01 24 /usr/lib/libuv.so.1.0.0\n"
    "01000000-01001000 r-xp 00000000 08:01 25 /usr/lib/jvm/lib/server/libjvm.so\n"
    "01100000-01101000 r-xp 00000000 00:00 0\n"
    "01200000-01201000 r-xp 00000000 08:01 26 /usr/sbin/noded\n"
    "01300000-01301000 r-xp 00000000 08:01 27 /usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0/google/protobuf_c.so\n";

static char *owner_of(const char *stack)
{
	static const char counters[] = "\n  t*: 1: 100 [0: 0]\n";
	struct jp_strbuf text = { 0 }, label = { 0 };
	uint32_t objects[16];
	size_t depth = 0;
	jp_strbuf_str(&text, "heap_v2/1\n@");
	for (const char *s = stack; *s; s += strspn(s, " ")) {
		size_t n = strcspn(s, " ");
		jp_strbuf_printf(&text, " 0x%.*s00010", (int)n, s);
		s += n;
	}
	jp_strbuf_str(&text, counters);
	jp_strbuf_str(&text, maps);
	struct jprof_profile *p = profile_of(text.text);
	name_locations(p, NULL, 0);
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.fold = JPROF_FOLD_RAW });
	for (; depth < view->stacks[0].depth; depth++)
		objects[depth] = view->code.locations[view->stacks[0].places[depth]].object;
	struct jp_roles roles;
	assert_int_equal(jp_roles_init(&roles, &view->code), 0);
	jp_owner_label(&roles, objects, depth, &label);
	jp_roles_release(&roles);
	jprof_view_free(view);
	jp_strbuf_release(&text);
	jprof_profile_free(p);
	return label.text;
}

TEST(test_owners)
{
	static const struct {
		const char *stack, *owner;
	} cases[] = {
		/* An interpreter allocates for its extensions */
		{ "002 001", "libruby-3.1" },
		{ "002 004 002 001", "nokogiri 1.13.10" },
		{ "002 003 004 002 001", "libxml2 via nokogiri 1.13.10" },
		{ "003 004 002 001", "libxml2 via nokogiri 1.13.10" },
		{ "007 002 004 002 001", "nokogiri 1.13.10" },
		{ "006 005 002 001", "libsqlite3 via sqlite3" },
		{ "002 005 002 001", "sqlite3" },
		{ "002 013 002 001", "google-protobuf" },
		/* a program does not, whatever calls it back */
		{ "00a 00b 00a", "knotd" },
		{ "007 00a 00b 00a", "knotd" },
		{ "00b 00a", "libzscanner" },
		{ "00c 00d 00c", "postgres" },
		{ "00d 00c", "plpgsql.so" },
		{ "012 00f 012", "noded" },
		/* an event loop calls back the interpreter */
		{ "00e 00f 00e", "node" },
		{ "00f 00e", "libuv" },
		/* the agent */
		{ "008 002 001", "libruby-3.1" },
		{ "002 008 001", "libruby-3.1" },
		{ "007 008 00a", "knotd" },
		/* code made at run time */
		{ "010 009 010", "libjvm" },
		{ "007 009 010", "JIT (Java)" },
		{ "007 011 010", "JIT (Java)" },
		{ "007", "libc" },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		char *owner = owner_of(cases[i].stack);
		if (strcmp(owner, cases[i].owner))
			wrong += complain("%s: \"%s\" should be \"%s\"", cases[i].stack, owner, cases[i].owner);
		free(owner);
	}
	assert_int_equal(wrong, 0);
}
