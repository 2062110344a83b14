#include "cli/jsonprint.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shortage.h"
#include "jprof.h"

static void put_quoted(FILE *out, const char *text)
{
	char *quoted = shortage_note(jprof_json_text(text));
	fputs(quoted ? quoted : "null", out);
	free(quoted);
}

static void put_double(FILE *out, bool fixed, int digits, double value)
{
	if (!isfinite(value))
		fputs("null", out);
	else if (fixed)
		fprintf(out, "%.*f", digits, digits ? value : rint(value) + 0.0); /* no -0 */
	else
		fprintf(out, "%.*g", digits, value);
}

/* One conversion, from behind its "%"; returns its end. */
static const char *put_conversion(FILE *out, const char *spec, va_list *args)
{
	int digits = *spec == '.' ? spec[1] - '0' : -1;
	spec += digits < 0 ? 0 : 2;
	switch (*spec) {
	case 's': put_quoted(out, va_arg(*args, const char *)); break;
	case 'f': put_double(out, true, digits < 0 ? 0 : digits, va_arg(*args, double)); break;
	case 'g': put_double(out, false, digits < 0 ? 6 : digits, va_arg(*args, double)); break;
	case 'i': fputs(va_arg(*args, int) ? "true" : "false", out); break;
	case 'u': fprintf(out, "%u", va_arg(*args, unsigned)); break;
	case 'd': fprintf(out, "%d", va_arg(*args, int)); break;
	case 'z': fprintf(out, "%zu", va_arg(*args, size_t)); return spec + 2;
	}
	return spec + 1;
}

static void print_values(FILE *out, const char *fmt, va_list *args)
{
	while (*fmt) {
		size_t plain = strcspn(fmt, "%");
		fwrite(fmt, 1, plain, out);
		fmt += plain;
		if (*fmt)
			fmt = put_conversion(out, fmt + 1, args);
	}
}

void json_print(FILE *out, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	print_values(out, fmt, &args);
	va_end(args);
}

void json_print_at(FILE *out, size_t i, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	fputs(i ? ", " : "", out);
	print_values(out, fmt, &args);
	va_end(args);
}
