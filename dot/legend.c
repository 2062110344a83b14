#include "legend.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "paint.h"

static const char *verb(const struct dot_opts *opts)
{
	return opts->view->counter == JPROF_ALLOC_SPACE || opts->view->counter == JPROF_ALLOC_OBJECTS ? "allocated"
	                                                                                              : "in use";
}

void dot_put_headline(FILE *out, const struct jprof_graph *graph, const struct dot_opts *opts)
{
	const struct jprof_graph_info *info = jprof_graph_info(graph);
	char total[dot_cell];
	if (info->difference)
		dot_change(total, info->total, opts);
	else
		dot_value(total, info->total, opts);
	fprintf(out, "%s %s", total, info->difference ? "in all" : verb(opts));
}

/* One line of small type. */
static void __attribute__((format(printf, 2, 3))) put_line(FILE *out, const char *fmt, ...)
{
	char text[512];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	dot_put_html(out, text, strlen(text));
	fputs("<br align=\"left\"/>", out);
}

static const char *noun(const struct dot_opts *opts, bool many)
{
	static const char *const nouns[][2] = {
		[JPROF_BY_FUNCTION] = { "function", "functions" },
		[JPROF_BY_LINE] = { "line", "lines" },
		[JPROF_BY_FILE] = { "file", "files" },
		[JPROF_BY_ADDRESS] = { "address", "addresses" },
		[JPROF_BY_LIBRARY] = { "library", "libraries" },
		[JPROF_BY_SITE] = { "line", "lines" },
		[JPROF_BY_KIND] = { "kind", "kinds" },
		[JPROF_BY_GROUP] = { "group", "groups" },
		[JPROF_BY_TAG] = { "tag", "tags" },
	};
	return nouns[opts->view->granularity][many];
}

static bool has_edge(const struct jprof_graph *graph, bool residual)
{
	for (size_t i = 0; i < jprof_graph_edges(graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(graph, i);
		if (residual ? e->residual : e->inlined)
			return true;
	}
	return false;
}

static bool has_origin(const struct jprof_graph *graph, enum jprof_origin origin)
{
	for (size_t i = 0; i < jprof_graph_nodes(graph); i++)
		if (jprof_graph_node(graph, i)->origin == origin)
			return true;
	return false;
}

/* The colours of owners, where there is Ruby. */
static void put_origins(FILE *out, const struct jprof_graph *graph)
{
	const char *before = "Ruby: ";
	for (enum jprof_origin o = JPROF_ORIGIN_APPLICATION; o <= JPROF_ORIGIN_VM; o++) {
		if (!has_origin(graph, o))
			continue;
		fprintf(out, "%s<font color=\"%s\">%s</font>", before, dot_origin(o).color, dot_origin(o).word);
		before = ", ";
	}
	if (*before == ',')
		fputs("<br align=\"left\"/>", out);
}

static void put_key(FILE *out, const struct jprof_graph *graph, const struct dot_opts *opts)
{
	if (jprof_graph_info(graph)->difference)
		put_line(out, "red grew, blue shrank; the stronger, the more");
	put_origins(out, graph);
	if (opts->cluster)
		put_line(out, "frame: whose code it is, and what that allocated itself");
	if (has_edge(graph, true))
		put_line(out, "dashed: by way of %s left out", noun(opts, true));
	if (has_edge(graph, false))
		put_line(out, "hollow arrow: inlined");
}

double dot_type_scale(const struct jprof_graph *graph)
{
	return fmin(4, fmax(1, sqrt((double)jprof_graph_nodes(graph) / 20)));
}

void dot_put_legend(FILE *out, const struct jprof_graph *graph, const struct dot_opts *opts)
{
	double scale = dot_type_scale(graph);
	fprintf(out, "<font point-size=\"%.0f\"><b>", 22 * scale);
	dot_put_headline(out, graph, opts);
	fprintf(out, "</b></font><br align=\"left\"/><font point-size=\"%.0f\">", 14 * scale);
	put_line(out, "%.400s", opts->title);
	fprintf(out, "</font><font point-size=\"%.0f\" color=\"#55524c\">", 11 * scale);
	for (size_t i = 0; i < opts->fact_count; i++)
		put_line(out, "%.500s", opts->facts[i]);
	const struct jprof_graph_info *info = jprof_graph_info(graph);
	char flat[dot_cell], limit[dot_cell];
	double share = info->scale > 0 ? info->dropped_flat * 100 / info->scale : 0;
	dot_value(flat, info->dropped_flat, opts);
	dot_value(limit, info->nodelimit < 0 ? 0 : info->nodelimit, opts);
	if (info->dropped_nodes)
		put_line(out, "left out: %zu %s with %s (%.1f %%) of their own%s%s%s", info->dropped_nodes,
		         noun(opts, info->dropped_nodes != 1), flat, share, info->nodelimit > 0 ? " (limit: " : "",
		         info->nodelimit > 0 ? limit : "", info->nodelimit > 0 ? ")" : "");
	if (info->dropped_edges)
		put_line(out, "left out: %zu of the smaller arrows", info->dropped_edges);
	put_key(out, graph, opts);
	fputs("</font><br/>", out);
}
