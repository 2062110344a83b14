#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dotgraph.h"
#include "gvcmodule.h"
#include "svg.h"
#include "undate.h"

static int __attribute__((format(printf, 3, 4))) fail(struct jprof_error *err, int code, const char *fmt, ...)
{
	va_list args;
	*err = (struct jprof_error){ .code = code };
	va_start(args, fmt);
	vsnprintf(err->text, sizeof err->text, fmt, args);
	va_end(args);
	return code;
}

/* What Graphviz says, the first line of it; its callback has no context. */
static char said[sizeof((struct dot_picture *)0)->remark];

static int keep_remark(char *text)
{
	size_t have = strlen(said);
	if (!strchr(said, '\n'))
		snprintf(said + have, sizeof said - have, "%s", text);
	return 0;
}

static void listen(void)
{
	*said = '\0';
	agseterr(AGWARN);
	agseterrf(keep_remark);
}

static void take_remark(struct dot_picture *picture)
{
	said[strcspn(said, "\n")] = '\0';
	snprintf(picture->remark, sizeof picture->remark, "%s", said);
	agseterrf(NULL);
}

/* ---- DOT ---- */

static int draw_dot(Agraph_t *g, struct dot_picture *picture)
{
	FILE *out = open_memstream(&picture->data, &picture->len);
	if (!out)
		return -1;
	int rc = agwrite(g, out);
	bool bad = ferror(out);
	return fclose(out) || bad || rc ? -1 : 0;
}

/* ---- The rest ---- */

static int take_drawing(struct dot_picture *picture, const char *data, size_t len)
{
	picture->data = malloc(len + 1);
	if (!picture->data)
		return -1;
	memcpy(picture->data, data, len);
	picture->data[len] = '\0';
	picture->len = len;
	return 0;
}

static int dress(const struct dot_plan *plan, const char *format, struct dot_picture *picture)
{
	if (!strcmp(format, "svg"))
		return dot_dress_svg(plan, &picture->data, &picture->len);
	if (!strcmp(format, "pdf"))
		dot_undate_pdf(picture->data, picture->len);
	if (!strcmp(format, "ps"))
		dot_undate_ps(picture->data, picture->len);
	return 0;
}

/* Debian's package of the library configures no layouts from version 8 on; that of the programs does, by `dot -c`. */
static int no_layout(struct jprof_error *err)
{
	return fail(err, JPROF_E_UNSUPPORTED,
	            "Graphviz' library has no layout configured here; install graphviz; --dot works");
}

static int draw_laid_out(const struct dot_plan *plan, Agraph_t *g, const char *format, struct dot_picture *picture,
                         struct jprof_error *err)
{
	const struct dot_gvc *gvc = plan->opts->gvc;
	const char *why;
	char *data;
	size_t len;
	if (!gvc)
		return fail(err, JPROF_E_ARGUMENT, "no module draws %s here", format);
	if (gvc->render(g, format, &data, &len, &why))
		return strstr(said, "Layout type: ")
		           ? no_layout(err)
		           : fail(err, JPROF_E_UNSUPPORTED, *said ? "%s: %s" : "%s", why, said);
	int rc = take_drawing(picture, data, len);
	gvc->release(data);
	if (!rc)
		rc = dress(plan, format, picture);
	if (rc) {
		free(picture->data);
		picture->data = NULL;
	}
	return rc ? fail(err, JPROF_E_NOMEM, "memory is short") : 0;
}

int dot_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
             struct dot_picture *picture, struct jprof_error *err)
{
	bool plain = !strcmp(format, "dot");
	*picture = (struct dot_picture){ 0 };
	if (!jprof_graph_nodes(graph))
		return fail(err, JPROF_E_ARGUMENT, "nothing to draw: no function is above the limit (--nodefraction)");
	struct dot_plan plan = { .graph = graph, .opts = opts };
	listen();
	Agraph_t *g = dot_chains_find(&plan.chains, graph, opts->chains) ? dot_build(&plan, plain) : NULL;
	int rc = !g ? fail(err, JPROF_E_NOMEM, "memory is short") : 0;
	if (!rc && !plain)
		rc = draw_laid_out(&plan, g, format, picture, err);
	else if (!rc && draw_dot(g, picture))
		rc = fail(err, JPROF_E_NOMEM, "memory is short");
	if (g)
		agclose(g);
	dot_chains_release(&plan.chains);
	take_remark(picture);
	return rc;
}

__attribute__((visibility("default"))) const struct dot_module jprof_dot = {
	.version = JPROF_VERSION,
	.draw = dot_draw,
};
