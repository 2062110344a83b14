#include "ruby/ruby_names.h"

#include <string.h>

#include "ruby/stacktree.h"

/* Of all Rubies from 3.1 to 4.0. */
enum { USER_SHIFT = 12, IMEMO_MENT = 6, IMEMO_MASK = 0xf, NOT_EMBEDDED = 1 << (USER_SHIFT + 1), Q_TRUE = 0x14 };

/* To Ruby 3.1 a short string's length is in its flags, and its bytes are where a long one's length is. */
struct old_string {
	struct basic basic;
	union {
		struct {
			long len;
			const char *bytes;
		} apart;
		char bytes[24];
	} as;
};

struct new_string {
	struct basic basic;
	long len;
	union {
		const char *apart;
		char bytes[1];
	} as;
};

struct method_entry {
	struct basic basic; /* class is the one that defines it */
	void *definition;
	uintptr_t id;
	VALUE owner;
};

enum { OLD_LEN_SHIFT = USER_SHIFT + 2, OLD_LEN_MASK = 0x1f };

static struct text_span (*read_string)(VALUE string);
static bool knows_methods;
static uintptr_t attached_id;

static struct text_span read_old(VALUE string)
{
	const struct old_string *s = (const struct old_string *)string;
	if (s->basic.flags & NOT_EMBEDDED)
		return (struct text_span){ s->as.apart.bytes, (size_t)s->as.apart.len };
	return (struct text_span){ s->as.bytes, s->basic.flags >> OLD_LEN_SHIFT & OLD_LEN_MASK };
}

static struct text_span read_new(VALUE string)
{
	const struct new_string *s = (const struct new_string *)string;
	return (struct text_span){ s->basic.flags & NOT_EMBEDDED ? s->as.apart : s->as.bytes, (size_t)s->len };
}

static bool reads(struct text_span (*read)(VALUE), VALUE string, const char *bytes, size_t len)
{
	struct text_span span = type_of(string) == T_STRING ? read(string) : (struct text_span){ NULL, 0 };
	return span.len == len && memcmp(span.bytes, bytes, len) == 0;
}

bool ruby_names_learn(void)
{
	static struct text_span (*const ways[])(VALUE) = { read_new, read_old };
	static const char text[] = "a text of the agent";
	static char much[4000];
	memset(much, 'a', sizeof much);
	volatile VALUE little = ruby.rb_str_new(text, sizeof text - 1), large = ruby.rb_str_new(much, sizeof much);
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (reads(ways[i], little, text, sizeof text - 1) && reads(ways[i], large, much, sizeof much))
			read_string = ways[i];
	if (ruby.rb_attr_get && ruby.rb_intern && !ruby.rb_class_attached_object)
		attached_id = ruby.rb_intern("__attached__");
	return read_string != NULL;
}

static const struct method_entry *entry_of(VALUE frame)
{
	const struct method_entry *entry = (const struct method_entry *)frame;
	if (type_of(frame) != T_IMEMO || (entry->basic.flags >> USER_SHIFT & IMEMO_MASK) != IMEMO_MENT)
		return NULL;
	return entry;
}

bool ruby_names_by_method(VALUE frame)
{
	return entry_of(frame) != NULL;
}

void ruby_names_learn_method(VALUE frame, VALUE class, uintptr_t id)
{
	const struct method_entry *entry = entry_of(frame);
	knows_methods = entry && entry->basic.class == class && entry->id == id && entry->owner == class &&
	                ruby.rb_mod_name && ruby.rb_profile_frame_singleton_method_p;
}

struct text_span ruby_names_text(VALUE string)
{
	return type_of(string) == T_STRING ? read_string(string) : (struct text_span){ "", 0 };
}

/* What a singleton class is of. */
static VALUE attached(VALUE class)
{
	if (ruby.rb_class_attached_object)
		return ruby.rb_class_attached_object(class);
	return attached_id ? ruby.rb_attr_get(class, attached_id) : 0;
}

/* "#<Class:0x...>" names a place, where there may be another class by now. rb_mod_name() gives the name that a class
 * has, and makes none. */
static void read_class(VALUE frame, struct ruby_names *names)
{
	const struct method_entry *entry = knows_methods ? entry_of(frame) : NULL;
	VALUE class = entry ? entry->basic.class : 0;
	if (type_of(class) == T_ICLASS)
		class = ((const struct basic *)class)->class;
	char kind = STACKTREE_INSTANCE;
	if (type_of(class) == T_CLASS && ruby.rb_profile_frame_singleton_method_p(frame) == Q_TRUE) {
		kind = STACKTREE_CLASS;
		class = attached(class);
	}
	if (type_of(class) != T_CLASS && type_of(class) != T_MODULE)
		return;
	struct text_span name = ruby_names_text(ruby.rb_mod_name(class));
	if (name.len > 0 && *name.bytes != '#') {
		names->class = name;
		names->kind = kind;
	}
}

void ruby_names_of(VALUE frame, struct ruby_names *names)
{
	*names = (struct ruby_names){ .kind = STACKTREE_PLAIN };
	names->path = ruby_names_text(ruby.rb_profile_frame_path(frame));
	names->method = ruby_names_text(ruby.rb_profile_frame_method_name(frame));
	if (names->method.len)
		read_class(frame, names);
	else
		names->method = ruby_names_text(ruby.rb_profile_frame_label(frame));
}
