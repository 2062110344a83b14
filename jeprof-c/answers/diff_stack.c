/* Rows of a diff that are whole stacks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_text.h"
#include "cli/shortage.h"
#include "cli/terminal.h"

const char diff_caller_mark[] = " < ";
enum { stack_indent = 10 };

bool diff_has_stack_lines(const struct diff_report *r)
{
	return r->loaded->by == BY_STACK && r->lines;
}

/* One line of the callers from *at on, which is moved behind those that it has; NULL: it has the last. */
static void put_line_of_callers(FILE *out, const char **at, size_t room, bool last_line)
{
	static const char more[] = " ...";
	size_t mark = strlen(diff_caller_mark), used = 0;
	while (*at) {
		const char *begin = *at + mark, *next = strstr(begin, diff_caller_mark);
		char *name = shortage_note(strndup(begin, next ? (size_t)(next - begin) : strlen(begin)));
		size_t left = room - used - (last_line && next ? strlen(more) : 0);
		size_t wide = mark + terminal_columns(name ? name : "");
		if (used && wide > left) {
			fputs(last_line ? more : "", out);
			free(name);
			break;
		}
		fputs(used ? diff_caller_mark : "< ", out);
		terminal_put_cut(out, name ? name : "", left - mark);
		free(name);
		used += wide < left ? wide : left;
		*at = next;
	}
	fputc('\n', out);
}

void diff_put_callers(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	enum { least_room = 20 };
	size_t room = r->columns > stack_indent + least_room ? r->columns - stack_indent : least_room;
	const char *at = strstr(name_of_grown(row), diff_caller_mark);
	for (int line = 0; at && line < diff_stack_lines; line++) {
		fprintf(out, "%*s", stack_indent, "");
		put_line_of_callers(out, &at, room, line + 1 == diff_stack_lines);
	}
}
