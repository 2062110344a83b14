#include "ruby/slotstock.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "ruby/newobj.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_names.h"
#include "ruby/ruby_objects.h"
#include "ruby/slotdata.h"
#include "ruby/slottable.h"
#include "ruby/stacktree.h"

/* IDENTIFIED: of an object's flags. To Ruby 3.4 it says that the object has an id; 4.0 does not use it, and the agent
 * sets it. */
enum {
	STOCK_PAGES = 1 << 19,
	STOCK_PAGES_MOST = STOCK_PAGES / 4 * 3,
	IDS = 2 * SLOTTABLE_MOST,
	IDENTIFIED = 1 << 9,
	SLOT_TYPE = 0x1f
};
enum { LAST_TYPE = 0x0f, TYPE_SYMBOL = 0x14 };

/* A page of Ruby's heap. */
struct stock_page {
	uintptr_t begin;
	uint32_t size, stride;
};

/* A stock that is taken. */
struct stock {
	uint32_t number;
	unsigned page_log;
	uint32_t pages;
	bool fits;
};

static struct stock_page *pages; /* by hash of the address; memory of its own */
static uint32_t *ids;            /* likewise: 1 and the place of a sample, by hash of its id */
static const struct newobj_version *rubys;
static uintptr_t compactions; /* the key of GC.stat */
static uintptr_t state, none; /* those of GC.latest_gc_info */
static size_t compacted;      /* how often, at the last stock */

static void *get_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static uintptr_t symbol(const char *name)
{
	return ruby.rb_id2sym(ruby.rb_intern(name));
}

static bool has_stock_functions(void)
{
	return (rubys->is_marked || ruby.rb_obj_id) && ruby.rb_gc_disable && ruby.rb_gc_enable &&
	       ruby.rb_objspace_each_objects && ruby.rb_gc_stat && ruby.rb_gc_latest_gc_info && ruby.rb_id2sym &&
	       ruby.rb_intern && ruby.rb_str_new && ruby.rb_class_real && ruby.rb_mod_name &&
	       (!rubys->has_sizes || (ruby.rb_gc_obj_slot_size && ruby.rb_gc_disable_no_rest));
}

static VALUE flags_of(VALUE object)
{
	return *(const volatile VALUE *)object;
}

/* Where slots have several sizes a new object's words are what was there before, and Ruby's callers trust that nothing
 * is collected before they have set them. An id takes memory, and might have it collected. */
static VALUE identify_by_id(VALUE object)
{
	VALUE was_disabled = rubys->has_sizes ? ruby.rb_gc_disable_no_rest() : 1;
	VALUE id = ruby.rb_obj_id(object);
	if (!was_disabled)
		ruby.rb_gc_enable();
	return id;
}

static VALUE identify_by_mark(VALUE object)
{
	static _Atomic VALUE marked;
	*(volatile VALUE *)object |= IDENTIFIED;
	return ++marked;
}

VALUE slotstock_identify(VALUE object)
{
	return rubys->is_marked ? identify_by_mark(object) : identify_by_id(object);
}

static bool shows_samples(void)
{
	volatile VALUE object = ruby.rb_str_new("", 0);
	bool before = flags_of(object) & IDENTIFIED;
	VALUE id = slotstock_identify(object);
	return !before && flags_of(object) & IDENTIFIED && (rubys->is_marked || ruby.rb_obj_id(object) == id);
}

const char *slotstock_learn(const struct newobj_version *version)
{
	rubys = version;
	if (!has_stock_functions())
		return "this Ruby does not export all functions by which the agent tells which objects live";
	if (!shows_samples())
		return "this Ruby's objects do not show that they have an id, or a mark";
	compactions = symbol("compact_count");
	size_t times = ruby.rb_gc_stat(compactions);
	compacted = rubys->is_marked ? times : 0;
	state = symbol("state");
	none = symbol("none");
	ruby.rb_gc_latest_gc_info(state);
	if (!pages)
		pages = get_memory(STOCK_PAGES * sizeof *pages);
	if (!ids)
		ids = get_memory(IDS * sizeof *ids);
	return pages && ids ? NULL : "no memory could be had to tell which objects live";
}

bool slotstock_is_cheap(void)
{
	return ruby.rb_gc_latest_gc_info(state) == none;
}

/* ---- pages ---- */

static struct stock_page *page_at(uintptr_t number)
{
	return &pages[(number * 0x9e3779b97f4a7c15u >> 40) % STOCK_PAGES];
}

static struct stock_page *next_page(struct stock_page *page)
{
	return page + 1 < pages + STOCK_PAGES ? page + 1 : pages;
}

/* Called by Ruby for each page of its heap. Allocates nothing. */
static int note_heap_page(void *begin, void *end, size_t stride, void *arg)
{
	struct stock *stock = arg;
	uintptr_t first = (uintptr_t)begin, last = (uintptr_t)end - 1, number = first >> stock->page_log;
	struct stock_page *page = page_at(number);
	if (!stride || last < first || number != last >> stock->page_log || ++stock->pages > STOCK_PAGES_MOST) {
		stock->fits = false;
		return 1;
	}
	while (page->begin)
		page = next_page(page);
	*page = (struct stock_page){ first, (uint32_t)(last + 1 - first), (uint32_t)stride };
	return 0;
}

static bool is_slot(const struct stock *stock, uintptr_t address)
{
	uintptr_t number = address >> stock->page_log;
	const struct stock_page *page = page_at(number);
	while (page->begin && page->begin >> stock->page_log != number)
		page = next_page((struct stock_page *)page);
	uintptr_t distance = address - page->begin;
	return page->begin && distance < page->size && distance % page->stride == 0;
}

/* ---- samples ---- */

/* A marked object is the last sample that was taken where it lies. */
static bool may_be(VALUE object, const struct slot_sample *sample)
{
	VALUE flags = flags_of(object);
	return (flags & SLOT_TYPE) == sample->type && flags & IDENTIFIED &&
	       (rubys->is_marked || ruby.rb_obj_id(object) == sample->id);
}

static uint32_t *id_at(VALUE id)
{
	return &ids[(id * 0x9e3779b97f4a7c15u >> 40) % IDS];
}

static uint32_t *next_id(uint32_t *at)
{
	return at + 1 < ids + IDS ? at + 1 : ids;
}

/* How many do not live where they lay; those are in `ids`. */
static uint32_t look_at_samples(const struct stock *stock, struct slot_sample *samples, uint32_t places)
{
	uint32_t missing = 0;
	for (uint32_t i = 0; i < places; i++) {
		struct slot_sample *sample = &samples[i];
		if (!sample->id)
			continue;
		if (is_slot(stock, sample->object) && may_be(sample->object, sample)) {
			sample->stock = stock->number;
			continue;
		}
		uint32_t *at = id_at(sample->id);
		while (*at)
			at = next_id(at);
		*at = i + 1;
		missing++;
	}
	return missing;
}

/* Of several samples at one place the last one lives; they are in `ids` by their places. */
static void look_at_marked(const struct stock *stock, struct slot_sample *samples, uint32_t places)
{
	for (uint32_t i = 0; i < places; i++) {
		const struct slot_sample *sample = &samples[i];
		if (!sample->id || !is_slot(stock, sample->object) || !may_be(sample->object, sample))
			continue;
		uint32_t *at = id_at(sample->object);
		while (*at && samples[*at - 1].object != sample->object)
			at = next_id(at);
		if (!*at || samples[*at - 1].id < sample->id)
			*at = i + 1;
	}
	for (const uint32_t *at = ids; at < ids + IDS; at++)
		if (*at)
			samples[*at - 1].stock = stock->number;
}

static void find_by_id(const struct stock *stock, struct slot_sample *samples, VALUE object)
{
	unsigned type = flags_of(object) & SLOT_TYPE;
	if (!(flags_of(object) & IDENTIFIED) || !type || (type > LAST_TYPE && type != TYPE_SYMBOL))
		return;
	VALUE id = ruby.rb_obj_id(object);
	for (uint32_t *at = id_at(id); *at; at = next_id(at)) {
		struct slot_sample *sample = &samples[*at - 1];
		if (sample->id != id || sample->type != type)
			continue;
		sample->object = object;
		sample->stock = stock->number;
	}
}

/* Those that were moved: all slots are looked at. */
static void look_for_moved(const struct stock *stock, struct slot_sample *samples)
{
	for (const struct stock_page *page = pages; page < pages + STOCK_PAGES; page++)
		for (uint32_t at = 0; page->begin && at < page->size; at += page->stride)
			find_by_id(stock, samples, page->begin + at);
}

static void name_class(struct slot_sample *sample)
{
	VALUE class = ruby.rb_class_real(((const VALUE *)sample->object)[1]);
	struct text_span name = class ? ruby_names_text(ruby.rb_mod_name(class)) : (struct text_span){ "", 0 };
	if (!name.len || *name.bytes == '#' || !stacktree_try_lock())
		return;
	sample->class = texts_hold(name, false);
	stacktree_unlock();
}

/* Where another thread has the texts, it stays until the next time, as dead. */
static void remove_sample(struct slot_sample *sample)
{
	sample->id = 0;
	if (sample->class && !stacktree_try_lock())
		return;
	if (sample->class) {
		texts_release(sample->class);
		stacktree_unlock();
	}
	slottable_remove(sample);
}

/* Objects of Ruby 3.2 do not say how many variables they have room for. */
static bool shows_moved(unsigned type)
{
	return rubys->moves_data && !(type == T_OBJECT && rubys->has_sizes);
}

static void keep_living(const struct stock *stock, struct slot_sample *samples, uint32_t places)
{
	for (uint32_t i = 0; i < places; i++) {
		struct slot_sample *sample = &samples[i];
		if (!sample->object)
			continue;
		if (sample->stock != stock->number) {
			remove_sample(sample);
			continue;
		}
		if (!sample->class)
			name_class(sample);
		if (shows_moved(sample->type))
			sample->moved = slotdata_moved(sample->object, sample->type);
	}
}

/* No garbage is collected meanwhile. False where the samples were not to be had. */
static bool judge_samples(const struct stock *stock)
{
	uint32_t places;
	size_t times = ruby.rb_gc_stat(compactions);
	struct slot_sample *samples = slottable_take(&places);
	if (!samples)
		return false;
	if (rubys->is_marked)
		look_at_marked(stock, samples, places);
	else if (look_at_samples(stock, samples, places) && times != compacted)
		look_for_moved(stock, samples);
	compacted = times;
	keep_living(stock, samples, places);
	slottable_release();
	return true;
}

/* What is left of a stock, which may have been broken off. */
static void forget_pages(void)
{
	madvise(pages, STOCK_PAGES * sizeof *pages, MADV_DONTNEED);
	madvise(ids, IDS * sizeof *ids, MADV_DONTNEED);
}

/* rb_objspace_each_objects ends a sweep that is under way. What it may raise comes before the collection is held up. */
const char *slotstock_take(uint32_t number)
{
	struct stock stock = { .number = number, .page_log = rubys->page_log, .fits = true };
	bool judged = false;
	if (!ruby_objects_are_alone())
		return "there are several ractors, and others would change the heap meanwhile";
	if (rubys->is_marked && ruby.rb_gc_stat(compactions) != compacted)
		return "GC.compact moved objects, and those of this Ruby are not found again";
	forget_pages();
	ruby.rb_objspace_each_objects(note_heap_page, &stock);
	if (stock.fits) {
		VALUE was_disabled = ruby.rb_gc_disable();
		judged = judge_samples(&stock);
		if (!was_disabled)
			ruby.rb_gc_enable();
	}
	forget_pages();
	if (!stock.fits)
		return "the pages of this Ruby's heap have a form that is not known, or are too many";
	return judged ? NULL : "the samples were not to be had in time";
}
