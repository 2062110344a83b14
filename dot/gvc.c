/* The module jprof-gvc.so: see module.h. */
#include <fontconfig/fontconfig.h>
#include <gvc.h>
#include <string.h>

#include "module.h"

/* The renderers that are meant, by preference: text stays text, and letters come with the file. */
static const struct {
	const char *format;
	const char *renderers[3];
	bool fonts; /* draws letters itself */
} kinds[] = {
	{ "svg", { "svg:svg:core", "svg" }, false },
	{ "pdf", { "pdf:cairo", "pdf" }, true },
	{ "ps", { "ps:cairo", "ps" }, true },
	{ "png", { "png:cairo:cairo", "png:cairo:gd", "png" }, true },
	{ "gif", { "gif:cairo:gd", "gif:gd:gd", "gif" }, true },
};

static bool has_fonts(void)
{
	FcFontSet *fonts = FcInit() ? FcConfigGetFonts(NULL, FcSetSystem) : NULL;
	return fonts && fonts->nfont > 0;
}

static int draw(GVC_t *gvc, Agraph_t *g, size_t kind, char **data, size_t *len)
{
	for (size_t i = 0; i < 3 && kinds[kind].renderers[i]; i++) {
		unsigned n = 0;
		*data = NULL;
		if (!gvRenderData(gvc, g, (char *)kinds[kind].renderers[i], data, &n) && *data && n) {
			*len = n;
			return 0;
		}
	}
	return -1;
}

static int render(Agraph_t *g, const char *format, char **data, size_t *len, const char **why)
{
	size_t kind = 0;
	while (strcmp(kinds[kind].format, format))
		kind++;
	if (kinds[kind].fonts && !has_fonts()) {
		*why =
		    "no font is installed here to write with; install fonts-dejavu-core (Debian) or font-dejavu (Alpine)";
		return -1;
	}
	GVC_t *gvc = gvContext();
	int rc = gvc ? gvLayout(gvc, g, "dot") : -1;
	*why = "Graphviz' layout failed";
	if (!rc) {
		rc = draw(gvc, g, kind, data, len);
		*why = "this Graphviz cannot write that format; other formats may work, and --dot does";
		gvFreeLayout(gvc, g);
	}
	if (gvc)
		gvFreeContext(gvc);
	return rc ? -1 : 0;
}

static void release(char *data)
{
	gvFreeRenderData(data);
}

extern const struct dot_module jprof_gvc;
__attribute__((visibility("default"))) const struct dot_module jprof_gvc = {
	.version = JPROF_VERSION,
	.render = render,
	.release = release,
};
