#include "dottext.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

static bool is_bytes(const struct dot_opts *opts)
{
	return opts->view->counter == JPROF_INUSE_SPACE || opts->view->counter == JPROF_ALLOC_SPACE;
}

void dot_value(char text[dot_cell], double value, const struct dot_opts *opts)
{
	static const char *const units[] = { "B", "KB", "MB", "GB", "TB", "PB" };
	size_t unit = 0;
	if (!is_bytes(opts)) {
		snprintf(text, dot_cell, "%.0f object%s", trunc(value) + 0.0, fabs(trunc(value)) == 1 ? "" : "s");
		return;
	}
	for (; !opts->show_bytes && fabs(value) >= 1023.95 && unit + 1 < sizeof units / sizeof *units; unit++)
		value /= 1024;
	snprintf(text, dot_cell, unit ? "%.1f %s" : "%.0f %s", unit ? value : trunc(value) + 0.0, units[unit]);
}

void dot_change(char text[dot_cell], double value, const struct dot_opts *opts)
{
	char plain[dot_cell];
	dot_value(plain, value, opts);
	if (value == 0)
		snprintf(text, dot_cell, "unchanged");
	else
		snprintf(text, dot_cell, "%s%.40s %s", value > 0 ? "+" : "", plain, value > 0 ? "grew" : "shrank");
}

/* `backslash` is what stands for one. */
static void put_markup(FILE *out, const char *s, size_t len, const char *backslash)
{
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = jprof_visible_len(s + i, len - i);
		switch (n ? s[i] : 0) {
		case 0: fprintf(out, "%sx%02x", backslash, (unsigned char)s[i]); break;
		case '\\': fputs(backslash, out); break;
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		default: fwrite(s + i, 1, n, out);
		}
	}
}

void dot_put_xml(FILE *out, const char *s, size_t len)
{
	put_markup(out, s, len, "\\");
}

void dot_put_html(FILE *out, const char *s, size_t len)
{
	put_markup(out, s, len, "\\\\");
}

void dot_put_escaped(FILE *out, const char *s)
{
	size_t len = strlen(s);
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = jprof_visible_len(s + i, len - i);
		switch (n ? s[i] : 0) {
		case 0: fprintf(out, "\\\\x%02x", (unsigned char)s[i]); break;
		case '&': fputs("&amp;", out); break;
		case '\\': fputs("\\\\", out); break;
		default: fwrite(s + i, 1, n, out);
		}
	}
}

/* Whether a line may end before name[at]; the weak joints serve where there is no other. */
static bool is_joint(const char *name, size_t at, bool weak)
{
	char before = name[at - 1], after = name[at];
	if (weak)
		return strchr("_.-", before) && !strchr("_.-", after);
	if (before == ':')
		return at > 1 && name[at - 2] == ':';
	if (before == '<' && at > 1 && name[at - 2] == ' ') /* Ruby's <main> */
		return false;
	if (after == '(' || after == '[')
		return isalnum((unsigned char)before) && !(at >= 8 && !strncmp(name + at - 8, "operator", 8));
	return strchr(" ,/<;", before) || after == '!';
}

static size_t last_joint(const char *name, size_t most, bool weak)
{
	size_t at = most;
	while (at && !is_joint(name, at, weak))
		at--;
	return at;
}

size_t dot_line(const char *name, size_t columns)
{
	size_t len = strlen(name), most = columns + columns / 5;
	if (len <= most)
		return len;
	size_t at = last_joint(name, most, false);
	if (at < columns / 2)
		at = last_joint(name, columns, true);
	if (at < columns / 3)
		at = columns;
	while (at > 1 && ((unsigned char)name[at] & 0xc0) == 0x80)
		at--;
	return at;
}
