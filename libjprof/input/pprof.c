#include "input/pprof.h"

#include <stdlib.h>

#include "base/array.h"
#include "input/protobuf.h"

enum profile_field {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING,
	DROP_FRAMES,
	KEEP_FRAMES,
	TIME_NANOS,
	DURATION_NANOS,
	PERIOD_TYPE,
	PERIOD,
	COMMENT,
	DEFAULT_SAMPLE_TYPE,
	DOC_URL,
};

#define PUSH(list) jp_array_push((list).items, (list).count, (list).cap)

/* Messages of plain numbers: each field goes to the member that `to` has for its number. A message that
 * is faulty sets message->bad. */
static void read_numbers(struct jp_bytes *message, uint64_t *const *to, size_t count)
{
	struct jp_field field;
	while (jp_field_next(message, &field))
		if (field.number < count && to[field.number] && field.wire != JP_WIRE_BYTES)
			*to[field.number] = field.value;
}

static void read_type(struct jp_bytes *message, struct jp_pprof_type *type)
{
	uint64_t *const to[] = { NULL, &type->type_s, &type->unit_s };
	read_numbers(message, to, jp_count(to));
}

static int take_type(struct jp_pprof *p, struct jp_bytes *message)
{
	struct jp_pprof_type type = { 0 };
	read_type(message, &type);
	if (message->bad)
		return 0;
	if (PUSH(p->types))
		return -1;
	p->types.items[p->types.count++] = type;
	return 0;
}

static int read_pprof_mapping(struct jp_pprof *p, struct jp_bytes *message)
{
	struct jp_pprof_mapping m = { 0 };
	uint64_t *const to[] = { NULL, &m.id, &m.start, &m.limit, &m.offset, &m.file_s, &m.build_id_s };
	read_numbers(message, to, jp_count(to));
	if (message->bad)
		return 0;
	if (PUSH(p->mappings))
		return -1;
	p->mappings.items[p->mappings.count++] = m;
	return 0;
}

static int add_function(struct jp_pprof *p, struct jp_bytes *message)
{
	struct jp_pprof_function f = { 0 };
	uint64_t *const to[] = { NULL, &f.id, &f.name_s, &f.system_s, &f.file_s };
	read_numbers(message, to, jp_count(to));
	if (message->bad)
		return 0;
	if (PUSH(p->functions))
		return -1;
	p->functions.items[p->functions.count++] = f;
	return 0;
}

static int read_pprof_line(struct jp_pprof *p, struct jp_bytes *message)
{
	uint64_t function = 0, line = 0;
	uint64_t *const to[] = { NULL, &function, &line };
	read_numbers(message, to, jp_count(to));
	if (message->bad)
		return 0;
	if (PUSH(p->lines))
		return -1;
	p->lines.items[p->lines.count++] = (struct jp_pprof_line){ function, (int64_t)line };
	return 0;
}

static int add_location(struct jp_pprof *p, struct jp_bytes *message)
{
	struct jp_pprof_location l = { .line_first = p->lines.count };
	uint64_t *const to[] = { NULL, &l.id, &l.mapping, &l.address };
	struct jp_field field;
	while (jp_field_next(message, &field)) {
		if (field.number < jp_count(to) && to[field.number])
			*to[field.number] = field.value;
		if (field.number == 4 && field.wire == JP_WIRE_BYTES && read_pprof_line(p, &field.bytes))
			return -1;
		message->bad = message->bad || field.bytes.bad;
	}
	l.line_count = p->lines.count - l.line_first;
	if (message->bad)
		return 0;
	if (PUSH(p->locations))
		return -1;
	p->locations.items[p->locations.count++] = l;
	return 0;
}

static int add_label(struct jp_pprof *p, struct jp_bytes *message)
{
	struct jp_pprof_label l = { 0 };
	uint64_t num = 0;
	uint64_t *const to[] = { NULL, &l.key_s, &l.str_s, &num, &l.unit_s };
	read_numbers(message, to, jp_count(to));
	l.num = (int64_t)num;
	if (message->bad)
		return 0;
	if (PUSH(p->labels))
		return -1;
	p->labels.items[p->labels.count++] = l;
	return 0;
}

static int add_ids(struct jp_pprof *p, struct jp_field *field)
{
	uint64_t id;
	while (jp_field_number(field, &id)) {
		if (PUSH(p->ids))
			return -1;
		p->ids.items[p->ids.count++] = id;
	}
	return 0;
}

static int read_pprof_values(struct jp_pprof *p, struct jp_field *field)
{
	uint64_t value;
	while (jp_field_number(field, &value)) {
		if (PUSH(p->values))
			return -1;
		p->values.items[p->values.count++] = (int64_t)value;
	}
	return 0;
}

static int read_pprof_sample(struct jp_pprof *p, struct jp_bytes *message)
{
	struct jp_pprof_sample s = { .id_first = p->ids.count,
		                     .value_first = p->values.count,
		                     .label_first = p->labels.count };
	struct jp_field field;
	int rc = 0;
	while (!rc && jp_field_next(message, &field)) {
		if (field.number == 1)
			rc = add_ids(p, &field);
		else if (field.number == 2)
			rc = read_pprof_values(p, &field);
		else if (field.number == 3 && field.wire == JP_WIRE_BYTES)
			rc = add_label(p, &field.bytes);
		message->bad = message->bad || field.bytes.bad;
	}
	s.id_count = p->ids.count - s.id_first;
	s.value_count = p->values.count - s.value_first;
	s.label_count = p->labels.count - s.label_first;
	if (rc || message->bad)
		return rc;
	if (PUSH(p->samples))
		return -1;
	p->samples.items[p->samples.count++] = s;
	p->uneven = !s.value_count || s.value_count != p->samples.items[0].value_count;
	return 0;
}

static int add_comments(struct jp_pprof *p, struct jp_field *field)
{
	uint64_t index;
	while (jp_field_number(field, &index)) {
		if (PUSH(p->comments))
			return -1;
		p->comments.items[p->comments.count++] = index;
	}
	return 0;
}

static int read_pprof_string(struct jp_pprof *p, const struct jp_bytes *bytes)
{
	if (PUSH(p->strings))
		return -1;
	p->strings.items[p->strings.count++] = (struct jp_span){ (const char *)bytes->data, bytes->len };
	return 0;
}

/* -1 when memory is short; a faulty message sets field->bytes.bad. */
static int add_field(struct jp_pprof *p, struct jp_field *field)
{
	switch (field->number) {
	case SAMPLE_TYPE: return take_type(p, &field->bytes);
	case SAMPLE: return p->uneven ? 0 : read_pprof_sample(p, &field->bytes);
	case MAPPING: return read_pprof_mapping(p, &field->bytes);
	case LOCATION: return add_location(p, &field->bytes);
	case FUNCTION: return add_function(p, &field->bytes);
	case STRING: return read_pprof_string(p, &field->bytes);
	case PERIOD_TYPE: read_type(&field->bytes, &p->period_type); return 0;
	case TIME_NANOS: p->time_nanos = (int64_t)field->value; return 0;
	case PERIOD: p->period = (int64_t)field->value; return 0;
	case COMMENT: return add_comments(p, field);
	default: return 0;
	}
}

/* Whether a field has the wire type that it must have; fields of later versions have any. */
static bool is_wire_right(const struct jp_field *field)
{
	switch (field->number) {
	case SAMPLE_TYPE:
	case SAMPLE:
	case MAPPING:
	case LOCATION:
	case FUNCTION:
	case STRING:
	case PERIOD_TYPE: return field->wire == JP_WIRE_BYTES;
	case COMMENT: return field->wire == JP_WIRE_BYTES || field->wire == JP_WIRE_VARINT;
	case DROP_FRAMES:
	case KEEP_FRAMES:
	case TIME_NANOS:
	case DURATION_NANOS:
	case PERIOD:
	case DEFAULT_SAMPLE_TYPE:
	case DOC_URL: return field->wire == JP_WIRE_VARINT;
	default: return true;
	}
}

/* Text is told apart by its second or third byte at the latest: it makes no sense as keys. The first
 * fields must be known ones, right in type, and the last may be cut. */
bool jp_pprof_probe(const void *data, size_t len)
{
	enum { enough = 8 };
	struct jp_bytes message = { .data = data, .len = len };
	struct jp_field field = { 0 };
	int fields = 0;
	while (fields < enough && jp_field_next(&message, &field)) {
		if (field.number > DOC_URL || !is_wire_right(&field))
			return false;
		fields++;
	}
	bool cut = message.bad && field.number >= SAMPLE_TYPE && field.number <= DOC_URL && is_wire_right(&field);
	return fields >= 2 ? fields == enough || !message.bad || cut : fields == 1 && cut;
}

int jp_pprof_parse(const void *data, size_t len, struct jp_pprof *p)
{
	struct jp_bytes message = { .data = data, .len = len };
	struct jp_field field;
	size_t at = 0;
	*p = (struct jp_pprof){ 0 };
	while (jp_field_next(&message, &field)) {
		bool right = is_wire_right(&field);
		if (right && add_field(p, &field))
			return -1;
		if (!right || field.bytes.bad) {
			message.bad = true;
			break;
		}
		at = message.pos;
	}
	p->cut = message.bad;
	p->cut_at = at;
	return 0;
}

bool jp_pprof_string(const struct jp_pprof *p, uint64_t index, struct jp_span *string)
{
	*string = (struct jp_span){ "", 0 };
	if (index && index >= p->strings.count)
		return false;
	if (index)
		*string = p->strings.items[index];
	return true;
}

void jp_pprof_release(struct jp_pprof *p)
{
	free(p->strings.items);
	free(p->types.items);
	free(p->mappings.items);
	free(p->functions.items);
	free(p->locations.items);
	free(p->lines.items);
	free(p->samples.items);
	free(p->ids.items);
	free(p->values.items);
	free(p->labels.items);
	free(p->comments.items);
	*p = (struct jp_pprof){ 0 };
}
