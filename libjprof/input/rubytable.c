#include "input/rubytable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/reader.h"
#include "base/search.h"
#include "base/strbuf.h"

enum {
	most_nodes = (1 << 18) - 1,
	most_strings = (1 << 20) - 1,
	most_tags = (1 << 10) - 1,
	most_slots = 1 << 20,
	most_slot_rate = 1 << 30
};

/* What comes of a line; the rest are codes of enum jprof_code. */
enum { GOOD, FAULTY_TABLE };

struct table_parse {
	struct jp_rubytable *table;
	struct jp_span line; /* what is left of it */
	uint32_t *strings;   /* by number: id in texts, or JP_NONE */
	size_t string_count, string_cap;
	struct jp_strbuf text;
	bool has_dump, has_ids, ended;
};

/* ---- fields ---------------------------------------------------------------------------------------------- */

static bool ends_field(struct jp_span *line)
{
	return !line->len || jp_span_char(line, ' ');
}

static bool take_decimal(struct jp_span *line, uint64_t most, uint64_t *value)
{
	return jp_span_decimal(line, value) == JP_NUMBER_OK && *value <= most && ends_field(line);
}

static bool take_table_hex(struct jp_span *line, uint64_t *value)
{
	return jp_span_hex(line, value) == JP_NUMBER_OK && ends_field(line);
}

/* Seconds with thousandths, in milliseconds. */
static bool take_seconds(struct jp_span *line, uint64_t *milliseconds)
{
	uint64_t seconds, part;
	if (jp_span_decimal(line, &seconds) != JP_NUMBER_OK || seconds > UINT64_MAX / 1000 - 1 ||
	    !jp_span_char(line, '.'))
		return false;
	size_t digits = line->len;
	if (jp_span_decimal(line, &part) != JP_NUMBER_OK || digits - line->len != 3 || !ends_field(line))
		return false;
	*milliseconds = seconds * 1000 + part;
	return true;
}

static struct jp_span take_table_word(struct jp_span *line)
{
	struct jp_span word = *line;
	while (line->len && *line->ptr != ' ')
		(void)jp_span_char(line, *line->ptr);
	word.len -= line->len;
	(void)ends_field(line);
	return word;
}

static bool is_table_word(struct jp_span word, const char *text)
{
	return word.len == strlen(text) && jp_span_starts(word, text);
}

/* Decodes %XX in the rest of the line into p->text; a NUL stays %00. */
static bool take_text(struct table_parse *p)
{
	jp_strbuf_cut(&p->text, 0);
	jp_strbuf_str(&p->text, "");
	while (p->line.len) {
		const char *percent = memchr(p->line.ptr, '%', p->line.len);
		size_t plain = percent ? (size_t)(percent - p->line.ptr) : p->line.len;
		if (memchr(p->line.ptr, '\0', plain))
			return false;
		jp_strbuf_add(&p->text, p->line.ptr, plain);
		p->line = (struct jp_span){ p->line.ptr + plain, p->line.len - plain };
		if (!percent)
			break;
		struct jp_span digits = { p->line.ptr + 1, p->line.len < 3 ? 0 : 2 };
		uint64_t byte;
		if (jp_span_hex(&digits, &byte) != JP_NUMBER_OK || digits.len)
			return false;
		const char single = (char)byte;
		jp_strbuf_add(&p->text, byte ? &single : "%00", byte ? 1 : 3);
		p->line = (struct jp_span){ p->line.ptr + 3, p->line.len - 3 };
	}
	return true;
}

static int keep_table_text(struct table_parse *p, char **to)
{
	if (!take_text(p))
		return FAULTY_TABLE;
	free(*to);
	*to = p->text.failed ? NULL : strdup(p->text.text);
	return *to ? GOOD : JPROF_E_NOMEM;
}

/* ---- lines of the head ----------------------------------------------------------------------------------- */

static int read_process(struct table_parse *p)
{
	struct jp_rubytable *t = p->table;
	if (!take_decimal(&p->line, UINT64_MAX, &t->pid) || !take_decimal(&p->line, UINT64_MAX, &t->start_ticks))
		return FAULTY_TABLE;
	return keep_table_text(p, &t->boot);
}

static int read_sum(struct table_parse *p)
{
	struct jp_checksum *sum = &p->table->dump;
	p->has_dump = true;
	return take_decimal(&p->line, UINT64_MAX, &sum->size) && take_table_hex(&p->line, &sum->fnv) ? GOOD
	                                                                                             : FAULTY_TABLE;
}

static int read_ids(struct table_parse *p)
{
	struct jp_rubytable *t = p->table;
	uint64_t *const bounds[] = { &t->start, &t->nodes, &t->tags, &t->epochs, &t->end };
	p->has_ids = true;
	for (size_t i = 0; i < jp_count(bounds); i++)
		if (!take_table_hex(&p->line, bounds[i]))
			return FAULTY_TABLE;
	return t->nodes <= t->tags && t->tags <= t->epochs && t->epochs <= t->end ? GOOD : FAULTY_TABLE;
}

static int read_ruby(struct table_parse *p)
{
	(void)take_table_word(&p->line);
	p->table->stacks = is_table_word(take_table_word(&p->line), "on");
	return keep_table_text(p, &p->table->why);
}

static int read_directory(struct table_parse *p)
{
	return keep_table_text(p, &p->table->directory);
}

static int read_interpreter(struct table_parse *p)
{
	p->table->interpreter = true;
	return GOOD;
}

static int read_bounds(struct table_parse *p)
{
	struct jp_rubytable *t = p->table;
	bool good = take_decimal(&p->line, UINT32_MAX, &t->before) && take_decimal(&p->line, UINT32_MAX, &t->after);
	return good && t->before < t->after ? GOOD : FAULTY_TABLE;
}

static int read_time(struct table_parse *p)
{
	return take_seconds(&p->line, &p->table->time) ? GOOD : FAULTY_TABLE;
}

static int read_start(struct table_parse *p)
{
	struct jp_rubytable *t = p->table;
	bool good = take_seconds(&p->line, &t->began) && take_decimal(&p->line, UINT32_MAX, &t->first) &&
	            take_decimal(&p->line, UINT32_MAX, &t->forks);
	return good && t->first ? GOOD : FAULTY_TABLE;
}

static int read_epoch(struct table_parse *p)
{
	struct jp_rubytable *t = p->table;
	uint64_t number, last = t->span_count ? t->spans[t->span_count - 1].number : 0;
	struct jp_rubyepoch span = { 0 };
	if (!take_decimal(&p->line, UINT32_MAX, &number) || number <= last || !take_seconds(&p->line, &span.begin))
		return FAULTY_TABLE;
	bool runs = p->line.len == 1 && jp_span_char(&p->line, '-');
	if (!runs && (!take_seconds(&p->line, &span.end) || p->line.len || span.end < span.begin))
		return FAULTY_TABLE;
	if (jp_array_push(t->spans, t->span_count, t->span_cap))
		return JPROF_E_NOMEM;
	span.number = (uint32_t)number;
	t->spans[t->span_count++] = span;
	return GOOD;
}

/* The text is read last: until then the tag is none. */
static int read_tag(struct table_parse *p)
{
	struct jp_rubytable *t = p->table;
	uint64_t number;
	if (!take_decimal(&p->line, most_tags, &number) || !number)
		return FAULTY_TABLE;
	struct jp_span word = take_table_word(&p->line);
	enum jp_tag_kind kind = is_table_word(word, "route") ? JP_TAG_ROUTE
	                        : is_table_word(word, "job") ? JP_TAG_JOB
	                                                     : JP_TAG_PLAIN;
	if (!word.len || !p->line.len || !take_text(p))
		return FAULTY_TABLE;
	if (p->text.failed || jp_array_reserve(&t->marks, &t->mark_cap, number + 1, sizeof *t->marks))
		return JPROF_E_NOMEM;
	while (t->mark_count <= number)
		t->marks[t->mark_count++] = (struct jp_rubytag){ .text = JP_NONE };
	if (t->marks[number].text != JP_NONE)
		return FAULTY_TABLE;
	t->marks[number] = (struct jp_rubytag){ kind, jp_intern(&t->texts, p->text.text, p->text.len) };
	return t->marks[number].text == JP_NONE ? JPROF_E_NOMEM : GOOD;
}

/* ---- texts and frames ------------------------------------------------------------------------------------- */

/* Makes room for number `id` in a list of ids; new ones are JP_NONE. 0, or -1 when memory is short. */
static int make_known(uint32_t **ids, size_t *count, size_t *cap, uint64_t id)
{
	if (jp_array_reserve(ids, cap, id + 1, sizeof **ids))
		return -1;
	while (*count <= id)
		(*ids)[(*count)++] = JP_NONE;
	return 0;
}

static int read_string(struct table_parse *p)
{
	uint64_t id;
	if (!take_decimal(&p->line, most_strings, &id) || !id || !take_text(p))
		return FAULTY_TABLE;
	if (p->text.failed || make_known(&p->strings, &p->string_count, &p->string_cap, id))
		return JPROF_E_NOMEM;
	if (p->strings[id] != JP_NONE)
		return FAULTY_TABLE;
	p->strings[id] = jp_intern(&p->table->texts, p->text.text, p->text.len);
	return p->strings[id] == JP_NONE ? JPROF_E_NOMEM : GOOD;
}

/* The number of a string that came before; 0 is none. */
static bool take_string(struct table_parse *p, uint32_t *text)
{
	uint64_t id;
	*text = JP_NONE;
	if (!take_decimal(&p->line, most_strings, &id))
		return false;
	if (id && id < p->string_count)
		*text = p->strings[id];
	return !id || *text != JP_NONE;
}

/* NODE and PARENT, with which lines of frames and markers begin. */
static bool take_nodes(struct table_parse *p, uint64_t *node, struct jp_rubyframe *frame)
{
	const struct jp_rubytable *t = p->table;
	uint64_t parent;
	if (!take_decimal(&p->line, most_nodes, node) || !*node || !take_decimal(&p->line, most_nodes, &parent))
		return false;
	frame->parent = parent && parent < t->node_count ? t->places[parent] : JP_NONE;
	if ((parent && frame->parent == JP_NONE) || (*node < t->node_count && t->places[*node] != JP_NONE))
		return false;
	frame->depth = parent ? t->frames[frame->parent].depth + 1 : 1;
	return frame->depth <= jp_rubytable_deepest;
}

static int add_table_frame(struct table_parse *p, uint64_t node, const struct jp_rubyframe *frame)
{
	struct jp_rubytable *t = p->table;
	if (jp_array_push(t->frames, t->frame_count, t->frame_cap) ||
	    make_known(&t->places, &t->node_count, &t->place_cap, node))
		return JPROF_E_NOMEM;
	t->places[node] = (uint32_t)t->frame_count;
	t->frames[t->frame_count++] = *frame;
	return GOOD;
}

static int read_frame(struct table_parse *p)
{
	struct jp_rubyframe frame = { .word = JP_RUBY_FRAME };
	uint64_t node, line;
	if (!take_nodes(p, &node, &frame) || !take_string(p, &frame.path) ||
	    !take_decimal(&p->line, UINT32_MAX, &line) || !take_string(p, &frame.owner))
		return FAULTY_TABLE;
	struct jp_span separator = take_table_word(&p->line);
	if (separator.len != 1 || !strchr("#.-", *separator.ptr) || !take_string(p, &frame.method) || p->line.len)
		return FAULTY_TABLE;
	frame.line = (uint32_t)line;
	frame.separator = *separator.ptr;
	return add_table_frame(p, node, &frame);
}

static int read_marker(struct table_parse *p)
{
	static const struct {
		const char *text;
		enum jp_rubyword word;
	} words[] = { { "after-gc", JP_RUBY_AFTER_GC }, { "job", JP_RUBY_JOB },   { "cut", JP_RUBY_CUT },
		      { "full", JP_RUBY_FULL },         { "busy", JP_RUBY_BUSY }, { "in-gc", JP_RUBY_IN_GC } };
	struct jp_rubyframe frame = { .word = JP_RUBY_OTHER, .path = JP_NONE, .owner = JP_NONE, .separator = '-' };
	uint64_t node, count;
	if (!take_nodes(p, &node, &frame))
		return FAULTY_TABLE;
	struct jp_span word = take_table_word(&p->line);
	if (!word.len || memchr(word.ptr, '\0', word.len) || !take_decimal(&p->line, UINT32_MAX, &count))
		return FAULTY_TABLE;
	for (size_t i = 0; i < jp_count(words); i++)
		frame.word = is_table_word(word, words[i].text) ? words[i].word : frame.word;
	frame.line = (uint32_t)count;
	frame.method = jp_intern(&p->table->texts, word.ptr, word.len);
	return frame.method == JP_NONE ? JPROF_E_NOMEM : add_table_frame(p, node, &frame);
}

/* ---- objects in slots ------------------------------------------------------------------------------------ */

static int read_slot_rate(struct table_parse *p)
{
	uint64_t rate;
	if (p->table->slot_rate || !take_decimal(&p->line, most_slot_rate, &rate) || !rate)
		return FAULTY_TABLE;
	p->table->slot_rate = (uint32_t)rate;
	return GOOD;
}

/* A node without a line is one whose stack is not known. */
static uint32_t frame_place(const struct jp_rubytable *t, uint64_t node)
{
	return node < t->node_count ? t->places[node] : JP_NONE;
}

static int read_slot_sample(struct table_parse *p)
{
	enum { most_size = 65535, most_type = 31 };
	struct jp_rubytable *t = p->table;
	struct jp_rubyslot slot;
	uint64_t node, tag, epoch, type, bytes, size;
	if (!t->slot_rate || t->slot_count == most_slots || !take_table_hex(&p->line, &slot.address) ||
	    !take_decimal(&p->line, most_nodes, &node) || !take_decimal(&p->line, most_tags, &tag) ||
	    !take_decimal(&p->line, UINT32_MAX, &epoch) || !take_decimal(&p->line, most_type, &type) ||
	    !take_string(p, &slot.class) || !take_decimal(&p->line, most_size, &bytes) || !bytes ||
	    !take_decimal(&p->line, most_size, &size) || !size || p->line.len)
		return FAULTY_TABLE;
	if (jp_array_push(t->slots, t->slot_count, t->slot_cap))
		return JPROF_E_NOMEM;
	slot.frame = frame_place(t, node);
	slot.tag = (uint32_t)tag;
	slot.epoch = (uint32_t)epoch;
	slot.type = (uint32_t)type;
	slot.slot = (uint32_t)bytes;
	slot.size = (uint32_t)size;
	slot.moved = 0;
	t->slots[t->slot_count++] = slot;
	return GOOD;
}

/* Of the sample before it. */
static int read_moved(struct table_parse *p)
{
	enum { most_moved = 2048 };
	struct jp_rubytable *t = p->table;
	uint64_t bytes;
	if (!t->slot_count || !take_decimal(&p->line, most_moved, &bytes) || p->line.len)
		return FAULTY_TABLE;
	t->slots[t->slot_count - 1].moved = (uint32_t)bytes;
	return GOOD;
}

static double chance_of_slot(const struct jp_rubytable *t, const struct jp_rubyslot *slot)
{
	return -expm1(-(double)slot->size / t->slot_rate);
}

double jp_rubytable_slot_bytes(const struct jp_rubytable *t, const struct jp_rubyslot *slot)
{
	return slot->slot / chance_of_slot(t, slot);
}

/* Each sample was drawn by itself, with its own probability: the variance of the sum is estimated without bias by that
 * of Horvitz and Thompson. */
struct jp_rubyslot_sum jp_rubytable_slot_sum(const struct jp_rubytable *t)
{
	struct jp_rubyslot_sum sum = { 0 };
	for (size_t i = 0; i < t->slot_count; i++) {
		double bytes = jp_rubytable_slot_bytes(t, &t->slots[i]);
		sum.bytes += bytes;
		sum.variance += bytes * bytes * (1 - chance_of_slot(t, &t->slots[i]));
	}
	return sum;
}

static int read_table_end(struct table_parse *p)
{
	uint64_t count;
	p->ended = true;
	return take_decimal(&p->line, UINT64_MAX, &count) && count == p->table->frame_count ? GOOD : FAULTY_TABLE;
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static int read_table_line(struct table_parse *p)
{
	static const struct {
		const char *word;
		int (*read)(struct table_parse *p);
	} lines[] = { { "n", read_frame },         { "s", read_string },
		      { "t", read_tag },           { "m", read_marker },
		      { "process", read_process }, { "dump", read_sum },
		      { "ids", read_ids },         { "ruby", read_ruby },
		      { "bounds", read_bounds },   { "interpreter", read_interpreter },
		      { "time", read_time },       { "start", read_start },
		      { "e", read_epoch },         { "directory", read_directory },
		      { "o", read_slot_sample },   { "slots", read_slot_rate },
		      { "b", read_moved },         { "end", read_table_end } };
	struct jp_span word = take_table_word(&p->line);
	if (p->ended)
		return FAULTY_TABLE;
	for (size_t i = 0; i < jp_count(lines); i++)
		if (is_table_word(word, lines[i].word))
			return lines[i].read(p);
	return GOOD;
}

static int check_version(struct jp_reader *reader, const char *name, struct jprof_error *err)
{
	struct jp_span line = { 0 };
	uint64_t version;
	if (!jp_reader_line(reader, &line) || !jp_span_text(&line, "jprof-table ") ||
	    jp_span_decimal(&line, &version) != JP_NUMBER_OK || line.len)
		return jp_error(err, JPROF_E_FORMAT, name, 0, "is no table of Ruby stacks");
	if (version != 1)
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0,
		                "is a table of version %llu, and this jprof reads 1: take a newer jprof",
		                (unsigned long long)version);
	return 0;
}

static int read_ruby_table(struct table_parse *p, struct jp_reader *reader, const char *name, struct jprof_error *err)
{
	int rc = check_version(reader, name, err);
	if (rc)
		return rc;
	while (rc == GOOD && jp_reader_line(reader, &p->line) && !reader->cut)
		rc = read_table_line(p);
	if (rc == JPROF_E_NOMEM)
		return jp_error_nomem(err);
	if (rc == FAULTY_TABLE)
		return jp_error(err, JPROF_E_FORMAT, name, reader->line, "is no line of a table of Ruby stacks");
	if (!p->ended || reader->cut)
		return jp_error(err, JPROF_E_FORMAT, name, 0, "is cut: a table of Ruby stacks without its end");
	if (!p->has_dump || !p->has_ids)
		return jp_error(err, JPROF_E_FORMAT, name, 0, "is no whole table: it does not name its dump");
	return 0;
}

int jp_rubytable_parse(const void *data, size_t len, const char *name, struct jp_rubytable **out,
                       struct jprof_error *err)
{
	struct table_parse p = { .table = calloc(1, sizeof *p.table) };
	struct jp_reader reader;
	if (!p.table || !(p.table->boot = strdup("")) || !(p.table->why = strdup(""))) {
		jp_rubytable_free(p.table);
		return jp_error_nomem(err);
	}
	jp_reader_init(&reader, data, len);
	int rc = len > jp_rubytable_limit
	             ? jp_error(err, JPROF_E_FORMAT, name, 0, "is larger than a table of Ruby stacks can be")
	             : read_ruby_table(&p, &reader, name, err);
	free(p.strings);
	jp_strbuf_release(&p.text);
	if (rc)
		jp_rubytable_free(p.table);
	else
		*out = p.table;
	return rc;
}

uint32_t jp_rubytable_frame(const struct jp_rubytable *t, uint64_t number)
{
	uint64_t node = number - t->nodes;
	return number >= t->nodes && number < t->tags && node < t->node_count ? t->places[node] : JP_NONE;
}

const struct jp_rubyepoch *jp_rubytable_epoch(const struct jp_rubytable *t, uint32_t number)
{
	size_t i = jp_count_below(t->spans, t->span_count, sizeof *t->spans, number);
	return i < t->span_count && t->spans[i].number == number ? &t->spans[i] : NULL;
}

const struct jp_rubytag *jp_rubytable_tag(const struct jp_rubytable *t, uint64_t number)
{
	uint64_t tag = number - t->tags;
	bool known = number >= t->tags && number < t->epochs && tag < t->mark_count && t->marks[tag].text != JP_NONE;
	return known ? &t->marks[tag] : NULL;
}

const char *jp_rubytable_text(const struct jp_rubytable *t, uint32_t id)
{
	return id == JP_NONE ? "" : jp_intern_get(&t->texts, id);
}

void jp_rubytable_free(struct jp_rubytable *t)
{
	if (!t)
		return;
	jp_intern_release(&t->texts);
	free(t->frames);
	free(t->places);
	free(t->spans);
	free(t->marks);
	free(t->slots);
	free(t->boot);
	free(t->directory);
	free(t->why);
	free(t);
}
