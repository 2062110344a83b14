#include "report/cmd_graph.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "report/allformats.h"
#include "report/browser.h"
#include "report/picturechild.h"

/* ---- The legend's lines about the input ---- */

struct facts {
	char lines[16][512];
	const char *list[16];
	size_t count;
};

static void __attribute__((format(printf, 2, 3))) add_fact(struct facts *f, const char *fmt, ...)
{
	va_list args;
	if (f->count == sizeof f->lines / sizeof *f->lines)
		return;
	va_start(args, fmt);
	vsnprintf(f->lines[f->count], sizeof *f->lines, fmt, args);
	va_end(args);
	f->list[f->count] = f->lines[f->count];
	f->count++;
}

static const char *input_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!strcmp(path, "-"))
		return "standard input";
	return slash && slash[1] ? slash + 1 : path;
}

static void put_amount_of_bytes(char *text, size_t size, double bytes, bool exact)
{
	if (exact || bytes < 1024)
		snprintf(text, size, "%.0f B", bytes);
	else if (bytes < 1048576)
		snprintf(text, size, "%.*f KB", fmod(bytes, 1024) != 0, bytes / 1024);
	else
		snprintf(text, size, "%.*f MB", fmod(bytes, 1048576) != 0, bytes / 1048576);
}

static void add_input(struct facts *f, const struct loaded *l, const struct options *o, const struct inputs *inputs)
{
	const struct jprof_profile_info *info = jprof_profile_info(l->profile);
	char rate[64];
	if (o->base || o->diff_base)
		add_fact(f, "since: %.400s", o->base ? o->base : o->diff_base);
	if (inputs->dump_count > 1)
		add_fact(f, "sum of %d dumps", inputs->dump_count);
	if (*info->members)
		add_fact(f, "of a bundle: %.400s", info->members);
	put_amount_of_bytes(rate, sizeof rate, (double)info->rate, false);
	if (info->rate > 1)
		add_fact(f, "sampled: one in %s", rate);
	else if (info->rate)
		add_fact(f, "every allocation recorded");
	if (o->tag)
		add_fact(f, "tag: %.100s", o->tag);
	if (o->thread)
		add_fact(f, "thread: %.100s", strcmp(o->thread, "*") ? o->thread : "all");
}

/* Filters of one report of a session stand for what they are added to. */
static void add_filters(struct facts *f, const struct options *o)
{
	bool also = o->also_focus || o->also_ignore;
	const char *focus = also ? o->also_focus : o->focus, *ignore = also ? o->also_ignore : o->ignore;
	if (focus)
		add_fact(f, "focus: %.400s", focus);
	if (ignore)
		add_fact(f, "ignore: %.400s", ignore);
	if (o->retain && !also)
		add_fact(f, "retain: %.400s", o->retain);
	if (o->exclude && !also)
		add_fact(f, "exclude: %.400s", o->exclude);
}

/* False after having said what is wrong. */
static bool add_trust(struct facts *f, const struct jprof_view *view, const struct options *o)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	struct jprof_coverage *coverage;
	struct jprof_error err;
	char low[64], high[64];
	const char *what = o->base || o->diff_base ? "change" : "total";
	if (o->granularity != JPROF_BY_LIBRARY) {
		if (jprof_coverage_new(view, &coverage, &err)) {
			say_error(&err);
			return false;
		}
		add_fact(f, "named: %.1f %% of the bytes have a function's name", jprof_coverage_named(coverage) * 100);
		jprof_coverage_free(coverage);
	}
	if (!info->errors || info->thread)
		return true;
	if (isnan(info->range.error)) {
		add_fact(f, "errors: not known, because the input does not say how it was sampled");
	} else if (o->counter == JPROF_INUSE_SPACE || o->counter == JPROF_ALLOC_SPACE) {
		snprintf(low, sizeof low, "%.2f MB", info->range.low / 1048576);
		snprintf(high, sizeof high, "%.2f MB", info->range.high / 1048576);
		add_fact(f, "the %s lies between %s and %s with 95 %% confidence", what, low, high);
	} else {
		add_fact(f, "the %s lies between %.0f and %.0f objects with 95 %% confidence", what, info->range.low,
		         info->range.high);
	}
	return true;
}

/* ---- Drawing ---- */

static double fraction(double share)
{
	return share > 0 ? share : -1;
}

static int make_graph(const struct jprof_view *view, const struct options *o, struct jprof_graph **graph)
{
	struct jprof_error err;
	const struct jprof_graph_opts opts = {
		.size = sizeof opts,
		.nodecount = o->nodecount,
		.nodefraction = fraction(o->nodefraction),
		.edgefraction = fraction(o->edgefraction),
		.maxdegree = o->maxdegree,
	};
	int rc = jprof_graph_new(view, &opts, graph, &err);
	if (rc)
		say_error(&err);
	return rc;
}

static int draw_picture(const struct jprof_graph *graph, const struct dot_opts *opts, const struct options *o,
                        struct sink *sink)
{
	struct dot_picture picture;
	struct jprof_error err;
	bool web = format_find(o->output)->for_people;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGXFSZ, &ignore, &before); /* the libraries have files of their own, and a limit may hold for them */
	int rc = picture_draw_apart(graph, opts, format_picture(o->output), &picture, &err);
	sigaction(SIGXFSZ, &before, NULL);
	if (rc) {
		say(err.code == JPROF_E_UNSUPPORTED ? "--%s cannot be drawn: %s" : "%.0s%s", o->output, err.text);
		return 1;
	}
	if (*picture.remark)
		say("Graphviz: %s", picture.remark);
	/* The file's own trouble is told when it is closed. */
	bool good = web && !o->file ? true : !sink_write(sink, picture.data, picture.len);
	if (good && web) /* the browser wants it whole */
		good = sink_close(sink) && browser_show(o->file, "heap.svg", picture.data, picture.len);
	free(picture.data);
	return good ? 0 : 1;
}

/* Whether the functions of a graph are a Ruby's, in Ruby or in C. */
static bool reads_ruby(const struct jprof_graph *graph)
{
	for (size_t i = 0; i < jprof_graph_nodes(graph); i++) {
		const struct jprof_node *n = jprof_graph_node(graph, i);
		if (n->origin != JPROF_ORIGIN_NATIVE || !strncmp(input_name(n->object), "libruby", strlen("libruby")))
			return true;
	}
	return false;
}

/* By line of Ruby the names say whose they are, and frames would make the picture twice as wide. */
static bool wants_clusters(const struct jprof_graph *graph, const struct jprof_view_info *info, const struct options *o,
                           bool plain)
{
	if (o->cluster != CLUSTER_USUAL)
		return o->cluster == CLUSTER_ON;
	bool says_whose = info->granularity == JPROF_BY_LIBRARY || info->granularity == JPROF_BY_SITE;
	return !plain && !says_whose && reads_ruby(graph);
}

int graph_report(const struct loaded *l, const struct jprof_view *view, const struct options *o,
                 const struct inputs *inputs, struct sink *sink)
{
	struct facts facts = { .count = 0 };
	struct jprof_graph *graph;
	char title[512];
	if (make_graph(view, o, &graph))
		return 1;
	snprintf(title, sizeof title, "%.200s%s%.200s", inputs->program ? input_name(inputs->program) : "",
	         inputs->program ? ", " : "", input_name(inputs->dumps[inputs->dump_count - 1]));
	add_input(&facts, l, o, inputs);
	add_filters(&facts, o);
	const struct jprof_graph_info *info = jprof_graph_info(graph);
	double total = jprof_view_info(view)->total;
	if (total != 0 && !info->difference && fabs(info->total - total) > 1e-6 * fabs(total))
		add_fact(&facts, "that is %.1f %% of all", info->total * 100 / total);
	bool good = add_trust(&facts, view, o);
	bool plain = o->as_jeprof || o->fold == FOLD_NONE; /* nothing more than jeprof does */
	const struct dot_opts opts = {
		.view = jprof_view_info(view),
		.show_bytes = o->show_bytes,
		.title = title,
		.facts = facts.list,
		.fact_count = facts.count,
		.cluster = wants_clusters(graph, jprof_view_info(view), o, plain),
		.chains = plain || o->chains,
	};
	int status = good ? draw_picture(graph, &opts, o, sink) : 1;
	jprof_graph_free(graph);
	return status;
}
