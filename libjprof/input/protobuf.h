/* Protocol buffers' wire format, bounded: protobuf.dev/programming-guides/encoding. A message is a row of
 * fields, each a key (number * 8 + wire type) and a value; nothing says where it ends but its length. */
#pragma once

#include "base/reader.h"

enum jp_wire { JP_WIRE_VARINT = 0, JP_WIRE_FIXED64 = 1, JP_WIRE_BYTES = 2, JP_WIRE_FIXED32 = 5 };

struct jp_field {
	uint64_t number;
	enum jp_wire wire;
	uint64_t value;        /* of all but JP_WIRE_BYTES */
	struct jp_bytes bytes; /* of JP_WIRE_BYTES: a message, a string, or packed numbers */
};

/* The next field of a message. False at its end, and where it is faulty: message->bad is set then. */
bool jp_field_next(struct jp_bytes *message, struct jp_field *field);

/* The next number of a repeated field, which comes alone or packed; call until false. A faulty one sets
 * field->bytes.bad. */
bool jp_field_number(struct jp_field *field, uint64_t *value);
