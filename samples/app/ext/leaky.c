/*
 * A C extension with a leak: Leaky.parse_row keeps every row it has ever parsed.
 *
 * The functions on the way to malloc are all static, as they are in most
 * extensions: no exported symbol names them, only the debug info does.
 */
#include <ruby.h>
#include <stdlib.h>
#include <string.h>

#define ROW_BYTES 1000
#define ROW_FIELDS 16

struct row {
	struct row *next;
	unsigned fields;
	const char *field[ROW_FIELDS];
	char text[ROW_BYTES - sizeof(struct row *) * (ROW_FIELDS + 2)];
};

static struct row *rows; /* grows for ever: the leak */

__attribute__((noinline))
static struct row *row_new(const char *text, size_t len)
{
	struct row *row = malloc(sizeof(*row));

	if (!row)
		rb_memerror();
	if (len >= sizeof(row->text))
		len = sizeof(row->text) - 1;
	memcpy(row->text, text, len);
	row->text[len] = '\0';
	row->fields = 0;
	row->next = rows;
	rows = row;
	return row;
}

__attribute__((noinline))
static struct row *tokenize(const char *text, size_t len)
{
	struct row *row = row_new(text, len);
	char *save;
	char *field = strtok_r(row->text, ",", &save);

	while (field && row->fields < ROW_FIELDS) {
		row->field[row->fields++] = field;
		field = strtok_r(NULL, ",", &save);
	}
	return row;
}

static VALUE parse_row(VALUE self, VALUE line)
{
	struct row *row;

	StringValue(line);
	row = tokenize(RSTRING_PTR(line), (size_t)RSTRING_LEN(line));
	return UINT2NUM(row->fields);
}

void Init_leaky(void)
{
	VALUE leaky = rb_define_module("Leaky");

	rb_define_singleton_method(leaky, "parse_row", parse_row, 1);
	rb_define_const(leaky, "ROW_BYTES", SIZET2NUM(sizeof(struct row)));
}
