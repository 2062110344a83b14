/* The module jprof-gvc.so: see gvcmodule.h. */
#include <fontconfig/fontconfig.h>
#include <gvc.h>
#include <stdbool.h>
#include <string.h>

#include "gvcmodule.h"

/* Inches: Acrobat and its kin show no page of more than 200; a bigger graph is made to fit. */
#define PAGE_MOST "198,198"

/* The renderers that are meant, by preference: text stays text, and letters come with the file. */
static const struct {
	const char *format;
	const char *renderers[3];
} kinds[] = {
	{ "svg", { "svg:svg:core", "svg" } },
	{ "pdf", { "pdf:cairo", "pdf" } },
	{ "ps", { "ps:cairo", "ps" } },
	{ "png", { "png:cairo:cairo", "png:cairo:gd", "png" } },
	{ "gif", { "gif:cairo:gd", "gif:gd:gd", "gif" } },
};

/* All formats need one: names are measured, and boxes made to fit. */
static bool has_fonts(void)
{
	FcFontSet *fonts = FcInit() ? FcConfigGetFonts(NULL, FcSetSystem) : NULL;
	return fonts && fonts->nfont > 0;
}

static int draw_kind(GVC_t *gvc, Agraph_t *g, size_t kind, char **data, size_t *len)
{
	for (size_t i = 0; i < 3 && kinds[kind].renderers[i]; i++) {
		GV_LENGTH n = 0;
		*data = NULL;
		if (!gvRenderData(gvc, g, (char *)kinds[kind].renderers[i], data, &n) && *data && n) {
			*len = n;
			return 0;
		}
	}
	return -1;
}

/* One for all pictures: the pango plugin remembers the last font of a context, also when that is freed. */
static GVC_t *context(void)
{
	static GVC_t *gvc;
	if (!gvc)
		gvc = gvContext();
	return gvc;
}

/* Graphviz 2.42 may free an edge between two clusters twice: such a layout is left alone. */
static void free_layout(GVC_t *gvc, Agraph_t *g)
{
	if (!agfstsubg(g))
		gvFreeLayout(gvc, g);
}

static int render_picture(Agraph_t *g, const char *format, char **data, size_t *len, const char **why)
{
	size_t kind = 0;
	while (strcmp(kinds[kind].format, format))
		kind++;
	if (!has_fonts()) {
		*why =
		    "no font is installed here to write with; install fonts-dejavu-core (Debian) or font-dejavu (Alpine)";
		return -1;
	}
	if (!strcmp(format, "pdf"))
		agattr(g, AGRAPH, "size", PAGE_MOST);
	GVC_t *gvc = context();
	int rc = gvc ? gvLayout(gvc, g, "dot") : -1;
	*why = "Graphviz' layout failed";
	if (!rc) {
		rc = draw_kind(gvc, g, kind, data, len);
		*why = "this Graphviz cannot write that format; other formats may work, and --dot does";
		free_layout(gvc, g);
	}
	return rc ? -1 : 0;
}

static void release(char *data)
{
	gvFreeRenderData(data);
}

__attribute__((visibility("default"))) const struct dot_gvc jprof_gvc = {
	.version = JPROF_VERSION,
	.render = render_picture,
	.release = release,
};
