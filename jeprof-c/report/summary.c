#include "report/summary.h"

#include <math.h>
#include <string.h>

#include "cli/terminal.h"
#include "report/headline.h"

enum { indent = 3, most_sizes = 3 };

static double whole_shown(const struct jprof_view *view)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	return info->percent_of != 0 ? info->percent_of : info->flat;
}

/* How many columns the chain takes with its first row, if that is wanted, and its inner ones from `from` on. */
static size_t chain_columns(const struct jprof_path *path, bool outer, size_t from)
{
	static const size_t arrow = 3; /* " > " */
	size_t columns = outer ? terminal_columns(path->names[0]) + arrow : 0;
	columns += from > (outer ? 1 : 0) ? 3 + arrow : 0; /* "... > " */
	for (size_t i = from; i < path->count; i++)
		columns += terminal_columns(path->names[i]) + (i > from ? arrow : 0);
	return columns;
}

/* The rows from the outermost to the innermost: what does not fit goes out of the middle. */
static void write_chain(FILE *to, const struct jprof_path *path, unsigned columns)
{
	size_t room = columns > indent ? columns - indent : 1, from = path->count - 1;
	bool outer = path->count > 1 && chain_columns(path, true, from) <= room;
	while (from > (outer ? 1 : 0) && chain_columns(path, outer, from - 1) <= room)
		from--;
	fprintf(to, "%*s", indent, "");
	if (outer) {
		terminal_put_cut(to, path->names[0], room);
		fputs(" > ", to);
	}
	if (from > (outer ? 1 : 0) && chain_columns(path, outer, from) <= room)
		fputs("... > ", to);
	for (size_t i = from; i < path->count; i++) {
		terminal_put_cut(to, path->names[i], room);
		fputs(i + 1 < path->count ? " > " : "\n", to);
	}
}

/* One row alone is the first of the table, or is to be found there. */
static int write_path(FILE *to, const struct jprof_view *view, const struct options *o, unsigned columns)
{
	struct jprof_path *path;
	char amount[headline_amount_most];
	if (jprof_path_new(view, &path, NULL))
		return -1;
	int lines = path && path->count > 1 ? 2 : 0;
	if (lines) {
		char line[128];
		headline_amount(amount, view, o, path->value);
		snprintf(line, sizeof line, "biggest path   %s (%.1f %%)", amount,
		         path->value * 100 / whole_shown(view));
		size_t len = strlen(line);
		if (path->tag && path->value != 0)
			snprintf(line + len, sizeof line - len, ", %.0f %% of it for ",
			         path->tag_value * 100 / path->value);
		fputs(line, to);
		if (line[len])
			terminal_put_cut(to, path->tag, columns > strlen(line) ? columns - strlen(line) : 1);
		fputs("\n", to);
		write_chain(to, path, columns);
	}
	jprof_path_free(path);
	return lines;
}

static void put_size_name(char text[32], double limit)
{
	static const char *const units[] = { "bytes", "KB", "MB", "GB" };
	unsigned unit = 0;
	for (; limit >= 1024 && unit < 3; unit++)
		limit /= 1024;
	snprintf(text, 32, "%.4g %s", limit, units[unit]);
}

/* The place of the largest below a value, or among equal ones behind a place; the count: there is none. */
static size_t next_size(const struct jprof_sizes *sizes, bool bytes, size_t before)
{
	size_t count = jprof_sizes_count(sizes), best = count;
	const struct jprof_size *last = jprof_sizes_at(sizes, before);
	double limit = last ? bytes ? last->bytes : last->objects : INFINITY, most = 0;
	for (size_t i = 0; i < count; i++) {
		const struct jprof_size *size = jprof_sizes_at(sizes, i);
		double value = bytes ? size->bytes : size->objects;
		if (size->limit > 0 && value > most && (value < limit || (value == limit && i > before))) {
			best = i;
			most = value;
		}
	}
	return best;
}

static int write_sizes(FILE *to, const struct jprof_view *view, unsigned columns)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	bool bytes = info->counter == JPROF_INUSE_SPACE || info->counter == JPROF_ALLOC_SPACE;
	struct jprof_sizes *sizes;
	double whole = whole_shown(view), rest = whole;
	static const char others[] = " others 100 %: --sizes";
	char text[256] = "object sizes  ", name[32], item[64];
	if (jprof_sizes_new(view, &sizes, NULL))
		return -1;
	size_t count = jprof_sizes_count(sizes), at = count, shown = 0;
	for (; shown < most_sizes && (at = next_size(sizes, bytes, at)) < count; shown++) {
		const struct jprof_size *size = jprof_sizes_at(sizes, at);
		double value = bytes ? size->bytes : size->objects;
		put_size_name(name, size->limit);
		size_t len = (size_t)snprintf(item, sizeof item, " %s %.0f %%,", name, value * 100 / whole);
		if (shown && strlen(text) + len + sizeof others - 1 > columns)
			break;
		strncat(text, item, sizeof text - strlen(text) - 1);
		rest -= value;
	}
	jprof_sizes_free(sizes);
	if (!count)
		return 0;
	size_t len = strlen(text);
	if (count > shown)
		snprintf(text + len, sizeof text - len, " others %.0f %%: --sizes", rest * 100 / whole);
	else
		text[len - 1] = '\0';
	terminal_put_cut(to, text, columns);
	fputs("\n", to);
	return 1;
}

int summary_write(FILE *to, const struct jprof_view *view, const struct options *o, unsigned columns)
{
	if (jprof_view_info(view)->difference || !(whole_shown(view) > 0))
		return 0;
	int path = write_path(to, view, o, columns), sizes = path < 0 ? -1 : write_sizes(to, view, columns);
	return sizes < 0 ? -1 : path + sizes;
}
