#include "ruby/ruby_objects.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ruby/ruby_api.h"
#include "ruby/ruby_interpreter.h"
#include "ruby/ruby_names.h"
#include "ruby/ruby_vm.h"
#include "self.h"
#include "textbuf.h"

enum { LONGEST_MS = 900, CENSUS_BUCKETS = 1 << 16, CENSUS_MOST = CENSUS_BUCKETS / 4 * 3 };

/* Of all Rubies from 3.1 to 4.0: what the five lowest bits of an object's flags say. What is no object has no name
 * here. `sized`: Ruby's own code alone counts its memory; extensions' code would be called for T_DATA, and a file's
 * buffers, a class's tables and what is internal change hands too often. */
static const struct {
	char name[16];
	bool sized, classed;
} kinds[T_MASK + 1] = {
	[0x01] = { "Object", true, true },      [0x02] = { "Class", false, false },
	[0x03] = { "Module", false, false },    [0x04] = { "Float", true, false },
	[0x05] = { "String", true, false },     [0x06] = { "Regexp", false, false },
	[0x07] = { "Array", true, false },      [0x08] = { "Hash", true, false },
	[0x09] = { "Struct", true, true },      [0x0a] = { "Integer", true, false },
	[0x0b] = { "File", false, false },      [0x0c] = { "Data", false, true },
	[0x0d] = { "MatchData", false, false }, [0x0e] = { "Complex", true, false },
	[0x0f] = { "Rational", true, false },   [0x14] = { "Symbol", true, false },
	[0x1a] = { "internal", false, false },  [0x1c] = { "included module", false, false },
};

struct tally {
	VALUE class;
	unsigned long long count, slots, memory;
};

struct census {
	uint64_t end; /* by self_clock() */
	bool complete;
	struct tally kinds[T_MASK + 1];
	struct tally *classes; /* by hash of the class; memory of its own */
	unsigned class_count;
};

static struct tally *tally_of_class(struct census *c, VALUE class)
{
	size_t i = (class >> 3) * 0x9e3779b97f4a7c15u >> 48;
	while (c->classes[i].class && c->classes[i].class != class)
		i = (i + 1) % CENSUS_BUCKETS;
	if (!c->classes[i].class) {
		if (c->class_count == CENSUS_MOST)
			return NULL;
		c->class_count++;
		c->classes[i].class = class;
	}
	return &c->classes[i];
}

static void add_to_tally(struct tally *t, const struct tally *more)
{
	t->count += more->count;
	t->slots += more->slots;
	t->memory += more->memory;
}

static void count_slot(struct census *c, VALUE object, size_t size)
{
	const struct basic *s = (const struct basic *)object;
	unsigned kind = s->flags & T_MASK;
	if (!kinds[kind].name[0])
		return;
	struct tally one = { .count = 1, .slots = size, .memory = size }, *class = NULL;
	if (kinds[kind].sized && s->class)
		one.memory = ruby.rb_obj_memsize_of(object);
	add_to_tally(&c->kinds[kind], &one);
	if (kinds[kind].classed && s->class)
		class = tally_of_class(c, s->class);
	if (class)
		add_to_tally(class, &one);
}

/* Called by Ruby for each page of its heap. Allocates nothing, of Ruby's or malloc's. */
static int count_page(void *begin, void *end, size_t stride, void *census)
{
	struct census *c = census;
	for (uintptr_t at = (uintptr_t)begin; at < (uintptr_t)end; at += stride)
		count_slot(c, at, stride);
	c->complete = self_clock() < c->end;
	return !c->complete;
}

/* What singleton classes and included modules have is their class's. */
static void join_singletons(struct census *c)
{
	for (size_t i = 0; i < CENSUS_BUCKETS; i++) {
		struct tally *from = &c->classes[i];
		VALUE real = from->class ? ruby.rb_class_real(from->class) : 0;
		struct tally *to = real && real != from->class ? tally_of_class(c, real) : NULL;
		if (!to)
			continue;
		add_to_tally(to, from);
		from->count = from->slots = from->memory = 0;
	}
}

static void note_row(struct ruby_objects_row *row, const char *name, size_t len, const struct tally *t)
{
	snprintf(row->name, sizeof row->name, "%.*s", (int)(len < OBJECTS_NAME ? len : OBJECTS_NAME - 1), name);
	row->count = t->count;
	row->slots = t->slots;
	row->memory = t->memory;
}

/* Takes the one with most slots out; NULL: there is none left. */
static struct tally *take_largest(struct tally *tallies, size_t count, struct tally *largest)
{
	struct tally *best = NULL;
	for (size_t i = 0; i < count; i++)
		if (tallies[i].slots && (!best || tallies[i].slots > best->slots))
			best = &tallies[i];
	if (best) {
		*largest = *best;
		best->slots = 0;
	}
	return best;
}

static void name_classes(struct census *c, struct ruby_objects *objects)
{
	static const char nameless[] = "a class without a name";
	struct tally t;
	while (objects->class_count < OBJECTS_CLASSES && take_largest(c->classes, CENSUS_BUCKETS, &t)) {
		struct text_span name = ruby_names_text(ruby.rb_mod_name(t.class));
		bool named = name.len && *name.bytes != '#';
		note_row(&objects->classes[objects->class_count++], named ? name.bytes : nameless,
		         named ? name.len : sizeof nameless - 1, &t);
	}
}

static void name_kinds(struct census *c, struct ruby_objects *objects)
{
	struct tally *kind, t;
	while (objects->type_count < OBJECTS_TYPES && (kind = take_largest(c->kinds, T_MASK + 1, &t))) {
		const char *name = kinds[kind - c->kinds].name;
		note_row(&objects->types[objects->type_count++], name, strlen(name), &t);
	}
}

/* ruby_vm_is_alone() says nothing of ractors from Ruby 3.3 on. Others would change the heap during the walk. To be
 * asked last: it may switch threads. */
bool ruby_objects_are_alone(void)
{
	enum { ONE = 1 << 1 | 1 }; /* 1, as Ruby has it */
	if (!ruby.rb_postponed_job_trigger)
		return ruby_vm_is_alone();
	return ruby_vm_is_alone() && ruby.rb_path2class && ruby.rb_funcall && ruby.rb_intern &&
	       ruby.rb_funcall(ruby.rb_path2class("Ractor"), ruby.rb_intern("count"), 0) == ONE;
}

bool ruby_objects_known(void)
{
	return ruby_api_present() && ruby.ruby_version && ruby_interpreter_knows(ruby.ruby_version) &&
	       ruby.rb_objspace_each_objects && ruby.rb_obj_memsize_of && ruby.rb_class_real && ruby.rb_mod_name &&
	       ruby.rb_str_new;
}

void ruby_objects_count(struct ruby_objects *objects)
{
	uint64_t began = self_clock();
	struct census c = { .end = began + LONGEST_MS, .complete = true };
	size_t size = CENSUS_BUCKETS * sizeof *c.classes;
	if (!ruby_objects_known() || !ruby_names_learn() || !ruby_objects_are_alone())
		return;
	c.classes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c.classes == MAP_FAILED)
		return;
	ruby.rb_objspace_each_objects(count_page, &c);
	objects->complete = c.complete;
	join_singletons(&c);
	name_kinds(&c, objects);
	name_classes(&c, objects);
	munmap(c.classes, size);
	objects->milliseconds = (unsigned)(self_clock() - began);
	objects->counted = true;
}

static void rows_json(const char *key, const struct ruby_objects_row *rows, int count, struct textbuf *text)
{
	textbuf_printf(text, ",\"%s\":[", key);
	for (int i = 0; i < count; i++) {
		textbuf_str(text, i ? ",{\"name\":" : "{\"name\":");
		textbuf_json(text, rows[i].name);
		textbuf_printf(text, ",\"count\":%llu,\"slots\":%llu,\"memory\":%llu}", rows[i].count, rows[i].slots,
		               rows[i].memory);
	}
	textbuf_str(text, "]");
}

void ruby_objects_json(const struct ruby_objects *o, struct textbuf *text)
{
	if (!o->counted) {
		textbuf_str(text, "null");
		return;
	}
	textbuf_printf(text, "{\"complete\":%s,\"milliseconds\":%u", o->complete ? "true" : "false", o->milliseconds);
	rows_json("types", o->types, o->type_count, text);
	rows_json("classes", o->classes, o->class_count, text);
	textbuf_str(text, "}");
}
