/* The table of pictures is the program's: it names them also where no module is. */
#include "dot.h"

static const struct jprof_format formats[] = {
	{ .name = "svg", .help = "a picture of the call graph, to be zoomed in a browser", .sites = true },
	{ .name = "pdf", .help = "the same on one page; give -o FILE", .binary = true, .sites = true },
	{ .name = "png", .help = "the same as pixels; give -o FILE", .binary = true, .sites = true },
	{ .name = "gif", .help = "the same as pixels; give -o FILE", .binary = true, .sites = true },
	{ .name = "ps", .help = "the same in PostScript", .sites = true },
	{ .name = "dot", .help = "the call graph in Graphviz' language", .sites = true },
};

const struct jprof_format *dot_format_at(size_t i)
{
	return i < sizeof formats / sizeof *formats ? &formats[i] : NULL;
}
