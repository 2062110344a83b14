#include "svg.h"

#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "legend.h"
#include "text.h"

/* Made of svg.css and svg.js by the build, line by line. */
static const char *const style[] = {
#include "svg_css.inc"
};
static const char *const script[] = {
#include "svg_js.inc"
};

struct dress {
	const struct jprof_graph *graph;
	const struct dot_opts *opts;
	FILE *out;
};

static void put_name(FILE *out, const char *s)
{
	dot_put_xml(out, s, strlen(s));
}

static void put_lines(FILE *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fputs(lines[i], out);
}

static bool same_end(const char *at, size_t i, const char *after)
{
	char text[32];
	int n = snprintf(text, sizeof text, "N%zu%s", i + 1, after);
	return !strncmp(at, text, (size_t)n);
}

/* The edge whose title begins at `at`: "N1&#45;&gt;N2</title>". Edges stand in the order of their nodes, so
 * *next, where the search begins, is nearly always right. */
static bool find_edge(const struct dress *d, const char *at, size_t *found)
{
	for (size_t i = 0; i < jprof_graph_edges(d->graph); i++) {
		const struct jprof_edge *e = jprof_graph_edge(d->graph, i);
		const char *to = strstr(at, "&gt;");
		if (same_end(at, e->from, "&#45;&gt;") && to && same_end(to + 4, e->to, "</title>")) {
			*found = i;
			return true;
		}
	}
	return false;
}

/* The text of a title that begins at `at` in libgvc's. */
static void put_title(const struct dress *d, const char *at)
{
	size_t count = jprof_graph_nodes(d->graph), number = *at == 'N' ? strtoul(at + 1, NULL, 10) - 1 : count, edge;
	const char *cluster = "cluster_";
	if (number < count && same_end(at, number, "</title>")) {
		dot_tell_node(d->out, jprof_graph_node(d->graph, number), jprof_graph_info(d->graph), d->opts->view,
		              put_name, "\n");
	} else if (number < count && find_edge(d, at, &edge)) {
		dot_tell_edge(d->out, d->graph, edge, d->opts->view, put_name, "\n");
	} else if (!strncmp(at, cluster, strlen(cluster))) {
		number = strtoul(at + strlen(cluster), NULL, 10);
		if (number < count)
			put_name(d->out, jprof_graph_node(d->graph, number)->owner);
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
	put_name(d->out, d->opts->title);
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

int dot_dress_svg(const struct jprof_graph *graph, const struct dot_opts *opts, char **data, size_t *len)
{
	struct dress d = { .graph = graph, .opts = opts };
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
