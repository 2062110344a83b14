/* profile.proto, gzip'd: github.com/google/pprof/blob/main/proto/profile.proto. Ids count up from 1 in the
 * order of first use, which Parca asks for; the first mapping is the main program's, which pprof takes for
 * the profile's name; the default sample type is also the last one, as older pprofs take it. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "model/fileproof.h"
#include "render/render.h"
#include "statistics/scaling.h"

/* Field numbers of the messages. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME_NANOS = 9,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE,
};
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR, LABEL_NUM, LABEL_NUM_UNIT };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_INLINE_FRAMES = 10 };

struct out_mapping {
	uint64_t start, limit, offset;
	uint32_t object;
	bool nameless; /* some location in it was not looked up */
};

struct mapping_key {
	uint32_t object, index;
	uint64_t start;
};

struct proto_writer {
	const struct jprof_profile *profile; /* what is told of it as a whole */
	const struct jp_code *code;
	const struct jprof_view *view; /* NULL: all locations and their addresses are wanted and no samples, to be read
	                                  back beside the dump */
	bool normalize;
	bool has_alloc;
	double sum[JPROF_COUNTERS]; /* of the samples so far, before rounding */
	struct jp_intern strings;
	struct out_mapping *mappings; /* in order of ids */
	size_t mapping_count, mapping_cap;
	bool *mapped;                  /* objects that have one of them */
	struct mapping_key *by_object; /* the profile's mappings, sorted */
	uint32_t *mapping_id;          /* of each of the profile's mappings; 0: none yet, here and below */
	uint32_t *image_id;            /* of each object, for addresses in the file */
	uint32_t *location_id;         /* of each location, by its first frame: folding may have taken off some */
	uint32_t *function_id;
	uint32_t location_count, function_count;
	struct jp_strbuf samples, locations, functions; /* the profile's fields of that kind */
	struct jp_strbuf message, inner, packed;        /* for reuse */
	bool failed;
};

/* ---- the wire format ------------------------------------------------------------------------- */

/* 0 is what a missing field means. */
static void put_number_field(struct jp_strbuf *out, unsigned field, uint64_t value)
{
	if (!value)
		return;
	jp_strbuf_uleb(out, field << 3);
	jp_strbuf_uleb(out, value);
}

/* Puts a finished message in its place; it is empty again. */
static void put_message(struct proto_writer *w, struct jp_strbuf *out, unsigned field, struct jp_strbuf *message)
{
	jp_strbuf_uleb(out, field << 3 | 2);
	jp_strbuf_uleb(out, message->len);
	jp_strbuf_add(out, message->text, message->len);
	w->failed = w->failed || message->failed;
	jp_strbuf_cut(message, 0);
}

static uint64_t string_of(struct proto_writer *w, const char *text)
{
	uint32_t id = jp_intern_str(&w->strings, text);
	if (id == JP_NONE)
		w->failed = true;
	return id == JP_NONE ? 0 : id;
}

/* ---- mappings ----------------------------------------------------------------------------------- */

static uint32_t add_mapping(struct proto_writer *w, struct out_mapping mapping)
{
	if (jp_array_push(w->mappings, w->mapping_count, w->mapping_cap)) {
		w->failed = true;
		return 0;
	}
	w->mappings[w->mapping_count++] = mapping;
	w->mapped[mapping.object] = true;
	return (uint32_t)w->mapping_count;
}

/* The mapping that stands for a whole object file. */
static uint32_t image_mapping(struct proto_writer *w, uint32_t object)
{
	if (!w->image_id[object])
		w->image_id[object] = add_mapping(w, (struct out_mapping){ .limit = UINT64_MAX, .object = object });
	return w->image_id[object];
}

static uint32_t real_mapping(struct proto_writer *w, uint32_t index)
{
	const struct jprof_map *map = &w->code->mappings[index].map;
	struct out_mapping mapping = { map->start, map->limit, map->offset, w->code->mappings[index].object, false };
	if (!w->mapping_id[index])
		w->mapping_id[index] = add_mapping(w, mapping);
	return w->mapping_id[index];
}

static int by_object_and_start(const void *a, const void *b)
{
	const struct mapping_key *x = a, *y = b;
	return jp_order_by(x->object, y->object, jp_order_by(x->start, y->start, jp_order(x->index, y->index)));
}

static int sort_mappings(struct proto_writer *w)
{
	size_t count = w->code->mapping_count;
	w->by_object = calloc(count + 1, sizeof *w->by_object);
	for (size_t i = 0; w->by_object && i < count; i++) {
		const struct jp_mapping *m = &w->code->mappings[i];
		w->by_object[i] = (struct mapping_key){ m->object, (uint32_t)i, m->map.start };
	}
	if (w->by_object && count)
		qsort(w->by_object, count, sizeof *w->by_object, by_object_and_start);
	return w->by_object ? 0 : -1;
}

/* The mapping of the object in which the address lies; of several processes' mappings the nearest. */
static bool find_mapping(const struct proto_writer *w, uint32_t object, uint64_t address, uint32_t *index)
{
	enum { look_back = 16 };
	size_t lo = 0, hi = w->code->mapping_count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct mapping_key *key = &w->by_object[mid];
		if (key->object < object || (key->object == object && key->start <= address))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i-- > 0 && lo - i <= look_back && w->by_object[i].object == object;) {
		const struct jprof_map *map = &w->code->mappings[w->by_object[i].index].map;
		*index = w->by_object[i].index;
		if (address < map->limit && (map->executable || !w->view))
			return true;
	}
	return false;
}

static void put_main_mapping(struct proto_writer *w)
{
	const struct jp_code *code = w->code;
	uint32_t object = jp_code_program(code);
	if (object == JP_NONE)
		return;
	for (size_t i = 0; i < code->mapping_count && !w->normalize; i++)
		if (code->mappings[i].object == object && code->mappings[i].map.executable) {
			real_mapping(w, (uint32_t)i);
			return;
		}
	image_mapping(w, object);
}

static void put_mappings(struct proto_writer *w, struct jp_strbuf *out)
{
	for (size_t i = 0; i < w->mapping_count; i++) {
		const struct out_mapping *m = &w->mappings[i];
		const uint64_t numbers[] = { i + 1,
			                     m->start,
			                     m->limit,
			                     m->offset,
			                     string_of(w, jp_code_object(w->code, m->object)),
			                     string_of(w, jp_fileproof_ran(w->code, m->object)) };
		for (size_t n = 0; n < jp_count(numbers); n++)
			put_number_field(&w->message, (unsigned)n + 1, numbers[n]);
		/* What jprof could not name pprof must not name by the nearest symbol. */
		for (unsigned f = MAPPING_HAS_FUNCTIONS; f <= MAPPING_HAS_INLINE_FRAMES && !m->nameless; f++)
			put_number_field(&w->message, f, 1);
		put_message(w, out, PROFILE_MAPPING, &w->message);
	}
}

/* ---- functions and locations --------------------------------------------------------------------- */

/* pprof takes a name that is equal to the linker's for one of C++ and removes "<...>": of "<main>" nothing is left, and
 * "Object#" of "Object#<=>". Of such a name the linker's is left out; who reads it has the name for both. */
static const char *system_name_for_pprof(const struct jp_code *code, const struct jp_function *f, const char *shown)
{
	const char *system = jp_code_string(code, f->system);
	return strchr(shown, '<') && !strcmp(system, shown) ? "" : system;
}

static uint32_t proto_function(struct proto_writer *w, uint32_t function)
{
	const struct jp_function *f = &w->code->functions[function];
	uint32_t *id = &w->function_id[function];
	if (*id)
		return *id;
	*id = ++w->function_count;
	uint32_t shown = *jp_code_string(w->code, f->brief) ? f->brief : f->name;
	put_number_field(&w->inner, 1, *id);
	put_number_field(&w->inner, 2, string_of(w, jp_code_string(w->code, shown)));
	put_number_field(&w->inner, 3, string_of(w, system_name_for_pprof(w->code, f, jp_code_string(w->code, shown))));
	put_number_field(&w->inner, 4, string_of(w, jp_code_string(w->code, f->file)));
	put_message(w, &w->functions, PROFILE_FUNCTION, &w->inner);
	return *id;
}

/* Where pprof is told that a location lies. */
static void place(struct proto_writer *w, const struct jp_location *l, uint32_t *mapping, uint64_t *address)
{
	const struct jp_object *o = &w->code->objects[l->object];
	uint32_t index;
	*mapping = 0;
	*address = l->address;
	if (l->source == JPROF_SOURCE_RUBY && w->view)
		*mapping = image_mapping(w, l->object); /* by which it is known when it is read back */
	if (o->unmapped || (l->given && !l->address))
		return;
	if (!w->normalize && !o->image && find_mapping(w, l->object, l->address, &index)) {
		*mapping = real_mapping(w, index);
		return;
	}
	if (!w->view)
		return;
	*mapping = image_mapping(w, l->object);
	uint64_t vaddr = jp_code_vaddr(w->code, l);
	*address = vaddr && !o->image ? vaddr : l->offset;
}

/* A location with the `count` frames from `first` on. */
static uint32_t proto_location(struct proto_writer *w, const struct jp_location *l, uint32_t first, uint32_t count)
{
	uint32_t *id = &w->location_id[first], mapping;
	uint64_t address;
	if (*id)
		return *id;
	*id = ++w->location_count;
	place(w, l, &mapping, &address);
	put_number_field(&w->message, LOCATION_ID, *id);
	put_number_field(&w->message, LOCATION_MAPPING, mapping);
	put_number_field(&w->message, LOCATION_ADDRESS, address);
	for (uint32_t i = 0; i < count; i++) {
		const struct jp_frame *frame = &w->code->frames[first + i];
		uint32_t function = proto_function(w, frame->function);
		put_number_field(&w->inner, 1, function);
		put_number_field(&w->inner, 2, frame->line);
		put_message(w, &w->message, LOCATION_LINE, &w->inner);
	}
	put_message(w, &w->locations, PROFILE_LOCATION, &w->message);
	return *id;
}

/* ---- samples ----------------------------------------------------------------------------------------- */

/* In the order in which they are written. */
static const struct {
	const char *type, *unit;
	enum jprof_counter counter;
} types[] = {
	{ "alloc_objects", "count", JPROF_ALLOC_OBJECTS },
	{ "alloc_space", "bytes", JPROF_ALLOC_SPACE },
	{ "inuse_objects", "count", JPROF_INUSE_OBJECTS },
	{ "inuse_space", "bytes", JPROF_INUSE_SPACE },
};

static size_t first_type(const struct proto_writer *w)
{
	return w->has_alloc ? 0 : 2;
}

static int64_t whole_number(double value)
{
	if (!(fabs(value) < 0x1p63))
		return value > 0 ? INT64_MAX : value < 0 ? -INT64_MAX : 0;
	return llround(value);
}

static void put_proto_label(struct proto_writer *w, const char *key, const char *str, uint64_t num, const char *unit)
{
	put_number_field(&w->inner, LABEL_KEY, string_of(w, key));
	put_number_field(&w->inner, LABEL_STR, string_of(w, str));
	put_number_field(&w->inner, LABEL_NUM, num);
	put_number_field(&w->inner, LABEL_NUM_UNIT, string_of(w, unit));
	put_message(w, &w->message, SAMPLE_LABEL, &w->inner);
}

/* The mean size of the stack's objects, and its tag: pprof groups and filters by them. */
static void put_labels(struct proto_writer *w, uint32_t id)
{
	const struct jp_view_stack *s = &w->view->stacks[id];
	bool in_use = whole_number(jp_stack_number(w->view, id, JPROF_INUSE_OBJECTS)) > 0;
	enum jprof_counter c = in_use ? JPROF_INUSE_SPACE : JPROF_ALLOC_SPACE;
	double objects = jp_stack_number(w->view, id, jp_objects_of(c)), bytes = jp_stack_number(w->view, id, c);
	int64_t size = whole_number(objects) > 0 && bytes > 0 ? whole_number(bytes / objects) : 0;
	if (size > 0)
		put_proto_label(w, "bytes", "", (uint64_t)size, "bytes");
	if (s->thread != JP_NONE)
		put_proto_label(w, "thread", jp_code_string(w->code, s->thread), 0, "");
	const struct jp_labelled_stack *more = w->view->labelled ? &w->view->labelled[id] : NULL;
	if (more && more->worker != JP_NONE)
		put_proto_label(w, "worker", jp_code_string(w->code, more->worker), 0, "");
	if (more && more->age)
		put_proto_label(w, "age", more->age, 0, "");
	if (s->tag == JP_NONE)
		return;
	const struct jp_intern *tags = &w->view->profile->tags;
	const char *kind = jp_tag_word(jp_tag_kind(tags, s->tag));
	put_proto_label(w, "tag", jp_tag_text(tags, s->tag), 0, "");
	if (kind)
		put_proto_label(w, "tag_kind", kind, 0, "");
}

/* What is written of a stack's values: all samples sum up to the totals. False: nothing but zeros. */
static bool take_values(struct proto_writer *w, uint32_t id, int64_t value[static JPROF_COUNTERS])
{
	bool any = false;
	for (size_t t = first_type(w); t < jp_count(types); t++) {
		enum jprof_counter c = types[t].counter;
		value[c] = whole_number(jp_whole_step(&w->sum[c], jp_stack_number(w->view, id, c)));
		any = any || value[c];
	}
	return any;
}

static void put_sample(struct proto_writer *w, uint32_t id)
{
	int64_t value[JPROF_COUNTERS];
	if (!take_values(w, id, value))
		return;
	const struct jp_view_stack *s = &w->view->stacks[id];
	struct jp_strbuf sample = { 0 };
	for (uint32_t i = 0; i < s->depth; i++) {
		uint32_t count, first = jp_place_frames(w->view, s, i, &count);
		jp_strbuf_uleb(&w->packed, proto_location(w, &w->code->locations[s->places[i]], first, count));
	}
	if (s->depth)
		put_message(w, &sample, SAMPLE_LOCATION, &w->packed);
	for (size_t t = first_type(w); t < jp_count(types); t++)
		jp_strbuf_uleb(&w->packed, (uint64_t)value[types[t].counter]);
	put_message(w, &sample, SAMPLE_VALUE, &w->packed);
	put_labels(w, id);
	jp_strbuf_add(&sample, w->message.text, w->message.len);
	jp_strbuf_cut(&w->message, 0);
	put_message(w, &w->samples, PROFILE_SAMPLE, &sample);
	jp_strbuf_release(&sample);
}

/* ---- the profile --------------------------------------------------------------------------------------- */

static void put_type(struct proto_writer *w, struct jp_strbuf *out, unsigned field, const char *type, const char *unit)
{
	put_number_field(&w->inner, 1, string_of(w, type));
	put_number_field(&w->inner, 2, string_of(w, unit));
	put_message(w, out, field, &w->inner);
}

static void put_comment(struct proto_writer *w, struct jp_strbuf *out)
{
	put_number_field(out, PROFILE_COMMENT, string_of(w, w->message.text ? w->message.text : ""));
	w->failed = w->failed || w->message.failed;
	jp_strbuf_cut(&w->message, 0);
}

/* What the names are worth, in comments that pprof does not show. */
static void put_fileproofs(struct proto_writer *w, struct jp_strbuf *out)
{
	jp_strbuf_str(&w->message, w->profile->loose_addresses ? "#addresses=any" : "#addresses=calls");
	put_comment(w, out);
	for (uint32_t i = 0; i < w->code->object_count; i++)
		if (w->mapped[i] && jp_fileproof_put(w->code, i, false, &w->message)) {
			jp_strbuf_str(&w->message, jp_code_object(w->code, i));
			put_comment(w, out);
		}
}

static void put_tail(struct proto_writer *w, struct jp_strbuf *out)
{
	if (w->profile->mtime > 0)
		put_number_field(out, PROFILE_TIME_NANOS, (uint64_t)w->profile->mtime * 1000000000);
	put_type(w, out, PROFILE_PERIOD_TYPE, "space", "bytes");
	put_number_field(out, PROFILE_PERIOD, w->profile->rate);
	const struct jprof_profile_info *info = &w->profile->info;
	jp_strbuf_printf(&w->message, "jprof %s", jprof_version());
	put_comment(w, out);
	jp_strbuf_printf(&w->message, "format: %s", info->format ? info->format : "not known");
	put_comment(w, out);
	if (w->profile->rate)
		jp_strbuf_printf(&w->message, "rate: a sample every %llu bytes", (unsigned long long)w->profile->rate);
	else
		jp_strbuf_str(&w->message, "rate: not sampled, or not known");
	put_comment(w, out);
	jp_strbuf_printf(&w->message, "stacks: %zu", info->stacks);
	if (info->inputs > 1)
		jp_strbuf_printf(&w->message, " in the first of %zu profiles, added or subtracted", info->inputs);
	put_comment(w, out);
	if (w->view)
		put_fileproofs(w, out);
	bool allocs = w->view && w->view->info.counter == JPROF_ALLOC_SPACE && w->has_alloc;
	put_number_field(out, PROFILE_DEFAULT_SAMPLE_TYPE, string_of(w, allocs ? "alloc_space" : "inuse_space"));
	for (uint32_t i = 0; i < w->strings.count; i++) {
		jp_strbuf_utf8(&w->inner, jp_intern_get(&w->strings, i));
		put_message(w, out, PROFILE_STRING, &w->inner);
	}
}

/* ---- gzip -------------------------------------------------------------------------------------------------- */

/* A header without a time or a name: equal profiles are equal files. */
static int deflate_all(z_stream *z, const struct jp_strbuf *from, struct jp_strbuf *out)
{
	unsigned char chunk[1 << 14];
	size_t fed = 0;
	int status = Z_OK;
	while (status == Z_OK || status == Z_BUF_ERROR) {
		if (!z->avail_in && fed < from->len) {
			size_t n = from->len - fed < UINT_MAX ? from->len - fed : UINT_MAX;
			z->next_in = (Bytef *)from->text + fed;
			z->avail_in = (uInt)n;
			fed += n;
		}
		z->next_out = chunk;
		z->avail_out = sizeof chunk;
		status = deflate(z, fed == from->len ? Z_FINISH : Z_NO_FLUSH);
		jp_strbuf_add(out, chunk, sizeof chunk - z->avail_out);
		jp_strbuf_drain(out);
		if (out->failed)
			return -1;
	}
	return status == Z_STREAM_END ? 0 : -1;
}

static int gzip(const struct jp_strbuf *from, struct jp_strbuf *out)
{
	enum { window_and_gzip = 15 + 16, memory = 8 };
	z_stream z = { 0 };
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_and_gzip, memory, Z_DEFAULT_STRATEGY) != Z_OK)
		return -1;
	int rc = deflate_all(&z, from, out);
	deflateEnd(&z);
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

static int proto_prepare(struct proto_writer *w)
{
	const struct jp_code *code = w->code;
	w->mapping_id = calloc((size_t)code->mapping_count + 1, sizeof *w->mapping_id);
	w->image_id = calloc((size_t)code->object_count + 1, sizeof *w->image_id);
	w->location_id = calloc((size_t)code->frame_count + 1, sizeof *w->location_id);
	w->function_id = calloc((size_t)code->function_count + 1, sizeof *w->function_id);
	w->mapped = calloc((size_t)code->object_count + 1, sizeof *w->mapped);
	string_of(w, "");
	return w->mapped && w->mapping_id && w->image_id && w->location_id && w->function_id ? sort_mappings(w) : -1;
}

static void proto_release(struct proto_writer *w)
{
	jp_intern_release(&w->strings);
	jp_strbuf_release(&w->samples);
	jp_strbuf_release(&w->locations);
	jp_strbuf_release(&w->functions);
	jp_strbuf_release(&w->message);
	jp_strbuf_release(&w->inner);
	jp_strbuf_release(&w->packed);
	free(w->mappings);
	free(w->by_object);
	free(w->mapped);
	free(w->mapping_id);
	free(w->image_id);
	free(w->location_id);
	free(w->function_id);
}

static int write_all(struct proto_writer *w, struct jp_strbuf *out)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) all = { 0 };
	if (proto_prepare(w))
		return -1;
	put_main_mapping(w);
	if (w->view) {
		const struct jprof_view *v = w->view;
		for (uint32_t i = 0; i < v->stack_count; i++)
			w->has_alloc = w->has_alloc || whole_number(jp_stack_number(v, i, JPROF_ALLOC_OBJECTS)) ||
			               whole_number(jp_stack_number(v, i, JPROF_ALLOC_SPACE));
		for (uint32_t i = 0; i < v->stack_count && !w->failed; i++)
			put_sample(w, i);
	} else {
		for (uint32_t i = 0; i < w->code->location_count; i++) {
			const struct jp_location *l = &w->code->locations[i];
			if (l->source != JPROF_SOURCE_RUBY) /* a bundle has the table for these */
				proto_location(w, l, l->frame_first, l->frame_count);
		}
	}
	for (size_t t = first_type(w); t < jp_count(types); t++)
		put_type(w, &all, PROFILE_SAMPLE_TYPE, types[t].type, types[t].unit);
	jp_strbuf_add(&all, w->samples.text, w->samples.len);
	put_mappings(w, &all);
	jp_strbuf_add(&all, w->locations.text, w->locations.len);
	jp_strbuf_add(&all, w->functions.text, w->functions.len);
	put_tail(w, &all);
	if (w->failed || all.failed || w->samples.failed || w->locations.failed || w->functions.failed)
		return -1;
	return gzip(&all, out);
}

static int write_as(struct proto_writer *w, struct jp_strbuf *out, struct jprof_error *err)
{
	int rc = write_all(w, out);
	proto_release(w);
	return rc ? jp_error_nomem(err) : 0;
}

int jp_render_proto(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                    struct jprof_error *err)
{
	struct proto_writer w = {
		.profile = view->profile, .code = &view->code, .view = view, .normalize = opts->normalize
	};
	return write_as(&w, out, err);
}

int jp_render_names(const struct jprof_profile *profile, struct jp_strbuf *out, struct jprof_error *err)
{
	const struct jp_code code = jp_code_of(profile);
	struct proto_writer w = { .profile = profile, .code = &code };
	return write_as(&w, out, err);
}
