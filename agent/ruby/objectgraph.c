#include "ruby/objectgraph.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ruby/graphnames.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_names.h"
#include "ruby/ruby_objects.h"

/* Of Ruby 3.1 to 3.4: it has a finalizer. */
enum { HAS_FINALIZER = 1 << 7 };

/* Bits of a record's first byte beside the type. */
enum { HAS_LENGTH = 0x80, HAS_NAME = 0x40, IS_SINGLETON = 0x20 };

enum { PAGES = 1 << 18, GRAPH_BLOCK = 64 << 10, LONGEST_NAME = 200, USHIFT = 12 };

/* Kinds of internal objects, and of methods: Ruby 3.1 to 3.4. */
enum { IMEMO_BITS = 0xf, IMEMO_ENV = 0, IMEMO_METHOD = 6, METHOD_BITS = 0xf, METHOD_OF_BLOCK = 4 };

/* rb_method_entry_t; the definition begins with its kind. */
struct method_entry {
	VALUE flags, defined_class;
	const unsigned *definition;
	uintptr_t called;
};

struct heap_page {
	uintptr_t begin, end;
	size_t stride;
};

static struct heap_page *graph_pages;
static size_t graph_page_count;
static bool too_many_pages;
static size_t compactions_before; /* the graph */

static unsigned char graph_block[GRAPH_BLOCK];
static size_t graph_used;
static int graph_out;
static bool graph_broken;
static unsigned long long graph_objects; /* objects */

static size_t finalized_objects;
static bool lists_finalizers; /* this Ruby does so among its roots */

/* ---- in the process ---- */

bool objectgraph_known(void)
{
	return ruby_objects_known() && ruby.rb_objspace_reachable_objects_from &&
	       ruby.rb_objspace_reachable_objects_from_root && ruby.rb_objspace_data_type_name &&
	       ruby.rb_hash_size_num && ruby.rb_gc_disable && ruby.rb_protect && ruby.rb_ary_entry && ruby.rb_gc_stat &&
	       ruby.rb_id2sym && ruby.rb_intern;
}

static int list_page(void *begin, void *end, size_t stride, void *unused)
{
	(void)unused;
	too_many_pages |= graph_page_count == PAGES;
	if (!too_many_pages && stride >= sizeof(struct basic))
		graph_pages[graph_page_count++] = (struct heap_page){ (uintptr_t)begin, (uintptr_t)end, stride };
	return too_many_pages;
}

/* Who asks for ractors may switch threads: that comes before the list. */
bool objectgraph_list(void)
{
	graph_page_count = 0;
	too_many_pages = false;
	if (!objectgraph_known() || !ruby_names_learn() || !ruby_objects_are_alone())
		return false;
	graph_pages = mmap(NULL, PAGES * sizeof *graph_pages, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (graph_pages == MAP_FAILED) {
		graph_pages = NULL;
		return false;
	}
	graphnames_list();
	compactions_before = ruby.rb_gc_stat(ruby.rb_id2sym(ruby.rb_intern("compact_count")));
	ruby.rb_objspace_each_objects(list_page, NULL);
	return !too_many_pages;
}

void objectgraph_forget(void)
{
	if (graph_pages)
		munmap(graph_pages, PAGES * sizeof *graph_pages);
	graph_pages = NULL;
	graphnames_forget();
}

/* ---- in the child ---- */

static void put_out(void)
{
	size_t at = 0;
	while (at < graph_used && !graph_broken) {
		ssize_t n = write(graph_out, graph_block + at, graph_used - at);
		if (n > 0)
			at += (size_t)n;
		else if (errno != EINTR)
			graph_broken = true;
	}
	graph_used = 0;
}

static void put_byte(unsigned byte)
{
	if (graph_used == sizeof graph_block)
		put_out();
	graph_block[graph_used++] = (unsigned char)byte;
}

/* Seven bits a byte, the lowest first; all but the last byte have the highest bit. */
static void put_sevens(uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_byte((value & 0x7f) | 0x80);
	put_byte((unsigned)value);
}

/* How far it is from one object to the other, in words; 0 only for the same. */
static uint64_t distance_between(VALUE from, VALUE to)
{
	int64_t words = (int64_t)(to - from) / (int64_t)sizeof(VALUE);
	return (uint64_t)words << 1 ^ (uint64_t)(words >> 63);
}

static void put_text(struct text_span text)
{
	size_t len = text.len < LONGEST_NAME ? text.len : LONGEST_NAME;
	put_sevens(len);
	for (size_t i = 0; i < len; i++)
		put_byte((unsigned char)text.bytes[i]);
}

static struct text_span text_of(const char *s)
{
	return (struct text_span){ s, s ? strlen(s) : 0 };
}

static VALUE written_object, written_class;

static void put_edge(VALUE to, void *unused)
{
	(void)unused;
	if (!is_heap_object(to) || to == written_object || to == written_class)
		return;
	VALUE name = graphnames_find(to);
	bool is_new = false;
	unsigned number = name ? graphnames_number(name, &is_new) : 0;
	put_sevens(distance_between(written_object, to) << 1 | (number != 0));
	if (number)
		put_sevens(number);
	if (is_new)
		put_text(ruby_names_text(name));
}

/* An Array's length is in its flags where its elements are in its slot: in 3.1 two bits of it, then seven. */
static uint64_t array_length(VALUE object, VALUE flags)
{
	enum { EMBEDDED = 1 << (USHIFT + 1), LEN_SHIFT = USHIFT + 3, OLD_LEN = 3, NEW_LEN = 0x7f };
	bool old = strncmp(ruby.ruby_version, "3.1.", 4) == 0;
	if (flags & EMBEDDED)
		return flags >> LEN_SHIFT & (old ? OLD_LEN : NEW_LEN);
	return ((const uint64_t *)object)[2];
}

static uint64_t length_of(VALUE object, unsigned type, VALUE flags)
{
	switch (type) {
	case T_STRING: return ruby_names_text(object).len;
	case T_ARRAY: return array_length(object, flags);
	case T_HASH: return ruby.rb_hash_size_num(object);
	default: return 0;
	}
}

/* "method NAME" of one that define_method made, whose block keeps what it refers to; others have none. */
static struct text_span name_of_method(VALUE object)
{
	static char text[LONGEST_NAME] = "method ";
	enum { BEFORE = sizeof "method " - 1 };
	const struct method_entry *entry = (const struct method_entry *)object;
	if (!ruby.rb_id2str || !entry->definition || (*entry->definition & METHOD_BITS) != METHOD_OF_BLOCK)
		return text_of("");
	struct text_span name = ruby_names_text(ruby.rb_id2str(entry->called));
	size_t len = name.len < sizeof text - BEFORE ? name.len : sizeof text - BEFORE;
	for (size_t i = 0; i < len; i++)
		text[BEFORE + i] = name.bytes[i];
	return (struct text_span){ text, len ? BEFORE + len : 0 };
}

static struct text_span name_of_internal(VALUE object, VALUE flags)
{
	switch (flags >> USHIFT & IMEMO_BITS) {
	case IMEMO_ENV: return text_of("env");
	case IMEMO_METHOD: return name_of_method(object);
	default: return text_of("");
	}
}

/* A singleton class has that of the class above; a class without a name of its own has none. */
static struct text_span name_of(VALUE object, unsigned type, VALUE flags, VALUE real, VALUE class)
{
	switch (type) {
	case T_CLASS:
	case T_MODULE: return class ? ruby_names_text(ruby.rb_mod_name(real)) : text_of("");
	case T_DATA: return text_of(ruby.rb_objspace_data_type_name(object));
	case T_IMEMO: return name_of_internal(object, flags);
	default: return (struct text_span){ "", 0 };
	}
}

/* Of T_DATA an extension would be asked; of what is internal, or a class that is not yet finished, its slot alone is
 * known. */
static size_t object_size(VALUE object, unsigned type, VALUE class, size_t slot)
{
	bool is_class = type == T_CLASS || type == T_MODULE || type == T_ICLASS;
	if (type == T_DATA || type == T_IMEMO || (is_class && !class))
		return slot;
	return ruby.rb_obj_memsize_of(object);
}

static void put_slot(VALUE object, size_t slot)
{
	const struct basic *s = (const struct basic *)object;
	VALUE flags = s->flags, class = s->class;
	unsigned type = flags & T_MASK;
	if (type == T_NONE || type == T_NODE || type >= T_ZOMBIE) {
		put_byte(0);
		return;
	}
	VALUE real = type == T_CLASS && class ? ruby.rb_class_real(object) : object;
	struct text_span name = name_of(object, type, flags, real, class);
	uint64_t length = length_of(object, type, flags);
	size_t size = object_size(object, type, class, slot);
	put_byte(type | (length ? HAS_LENGTH : 0) | (name.len ? HAS_NAME : 0) | (real != object ? IS_SINGLETON : 0));
	written_object = object;
	written_class = type == T_IMEMO || !is_heap_object(class) ? 0 : class;
	put_sevens(written_class ? distance_between(object, written_class) : 0);
	put_sevens(size == slot ? 0 : size);
	if (length)
		put_sevens(length);
	if (name.len)
		put_text(name);
	graphnames_look_at(object, slot);
	ruby.rb_objspace_reachable_objects_from(object, put_edge, NULL);
	put_byte(0);
	graph_objects++;
	finalized_objects += (flags & HAS_FINALIZER) != 0;
}

static void put_heap_page(const struct heap_page *page)
{
	size_t count = (page->end - page->begin) / page->stride;
	put_byte('P');
	put_sevens(page->begin / sizeof(VALUE));
	put_sevens(page->stride);
	put_sevens(count);
	for (size_t i = 0; i < count; i++)
		put_slot(page->begin + i * page->stride, page->stride);
}

static const char finalizer_root[] = "finalizers";

static void put_root(const char *kind, VALUE object, void *unused)
{
	(void)unused;
	if (!is_heap_object(object))
		return;
	lists_finalizers |= strcmp(kind, finalizer_root) == 0;
	put_byte('R');
	put_text(text_of(kind));
	put_sevens(object / sizeof(VALUE));
	put_text(ruby_names_text(strcmp(kind, "global_tbl") == 0 ? graphnames_find(object) : 0));
}

/* An Array without a class, of Procs and Methods alone, as Ruby has for the finalizers of an object. */
static bool may_be_finalizers(VALUE object)
{
	enum { LONGEST = 64 };
	const struct basic *s = (const struct basic *)object;
	if ((s->flags & T_MASK) != T_ARRAY || s->class)
		return false;
	uint64_t length = array_length(object, s->flags);
	for (uint64_t i = 0; i < length && i < LONGEST; i++) {
		VALUE called = ruby.rb_ary_entry(object, (long)i);
		if (type_of(called) != T_DATA)
			return false;
		const char *type = ruby.rb_objspace_data_type_name(called);
		if (!type || (strcmp(type, "proc") != 0 && strcmp(type, "method") != 0))
			return false;
	}
	return length > 0 && length <= LONGEST;
}

/* How many there are; `put`: writes them as roots. */
static size_t look_for_finalizers(bool put)
{
	size_t found = 0;
	for (size_t i = 0; i < graph_page_count; i++) {
		const struct heap_page *page = &graph_pages[i];
		for (VALUE at = page->begin; at + page->stride <= page->end; at += page->stride)
			if (may_be_finalizers(at)) {
				found++;
				if (put)
					put_root(finalizer_root, at, NULL);
			}
	}
	return found;
}

/* Ruby 3.4 does not list among its roots what finalizers keep. What looks like theirs is, where there is not more of it
 * than of objects that have finalizers. */
static void put_finalizers(void)
{
	if (finalized_objects && !lists_finalizers && look_for_finalizers(false) <= finalized_objects)
		look_for_finalizers(true);
}

void objectgraph_write(int fd)
{
	char head[120];
	graph_out = fd;
	ruby.rb_gc_disable(); /* nothing is left to sweep: each_objects has ended that */
	int len = snprintf(head, sizeof head, "jprof-graph 2\nruby %.20s\ncompactions %zu\n\n", ruby.ruby_version,
	                   compactions_before);
	for (int i = 0; i < len; i++)
		put_byte((unsigned char)head[i]);
	for (size_t i = 0; i < graph_page_count && !graph_broken; i++)
		put_heap_page(&graph_pages[i]);
	graphnames_look_at_globals();
	ruby.rb_objspace_reachable_objects_from_root(put_root, NULL);
	put_finalizers();
	put_byte('E');
	put_sevens(graph_objects);
	put_text((struct text_span){ "end\n", 4 });
	put_out();
}
