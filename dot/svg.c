#include "svg.h"

#include <stdlib.h>
#include <string.h>

#include "dotgraph.h"
#include "dottext.h"
#include "legend.h"

/* Made of svg.css and svg.js by the build, line by line. */
static const char *const style[] = {
#include "svg_css.inc"
};
static const char *const script[] = {
#include "svg_js.inc"
};

struct dress {
	const struct dot_plan *plan;
	const struct jprof_graph *graph;
	const struct dot_opts *opts;
	FILE *out;
};

static void put_svg_name(FILE *out, const char *s)
{
	dot_put_xml(out, s, strlen(s));
}

static void put_lines(FILE *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fputs(lines[i], out);
}

/* Reads "N12", a node of the graph, at *at and what must follow it. */
static bool take_svg_node(const struct dress *d, const char **at, const char *after, size_t *node)
{
	char *end;
	if (**at != 'N')
		return false;
	*node = strtoul(*at + 1, &end, 10) - 1;
	*at = end + strlen(after);
	return *node < jprof_graph_nodes(d->graph) && !strncmp(end, after, strlen(after));
}

/* The edge that is drawn from one box to another. */
static bool find_edge(const struct dress *d, size_t from, size_t to, size_t *found)
{
	from = d->plan->chains.last[from];
	for (size_t i = 0; i < jprof_graph_edges(d->graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(d->graph, i);
		if (e->from == from && e->to == to) {
			*found = i;
			return true;
		}
	}
	return false;
}

/* libgvc's titles are names of its graph: "N1", "N1&#45;&gt;N2", "cluster_3"; `at` is where one begins. */
static void put_title(const struct dress *d, const char *at)
{
	static const char cluster[] = "cluster_";
	const char *edge_at = at, *node_at = at;
	size_t node, to, edge;
	if (take_svg_node(d, &node_at, "</title>", &node)) {
		dot_describe_node(d->out, d->plan, node, put_svg_name, "\n");
	} else if (take_svg_node(d, &edge_at, "&#45;&gt;", &node) && take_svg_node(d, &edge_at, "</title>", &to)) {
		if (find_edge(d, node, to, &edge))
			dot_describe_edge(d->out, d->plan, edge, put_svg_name, "\n");
	} else if (!strncmp(at, cluster, strlen(cluster))) {
		node = strtoul(at + strlen(cluster), NULL, 10);
		if (node < jprof_graph_nodes(d->graph))
			put_svg_name(d->out, jprof_graph_node(d->graph, node)->owner);
	}
}

/* All after the root's start tag, with other titles. */
static void put_body(const struct dress *d, const char *body, const char *end)
{
	static const char open[] = "<title>", close[] = "</title>";
	bool first = true;
	for (;;) {
		const char *title = strstr(body, open), *after = title ? strstr(title, close) : NULL;
		if (!after || after > end)
			break;
		fwrite(body, 1, (size_t)(title - body), d->out);
		if (!first) { /* the first is the graph's: that of the page stands before it */
			fputs(open, d->out);
			put_title(d, title + strlen(open));
			fputs(close, d->out);
		}
		first = false;
		body = after + strlen(close);
	}
	fwrite(body, 1, (size_t)(end - body), d->out);
}

static void put_page(const struct dress *d, const char *root, const char *body, const char *end)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n", d->out);
	fwrite(root, 1, (size_t)(body - root), d->out);
	fputs("\n<title>", d->out);
	put_svg_name(d->out, d->opts->title);
	fputs(": ", d->out);
	dot_put_headline(d->out, d->graph, d->opts);
	fputs("</title>\n<style>\n", d->out);
	put_lines(d->out, style, sizeof style / sizeof *style);
	fputs("</style>", d->out);
	put_body(d, body, end);
	fputs("<script><![CDATA[\n", d->out);
	put_lines(d->out, script, sizeof script / sizeof *script);
	fputs("]]></script>\n</svg>\n", d->out);
}

int dot_dress_svg(const struct dot_plan *plan, char **data, size_t *len)
{
	struct dress d = { .plan = plan, .graph = plan->graph, .opts = plan->opts };
	const char *root = strstr(*data, "<svg"), *body = root ? strchr(root, '>') : NULL;
	char *end = *data + *len, *page = NULL;
	while (end > *data && strncmp(end, "</svg>", 6))
		end--;
	if (!body || end <= body)
		return 0; /* not as known: left as it is */
	if (!(d.out = open_memstream(&page, len)))
		return -1;
	put_page(&d, root, body + 1, end);
	bool bad = ferror(d.out);
	if (fclose(d.out) || bad) {
		free(page);
		return -1;
	}
	free(*data);
	*data = page;
	return 0;
}
