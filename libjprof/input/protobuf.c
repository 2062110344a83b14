#include "input/protobuf.h"

static void take_bytes(struct jp_bytes *message, struct jp_field *field)
{
	uint64_t len = jp_bytes_uleb(message);
	if (message->bad || len > message->len - message->pos) {
		message->bad = true;
		return;
	}
	field->bytes = (struct jp_bytes){ .data = message->data + message->pos, .len = (size_t)len };
	message->pos += (size_t)len;
}

bool jp_field_next(struct jp_bytes *message, struct jp_field *field)
{
	if (message->bad || message->pos == message->len)
		return false;
	uint64_t key = jp_bytes_uleb(message);
	*field = (struct jp_field){ .number = key >> 3, .wire = key & 7 };
	switch (key & 7) {
	case JP_WIRE_VARINT: field->value = jp_bytes_uleb(message); break;
	case JP_WIRE_FIXED64: field->value = jp_bytes_uint(message, 8); break;
	case JP_WIRE_FIXED32: field->value = jp_bytes_uint(message, 4); break;
	case JP_WIRE_BYTES: take_bytes(message, field); break;
	default: message->bad = true;
	}
	if (!field->number)
		message->bad = true;
	return !message->bad;
}

bool jp_field_number(struct jp_field *field, uint64_t *value)
{
	if (field->wire != JP_WIRE_BYTES) {
		*value = field->value;
		if (field->bytes.pos)
			return false;
		field->bytes.pos = 1; /* there is only the one */
		return true;
	}
	if (field->bytes.bad || field->bytes.pos == field->bytes.len)
		return false;
	*value = jp_bytes_uleb(&field->bytes);
	return !field->bytes.bad;
}
