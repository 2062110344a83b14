/* Rows of a diff that are whole stacks. */
#include <string.h>

#include "answers/diff_text.h"

const char diff_caller_mark[] = " < ";
enum { stack_indent = 10, stack_names_most = 1 << 14 };

bool diff_has_stack_lines(const struct diff_report *r)
{
	return r->options->by == BY_STACK && r->lines;
}

void diff_put_callers(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	char shown[stack_names_most];
	jprof_visible(name_of_grown(row), shown, sizeof shown);
	const char *at = strstr(shown, diff_caller_mark);
	for (int line = 0; at && line < diff_stack_lines; line++) {
		unsigned used = stack_indent;
		fprintf(out, "%*s", stack_indent, "");
		for (bool first = true; at; first = false) {
			const char *name = at + strlen(diff_caller_mark), *next = strstr(name, diff_caller_mark);
			size_t len = next ? (size_t)(next - name) : strlen(name);
			bool last_line = line + 1 == diff_stack_lines;
			size_t wide = len + strlen(diff_caller_mark),
			       room = r->columns - used - (last_line && next ? 4 : 0);
			if (wide > room && !first) {
				fputs(last_line ? " ..." : "", out);
				break;
			}
			if (wide > room)
				len = room - strlen(diff_caller_mark);
			fprintf(out, "%s%.*s", first ? "< " : diff_caller_mark, (int)len, name);
			used += (unsigned)(len + strlen(diff_caller_mark));
			at = next;
		}
		fputc('\n', out);
	}
}
