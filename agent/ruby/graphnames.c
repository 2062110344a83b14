#include "ruby/graphnames.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "ruby/ruby_names.h"

enum {
	MOST_GLOBALS = 4096,
	MOST_LOCALS = 1 << 14,
	MOST_FOUND = 1 << 16, /* of one object, and what a table of constants has room for */
	LONGEST_SCAN = 4096,
	NUMBER_BUCKETS = 1 << 17,
	MOST_NUMBERS = NUMBER_BUCKETS / 4 * 3,
	LARGEST_HASH = 640
};

/* Of Ruby 3.1 to 3.4. */
enum { HAS_VARIABLES = 1 << 10, FROZEN = 1 << 11, STATIC_SYMBOL = 0xc };

/* What a function that is called for each of some says. */
enum { GO_ON, STOP, DELETE };

struct named {
	VALUE to, name;
};

struct name_list {
	size_t count, most;
	struct named *items;
};

/* What Ruby notes of a constant. */
struct constant {
	int flags, line;
	VALUE value, file;
};

/* In memory of its own, of which little is touched. */
static struct {
	struct named globals[MOST_GLOBALS], locals[MOST_LOCALS], found[MOST_FOUND];
	struct {
		VALUE name;
		unsigned number;
	} numbers[NUMBER_BUCKETS];
} * room;
static struct name_list globals, locals, found;
static const struct name_list *looked_at;
static size_t next_found; /* Ruby lists edges in the order of their names, mostly */
static unsigned number_count;
static void *constants;       /* a table of Ruby's, with room, so that it allocates nothing */
static size_t constant_count; /* since it was emptied: what was deleted takes room in it till then */

/* ---- in the process ---- */

static bool knows_edge_names(void)
{
	return ruby.rb_ivar_foreach && ruby.rb_mod_const_at && ruby.rb_st_init_numtable_with_size &&
	       ruby.rb_st_foreach && ruby.rb_st_clear && ruby.rb_st_free_table && ruby.rb_id2str && ruby.rb_sym2str &&
	       ruby.rb_f_global_variables && ruby.rb_gv_get && ruby.rb_ary_entry && ruby.rb_thread_local_aref &&
	       ruby.rb_path2class && ruby.rb_funcall && ruby.rb_intern && ruby.rb_hash_foreach && ruby.rb_protect;
}

static void add_named(struct name_list *list, VALUE to, VALUE name)
{
	if (is_heap_object(to) && ruby_names_text(name).len && list->count < list->most)
		list->items[list->count++] = (struct named){ to, name };
}

/* Ruby's own variables, some of which run code when they are read, and what English.rb calls them; and all
 * like $_, $-w and $1. */
static bool is_rubys_own(const char *name)
{
	static const char own[][24] = {
		"stdin",
		"stdout",
		"stderr",
		"LOAD_PATH",
		"LOADED_FEATURES",
		"PROGRAM_NAME",
		"FILENAME",
		"VERBOSE",
		"DEBUG",
		"SAFE",
		"KCODE",
		"ERROR_INFO",
		"FS",
		"FIELD_SEPARATOR",
		"ERROR_POSITION",
		"OFS",
		"RS",
		"ORS",
		"OUTPUT_FIELD_SEPARATOR",
		"NR",
		"LAST_READ_LINE",
		"PID",
		"INPUT_RECORD_SEPARATOR",
		"DEFAULT_OUTPUT",
		"DEFAULT_INPUT",
		"PROCESS_ID",
		"OUTPUT_RECORD_SEPARATOR",
		"CHILD_STATUS",
		"IGNORECASE",
		"ARGV",
		"INPUT_LINE_NUMBER",
		"MATCH",
		"PREMATCH",
		"POSTMATCH",
		"LAST_MATCH_INFO",
		"LAST_PAREN_MATCH",
	};
	unsigned char first = name[0] == '$' ? (unsigned char)name[1] : 0;
	bool is_letter = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first >= 0x80;
	bool is_word = is_letter || (first == '_' && name[2]);
	for (size_t i = 0; is_word && i < sizeof own / sizeof *own; i++)
		if (!strcmp(name + 1, own[i]))
			return true;
	return !is_word;
}

/* Symbols in an Array; false behind its last one, where Ruby gives nil. */
static bool symbol_at(VALUE array, long i, VALUE *symbol)
{
	enum { OLD_NIL = 8, NIL = 4 };
	*symbol = ruby.rb_ary_entry(array, i);
	return *symbol != OLD_NIL && *symbol != NIL;
}

static VALUE list_globals(VALUE unused)
{
	volatile VALUE names = ruby.rb_f_global_variables();
	VALUE symbol;
	for (long i = 0; symbol_at(names, i, &symbol); i++) {
		const char *name = ruby.rb_id2name(ruby.rb_sym2id(symbol));
		if (name && !is_rubys_own(name))
			add_named(&globals, ruby.rb_gv_get(name), ruby.rb_sym2str(symbol));
	}
	return unused;
}

static VALUE list_locals(VALUE unused)
{
	volatile VALUE threads = ruby.rb_funcall(ruby.rb_path2class("Thread"), ruby.rb_intern("list"), 0);
	VALUE thread, key;
	for (long i = 0; is_heap_object(thread = ruby.rb_ary_entry(threads, i)); i++) {
		volatile VALUE keys = ruby.rb_funcall(thread, ruby.rb_intern("keys"), 0);
		for (long k = 0; symbol_at(keys, k, &key); k++)
			add_named(&locals, ruby.rb_thread_local_aref(thread, ruby.rb_sym2id(key)),
			          ruby.rb_sym2str(key));
	}
	return unused;
}

/* What raises is a variable of an extension: what comes after it has no name then. */
static void try_to_list(VALUE (*list)(VALUE))
{
	VALUE before = ruby.rb_errinfo();
	int state;
	ruby.rb_protect(list, 0, &state);
	if (state)
		ruby.rb_set_errinfo(before);
}

void graphnames_list(void)
{
	if (!knows_edge_names())
		return;
	room = mmap(NULL, sizeof *room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (room == MAP_FAILED) {
		room = NULL;
		return;
	}
	globals = (struct name_list){ .most = MOST_GLOBALS, .items = room->globals };
	locals = (struct name_list){ .most = MOST_LOCALS, .items = room->locals };
	found = (struct name_list){ .most = MOST_FOUND, .items = room->found };
	looked_at = &found;
	number_count = 0;
	constant_count = 0;
	try_to_list(list_globals);
	try_to_list(list_locals);
	constants = ruby.rb_st_init_numtable_with_size(MOST_FOUND);
}

void graphnames_forget(void)
{
	if (constants)
		ruby.rb_st_free_table(constants);
	if (room)
		munmap(room, sizeof *room);
	constants = NULL;
	room = NULL;
}

/* ---- in the child ---- */

static int note_variable(uintptr_t id, VALUE value, VALUE unused)
{
	(void)unused;
	VALUE name = is_heap_object(value) ? ruby.rb_id2str(id) : 0;
	struct text_span text = ruby_names_text(name);
	if (text.len && *text.bytes == '@')
		add_named(&found, value, name);
	return found.count < found.most ? GO_ON : STOP;
}

static int note_constant(uintptr_t id, uintptr_t noted, uintptr_t unused)
{
	(void)unused;
	const struct constant *constant = (const struct constant *)noted;
	constant_count++;
	if (is_heap_object(constant->value))
		add_named(&found, constant->value, ruby.rb_id2str(id));
	return DELETE;
}

/* No class has as many constants as half of the table has room for. */
static void note_constants(VALUE module)
{
	ruby.rb_mod_const_at(module, constants);
	ruby.rb_st_foreach(constants, note_constant, 0);
	if (constant_count > MOST_FOUND / 2) {
		ruby.rb_st_clear(constants);
		constant_count = 0;
	}
}

static bool is_symbol(VALUE key)
{
	return (key & 0xff) == STATIC_SYMBOL || type_of(key) == T_SYMBOL;
}

static int note_pair(VALUE key, VALUE value, VALUE unused)
{
	(void)unused;
	if (is_heap_object(value) && is_symbol(key))
		add_named(&found, value, ruby.rb_sym2str(key));
	return found.count < found.most ? GO_ON : STOP;
}

/* Ruby notes in a Hash that it is walked, unless it is frozen: a frozen copy is, lest its page be copied. */
static void note_pairs(VALUE hash, size_t slot)
{
	static VALUE copy[LARGEST_HASH / sizeof(VALUE)];
	if (slot > sizeof copy)
		return;
	memcpy(copy, (const void *)hash, slot);
	copy[0] |= FROZEN;
	ruby.rb_hash_foreach((VALUE)copy, note_pair, 0);
}

static bool is_thread_or_fiber(VALUE object)
{
	const char *type = ruby.rb_objspace_data_type_name(object);
	return type && (!strcmp(type, "VM/thread") || !strcmp(type, "fiber"));
}

void graphnames_look_at(VALUE object, size_t slot)
{
	const struct basic *o = (const struct basic *)object;
	unsigned type = o->flags & T_MASK;
	bool is_class = type == T_CLASS || type == T_MODULE;
	looked_at = &found;
	next_found = found.count = 0;
	if (!room || !o->class)
		return;
	if (type == T_DATA && locals.count && is_thread_or_fiber(object))
		looked_at = &locals;
	else if (type == T_OBJECT || is_class || o->flags & HAS_VARIABLES)
		ruby.rb_ivar_foreach(object, note_variable, 0);
	if (is_class)
		note_constants(object);
	else if (type == T_HASH)
		note_pairs(object, slot);
}

void graphnames_look_at_globals(void)
{
	looked_at = &globals;
	next_found = 0;
}

VALUE graphnames_find(VALUE to)
{
	size_t count = room ? looked_at->count : 0, scan = count < LONGEST_SCAN ? count : LONGEST_SCAN;
	for (size_t i = 0; i < scan; i++) {
		size_t at = next_found + i < count ? next_found + i : next_found + i - count;
		if (looked_at->items[at].to == to) {
			next_found = at + 1 < count ? at + 1 : 0;
			return looked_at->items[at].name;
		}
	}
	return 0;
}

unsigned graphnames_number(VALUE name, bool *is_new)
{
	size_t i = (name >> 3) * 0x9e3779b97f4a7c15u >> 47;
	*is_new = false;
	while (room->numbers[i].name && room->numbers[i].name != name)
		i = (i + 1) % NUMBER_BUCKETS;
	if (!room->numbers[i].name && number_count < MOST_NUMBERS) {
		*is_new = true;
		room->numbers[i].name = name;
		room->numbers[i].number = ++number_count;
	}
	return room->numbers[i].number;
}
