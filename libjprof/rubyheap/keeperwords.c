#include "rubyheap/keeperwords.h"

#include <string.h>

#include "base/strbuf.h"

/* A path has this many words at most: the first ones and the last ones. */
enum { longest_way = 64, first_words = 3, last_words = 5 };

static const char *text_in_arena(struct jp_strbuf *text, struct jp_arena *arena)
{
	const char *kept = text->failed ? NULL : jp_arena_dup(arena, text->text ? text->text : "", text->len);
	jp_strbuf_release(text);
	return kept;
}

static const char *word_of_root(const char *kind)
{
	static const struct {
		const char *kind, *word;
	} roots[] = {
		{ "vm", "Ruby" },
		{ "global_tbl", "a global variable" },
		{ "global_list", "a C extension's global" },
		{ "machine_context", "a thread's stack" },
		{ "finalizers", "a finalizer" },
		{ "end_proc", "at_exit" },
	};
	for (size_t i = 0; i < jp_count(roots); i++)
		if (!strcmp(kind, roots[i].kind))
			return roots[i].word;
	return "Ruby";
}

/* Of what is internal: what define_method made of a block. */
static bool is_method(const struct jp_heap *heap, uint32_t node)
{
	return !strncmp(jp_heap_word(heap, heap->objects[node].name), "method ", sizeof "method " - 1);
}

/* Says nothing to a Ruby developer: what Ruby puts between objects. */
static bool is_between(const struct jp_heap *heap, uint32_t node)
{
	const struct jp_heap_object *object = &heap->objects[node];
	return object->type == JP_HEAP_ICLASS || object->type == JP_HEAP_UNKNOWN || object->type == JP_HEAP_SINGLETON ||
	       (object->type == JP_HEAP_DATA && !strcmp(jp_heap_word(heap, object->name), "VM/pin_array_list")) ||
	       (object->type == JP_HEAP_IMEMO && strcmp(jp_heap_word(heap, object->name), "env") != 0 &&
	        !is_method(heap, node));
}

static bool is_hidden_array(const struct jp_heap *heap, uint32_t node)
{
	return node < heap->count && heap->objects[node].type == JP_HEAP_ARRAY &&
	       heap->objects[node].class_node == JP_NONE;
}

/* What refers to Strings and Symbols alone, and to at least one. */
static bool has_texts_alone(const struct jp_heap *heap, uint32_t node)
{
	for (uint32_t e = heap->graph.first[node]; e < heap->graph.first[node + 1]; e++)
		if (heap->objects[heap->graph.to[e]].type != JP_HEAP_STRING &&
		    strcmp(jp_heap_class(heap, heap->graph.to[e]), "Symbol") != 0)
			return false;
	return heap->graph.first[node] < heap->graph.first[node + 1];
}

/* Ruby's table of the Symbols that it never frees is a hidden Array of hidden Arrays: at least of so many, lest it is
 * another's. */
static bool is_symbol_table(const struct jp_heap *heap, uint32_t node)
{
	enum { least_arrays = 4 };
	if (!is_hidden_array(heap, node) || heap->graph.first[node + 1] - heap->graph.first[node] < least_arrays)
		return false;
	for (uint32_t e = heap->graph.first[node]; e < heap->graph.first[node + 1]; e++)
		if (!is_hidden_array(heap, heap->graph.to[e]) || !has_texts_alone(heap, heap->graph.to[e]))
			return false;
	return true;
}

const char *jp_heap_node_word(const struct jp_heap *heap, uint32_t node)
{
	if (node >= heap->count)
		return "Ruby";
	const struct jp_heap_object *object = &heap->objects[node];
	const char *name = jp_heap_word(heap, object->name), *class_is = jp_heap_class(heap, node);
	if (is_symbol_table(heap, node))
		return "Ruby's table of Symbols";
	switch ((enum jp_heap_type)object->type) {
	case JP_HEAP_ROOT: return word_of_root(name);
	case JP_HEAP_CLASS:
	case JP_HEAP_MODULE: return *name ? name : "a class without a name";
	case JP_HEAP_SINGLETON: return *name ? name : "Object";
	case JP_HEAP_IMEMO:
		if (is_method(heap, node))
			return name;
		return strcmp(name, "env") != 0 ? "Ruby's own data" : "local variables of a block";
	case JP_HEAP_ICLASS: return "Ruby's own data";
	case JP_HEAP_STRING: return *class_is ? class_is : "String";
	case JP_HEAP_ARRAY: return *class_is ? class_is : "Array";
	case JP_HEAP_HASH: return *class_is ? class_is : "Hash";
	case JP_HEAP_DATA:
		if (!strcmp(name, "ObjectTracing/allocation_info_tracer"))
			return "trace_object_allocations";
		return *class_is && strcmp(class_is, "Object") != 0 ? class_is : *name ? name : "Object";
	default: return *class_is ? class_is : "Ruby's own data";
	}
}

/* By what `from` refers to `to`, "" where that is not known. What is a class has a name of its own. */
static const char *edge_name(const struct jp_heap *heap, uint32_t from, uint32_t to)
{
	if (!heap->edge_names || from >= heap->count || to >= heap->count || heap->objects[to].type == JP_HEAP_CLASS ||
	    heap->objects[to].type == JP_HEAP_MODULE)
		return "";
	for (uint32_t e = heap->graph.first[from]; e < heap->graph.first[from + 1]; e++)
		if (heap->graph.to[e] == to && heap->edge_names[e] != JP_NONE)
			return jp_heap_word(heap, heap->edge_names[e]);
	return "";
}

static bool has_own_name(const struct jp_heap *heap, uint32_t node)
{
	enum jp_heap_type type = node < heap->count ? (enum jp_heap_type)heap->objects[node].type : JP_HEAP_ROOT;
	return type == JP_HEAP_ROOT || type == JP_HEAP_CLASS || type == JP_HEAP_MODULE || type == JP_HEAP_IMEMO ||
	       (type == JP_HEAP_DATA && strchr("abcdefghijklmnopqrstuvwxyz", *jp_heap_node_word(heap, node))) ||
	       (node < heap->count && is_symbol_table(heap, node));
}

/* A name of its own as it is, else with its article: "an Array", "a Session". */
static void put_one(struct jp_strbuf *out, const struct jp_heap *heap, uint32_t node)
{
	const char *word = jp_heap_node_word(heap, node);
	if (!has_own_name(heap, node))
		jp_strbuf_str(out, strchr("AEIOU", *word) ? "an " : "a ");
	jp_strbuf_str(out, word);
}

/* The object or class whose singleton class it is, where the way to that comes from there; else the node itself. */
static uint32_t attached_to(const struct jprof_rubyheap *h, uint32_t node)
{
	uint32_t above = h->way[node];
	return above < h->heap.count && h->heap.objects[above].class_node == node ? above : node;
}

/* "the singleton class of Shop", "the singleton class of an Item" */
static void put_singleton(struct jp_strbuf *out, const struct jprof_rubyheap *h, uint32_t node)
{
	jp_strbuf_str(out, "the singleton class of ");
	put_one(out, &h->heap, attached_to(h, node));
}

const char *jp_keeper_what(const struct jprof_rubyheap *h, uint32_t node, struct jp_arena *texts)
{
	const struct jp_heap_object *object = &h->heap.objects[node];
	struct jp_strbuf text = { 0 };
	if (object->type == JP_HEAP_CLASS || object->type == JP_HEAP_MODULE)
		jp_strbuf_str(&text, object->type == JP_HEAP_MODULE ? "module " : "class ");
	if (object->type == JP_HEAP_SINGLETON)
		put_singleton(&text, h, node);
	else if (jp_heap_is_root(&h->heap, node, "finalizers"))
		jp_strbuf_str(&text, "Ruby's table of finalizers");
	else if (jp_heap_is_ractor(&h->heap, node))
		jp_strbuf_str(&text, "Ruby's list of threads");
	else
		put_one(&text, &h->heap, node);
	if ((object->type == JP_HEAP_ARRAY || object->type == JP_HEAP_HASH) && !is_symbol_table(&h->heap, node)) {
		jp_strbuf_str(&text, " of ");
		jp_strbuf_grouped(&text, object->length, 0);
	}
	return text_in_arena(&text, texts);
}

/* A Set, or a Map of concurrent-ruby, is an object around a Hash: whoever has it is whom the question is about. */
static bool is_around_hash(const struct jp_heap *heap, uint32_t node)
{
	const char *word = heap->objects[node].type == JP_HEAP_OBJECT ? jp_heap_node_word(heap, node) : "";
	return !strcmp(word, "Set") || !strcmp(word, "Concurrent::Map");
}

static bool is_container(const struct jp_heap *heap, uint32_t node)
{
	return node < heap->count && (heap->objects[node].type == JP_HEAP_ARRAY ||
	                              heap->objects[node].type == JP_HEAP_HASH || is_around_hash(heap, node));
}

static bool dominates(const struct jprof_rubyheap *h, uint32_t above, uint32_t node)
{
	while (node != JP_NONE && node != above)
		node = h->dominators.idom[node];
	return node == above;
}

static bool is_class_object(const struct jp_heap *heap, uint32_t node)
{
	return heap->objects[node].type == JP_HEAP_CLASS && !strcmp(jp_heap_node_word(heap, node), "Object");
}

/* "Shop::CACHE", "@@open of Shop", "$shop", "Hash[:prices]", "Thread[:key]", "Session @data": what refers to another
 * thing by a name. `kind`: "Shop::CACHE (constant)". */
static void put_by_name(struct jp_strbuf *out, const struct jp_heap *heap, uint32_t from, const char *name, bool kind)
{
	const char *word = jp_heap_node_word(heap, from);
	switch ((enum jp_heap_type)heap->objects[from].type) {
	case JP_HEAP_ROOT: jp_strbuf_printf(out, "%s%s", name, kind ? " (global)" : ""); break;
	case JP_HEAP_SINGLETON: jp_strbuf_printf(out, "%s of its singleton class", name); break;
	case JP_HEAP_CLASS:
	case JP_HEAP_MODULE:
		if (*name == '@')
			jp_strbuf_printf(out, "%s of %s", name, word);
		else
			jp_strbuf_printf(out, "%s%s%s%s", is_class_object(heap, from) ? "" : word,
			                 is_class_object(heap, from) ? "" : "::", name, kind ? " (constant)" : "");
		break;
	default:
		if (*name != '@')
			jp_strbuf_printf(out, "%s[:%s]", word, name);
		else
			jp_strbuf_printf(out, "%s %s", word, name);
	}
}

/* A singleton class that refers to what comes next by a name. */
static bool names_by_singleton(const struct jp_heap *heap, uint32_t node, uint32_t next)
{
	return heap->objects[node].type == JP_HEAP_SINGLETON && *edge_name(heap, node, next);
}

/* What the way to it passes last that has a name: the constant, variable or object behind which containers follow. */
const char *jp_keeper_holder(const struct jprof_rubyheap *h, uint32_t node, struct jp_arena *texts)
{
	const struct jp_heap *heap = &h->heap;
	struct jp_strbuf text = { 0 };
	uint32_t above = h->way[node], below = node;
	bool needs_none = jp_heap_is_thread(heap, node) || jp_heap_is_ractor(heap, node) ||
	                  is_symbol_table(heap, node) || heap->objects[node].type == JP_HEAP_CLASS ||
	                  heap->objects[node].type == JP_HEAP_MODULE;
	if (heap->objects[node].type == JP_HEAP_SINGLETON && attached_to(h, node) == above) {
		needs_none = has_own_name(heap, above);
		below = above, above = h->way[above];
	}
	while (above < heap->count && (is_between(heap, above) || is_container(heap, above)) &&
	       !names_by_singleton(heap, above, below))
		below = above, above = h->way[above];
	if (above < heap->count && !needs_none) {
		const char *name = edge_name(heap, above, below);
		if (heap->objects[above].type == JP_HEAP_SINGLETON) {
			jp_strbuf_printf(&text, "%s of ", name);
			put_singleton(&text, h, above);
		} else if (*name)
			put_by_name(&text, heap, above, name, false);
		else
			put_one(&text, heap, above);
		jp_strbuf_str(&text, dominates(h, above, node) ? "" : " and others");
	}
	return text_in_arena(&text, texts);
}

static bool is_named_class(const struct jp_heap *heap, uint32_t node)
{
	enum jp_heap_type type = (enum jp_heap_type)heap->objects[node].type;
	return (type == JP_HEAP_CLASS || type == JP_HEAP_MODULE) && *jp_heap_word(heap, heap->objects[node].name);
}

/* The nodes on the way to it that have a word, the last first; how many. */
static size_t steps_to(const struct jprof_rubyheap *h, uint32_t node, uint32_t steps[longest_way])
{
	const struct jp_heap *heap = &h->heap;
	bool at_class = false;
	size_t count = 0;
	/* A class with a name is where every way begins: whoever refers to it besides does not keep it. */
	for (; node < heap->count && count < longest_way && !at_class; node = h->way[node]) {
		if (!is_between(heap, node) || (count && names_by_singleton(heap, node, steps[count - 1])) ||
		    (!count && heap->objects[node].type == JP_HEAP_SINGLETON))
			steps[count++] = node;
		at_class = is_named_class(heap, node);
	}
	bool of_ruby = count > 1 && !strcmp(jp_heap_node_word(heap, steps[count - 1]), "Ruby");
	if (of_ruby && count > 2 && jp_heap_is_ractor(heap, steps[count - 2]) &&
	    jp_heap_is_thread(heap, steps[count - 3]))
		count -= 2;
	else if (of_ruby && (count > 2 || is_symbol_table(heap, steps[0])) && has_own_name(heap, steps[count - 2]))
		count--;
	if (count > 1 && is_class_object(heap, steps[count - 1]) && has_own_name(heap, steps[count - 2]))
		count--;
	return count;
}

/* Of those that the node alone keeps, directly: one of the class to which most belong, by bytes, and how many do. */
struct elements {
	uint32_t most, count;
};

static struct elements find_elements(const struct jprof_rubyheap *h, uint32_t node, const uint64_t *bytes,
                                     uint64_t *of_class)
{
	const uint32_t *begin = h->children + h->first_child[node], *end = h->children + h->first_child[node + 1];
	const struct jp_heap_object *objects = h->heap.objects;
	struct elements e = { .most = JP_NONE };
	for (const uint32_t *child = begin; child < end; child++) {
		uint32_t class_node = objects[*child].class_node;
		if (class_node == JP_NONE || !bytes[*child])
			continue;
		of_class[class_node] += bytes[*child];
		if (e.most == JP_NONE || of_class[class_node] > of_class[objects[e.most].class_node])
			e.most = *child;
	}
	for (const uint32_t *child = begin; child < end; child++) {
		if (objects[*child].class_node == JP_NONE)
			continue;
		e.count += bytes[*child] && objects[*child].class_node == objects[e.most].class_node;
		of_class[objects[*child].class_node] = 0;
	}
	return e;
}

static void put_elements(struct jp_strbuf *out, const struct jprof_rubyheap *h, const struct elements *e,
                         const uint64_t *bytes)
{
	if (!e->count)
		return;
	jp_strbuf_printf(out, " > %s", jp_heap_node_word(&h->heap, e->most));
	bool are_samples = h->heap.stands_for && bytes[e->most] != h->keeps[e->most];
	if (e->count > 1 && !are_samples) {
		jp_strbuf_str(out, " (");
		jp_strbuf_grouped(out, e->count, 0);
		jp_strbuf_str(out, " of them)");
	}
}

const char *jp_keeper_content(const struct jprof_rubyheap *h, uint32_t node, const uint64_t *bytes, uint64_t *of_class,
                              struct jp_arena *texts)
{
	const struct elements elements = find_elements(h, node, bytes, of_class);
	struct jp_strbuf text = { 0 };
	jp_strbuf_str(&text, jp_heap_node_word(&h->heap, node));
	put_elements(&text, h, &elements, bytes);
	return text_in_arena(&text, texts);
}

/* Shop, of Shop::Cache: the name of what comes next says it. */
static bool is_in_namespace(const struct jp_heap *heap, uint32_t outer, uint32_t inner)
{
	const char *name = jp_heap_node_word(heap, outer), *longer = jp_heap_node_word(heap, inner);
	size_t len = strlen(name);
	return has_own_name(heap, outer) && has_own_name(heap, inner) && !strncmp(name, longer, len) &&
	       !strncmp(longer + len, "::", 2);
}

const char *jp_keeper_path(const struct jprof_rubyheap *h, uint32_t node, const uint64_t *bytes, uint64_t *of_class,
                           struct jp_arena *texts)
{
	uint32_t steps[longest_way];
	size_t count = steps_to(h, node, steps);
	const struct elements elements = find_elements(h, node, bytes, of_class);
	uint32_t last = elements.count == 1 ? elements.most : JP_NONE;
	struct jp_strbuf text = { 0 };
	for (size_t i = count; i > 0; i--) {
		size_t place = count - i;
		if (i > 1 && is_in_namespace(&h->heap, steps[i - 1], steps[i - 2]))
			continue;
		bool left_out = count > first_words + last_words && place >= first_words && i > last_words;
		if (left_out && place > first_words)
			continue;
		jp_strbuf_str(&text, text.len ? " > " : "");
		uint32_t next = i > 1 ? steps[i - 2] : last;
		const char *name = left_out ? "" : edge_name(&h->heap, steps[i - 1], next);
		if (*name)
			put_by_name(&text, &h->heap, steps[i - 1], name, true);
		else if (!left_out && h->heap.objects[steps[i - 1]].type == JP_HEAP_SINGLETON)
			jp_strbuf_str(&text, "its singleton class");
		else
			jp_strbuf_str(&text, left_out ? "..." : jp_heap_node_word(&h->heap, steps[i - 1]));
	}
	put_elements(&text, h, &elements, bytes);
	return text_in_arena(&text, texts);
}
