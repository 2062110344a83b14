/* --flame: a flame graph as a picture alone (SVG, no script), the roots on top. A box is as wide as what its row and
 * all that it called hold; its colour says whose code it is, in a difference whether it grew. What stands in a box in
 * full, with its numbers, is its title, which viewers show under the pointer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/columns.h"
#include "base/error.h"
#include "render/errors.h"
#include "render/flametree.h"
#include "render/render.h"
#include "render/values.h"
#include "render/xmltext.h"

enum { picture_width = 1200, margin = 10, row_height = 18, head_height = 58, legend_step = 132, change_steps = 4 };

static const double narrowest = 0.5, char_width = 6.63, text_inset = 4;

struct flame {
	const struct jprof_view *view;
	struct jp_flame_tree tree;
	enum jp_unit unit;
	double scale; /* pixels for a unit of the counter */
	struct jp_strbuf *out;
};

static const char style[] =
    "svg { background: #ffffff; }\n"
    "text { font: 11px \"DejaVu Sans Mono\", ui-monospace, monospace; fill: #1c1b19; }\n"
    ".title { font: bold 14px \"DejaVu Sans\", Verdana, sans-serif; }\n"
    ".legend { font: 12px \"DejaVu Sans\", Verdana, sans-serif; }\n"
    "rect { stroke: #ffffff; stroke-width: 0.6; }\n"
    "g:hover > rect { stroke: #1c1b19; stroke-width: 1.5; }\n"
    ".all { fill: #e9e6df; } .application { fill: #f4a259; } .gem { fill: #f0cf65; } .stdlib { fill: #b5d48b; }\n"
    ".vm { fill: #a3c6ea; } .native { fill: #cdb8ea; } .unknown { fill: #d8d5ce; }\n"
    ".same { fill: #e9e6df; } .grew1 { fill: #fbd9d0; } .grew2 { fill: #f7b5a7; } .grew3 { fill: #f28e7c; }\n"
    ".grew4 { fill: #ea6a58; } .shrank1 { fill: #d5e4f5; } .shrank2 { fill: #aecbeb; } .shrank3 { fill: #86b0e0; }\n"
    ".shrank4 { fill: #6398d6; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #17191d; } text { fill: #f1efea; } rect { stroke: #17191d; } g:hover > rect { stroke: #f1efea; }\n"
    ".all, .same { fill: #3a3c42; } .application { fill: #a04f14; } .gem { fill: #7a5f10; } .stdlib { fill: #3c6529; }\n"
    ".vm { fill: #22527f; } .native { fill: #5d4489; } .unknown { fill: #50504e; }\n"
    ".grew1 { fill: #5a2a26; } .grew2 { fill: #74302a; } .grew3 { fill: #8f352e; } .grew4 { fill: #ab3a31; }\n"
    ".shrank1 { fill: #24384f; } .shrank2 { fill: #25466b; } .shrank3 { fill: #255588; } .shrank4 { fill: #2464a5; }\n"
    "}\n";

static void put_flame_value(const struct flame *f, double value, bool sign)
{
	const struct jp_cell cell = jp_shown_value(value, f->unit);
	jp_strbuf_printf(f->out, "%s%s", sign && *cell.text != '-' ? "+" : "", cell.text);
}

/* ---- the head ---------------------------------------------------------------------------------------------- */

/* "app: 615.0 MB in use", "app: from 412.0 to 911.0 MB in use (+499.0)". */
static void put_flame_title(const struct flame *f)
{
	static const char *const what[JPROF_COUNTERS] = { [JPROF_INUSE_SPACE] = "in use",
		                                          [JPROF_INUSE_OBJECTS] = "in use",
		                                          [JPROF_ALLOC_SPACE] = "allocated since the start",
		                                          [JPROF_ALLOC_OBJECTS] = "allocated since the start" };
	const struct jprof_view_info *info = &f->view->info;
	const struct jp_flame_node *all = &f->tree.nodes[0];
	const char *name = info->program                   ? info->program
	                   : f->view->profile->input_count ? jp_view_input(f->view, 0)
	                                                   : "";
	jp_put_xml(f->out, jp_basename(name));
	jp_strbuf_str(f->out, *name ? ": " : "");
	if (info->difference) {
		jp_strbuf_str(f->out, "from ");
		put_flame_value(f, all->value[0], false);
		jp_strbuf_str(f->out, " to ");
	}
	put_flame_value(f, all->value[1], false);
	jp_strbuf_printf(f->out, " %s %s", jp_unit_name(f->unit), what[info->counter]);
	if (info->difference) {
		jp_strbuf_str(f->out, " (");
		put_flame_value(f, all->value[1] - all->value[0], true);
		jp_strbuf_str(f->out, ")");
	}
}

static void put_legend_item(const struct flame *f, int place, const char *class, const char *words)
{
	jp_strbuf_printf(f->out,
	                 "<rect x=\"%d\" y=\"36\" width=\"12\" height=\"12\" class=\"%s\"/>"
	                 "<text class=\"legend\" x=\"%d\" y=\"46\">%s</text>\n",
	                 margin + place * legend_step, class, margin + 17 + place * legend_step, words);
}

/* The colours that are there. */
static void put_legend(const struct flame *f)
{
	bool seen[JP_WHOSE_COUNT] = { false };
	int place = 0;
	if (f->view->info.difference) {
		put_legend_item(f, 0, "grew3", "grew");
		put_legend_item(f, 1, "shrank3", "shrank");
		put_legend_item(f, 2, "same", "as before");
		return;
	}
	for (size_t i = 1; i < f->tree.count; i++)
		seen[f->tree.nodes[i].whose] = true;
	for (int w = 0; w < JP_WHOSE_COUNT; w++)
		if (seen[w])
			put_legend_item(f, place++, jp_whose_words[w].key, jp_whose_words[w].shown);
}

/* ---- boxes ------------------------------------------------------------------------------------------------- */

static void put_box_class(const struct flame *f, const struct jp_flame_node *node)
{
	double change = node->value[1] - node->value[0];
	if (!f->view->info.difference) {
		jp_strbuf_str(f->out, node->level ? jp_whose_words[node->whose].key : "all");
		return;
	}
	int step = node->width > 0 ? (int)ceil(fabs(change) / node->width * change_steps - 0.05) : 0;
	if (step < 1)
		jp_strbuf_str(f->out, "same");
	else
		jp_strbuf_printf(f->out, "%s%d", change > 0 ? "grew" : "shrank",
		                 step < change_steps ? step : change_steps);
}

/* Half of the 95 % interval, and how many samples: as everywhere for people. */
static void put_flame_error(const struct flame *f, const struct jp_flame_node *node)
{
	if (!f->view->evidence)
		return;
	struct jprof_range range = jp_evidence_range(&f->view->lineage, &node->evidence, f->view->info.counter);
	if (isnan(range.error))
		return;
	jp_strbuf_str(f->out, " (+-");
	put_flame_value(f, (range.high - range.low) / 2, false);
	jp_strbuf_printf(f->out, "), %.0f sample%s%s", range.samples, range.samples == 1 ? "" : "s", jp_doubt(&range));
}

static const char *flame_name(const struct flame *f, const struct jp_flame_node *node)
{
	return node->level ? f->view->rows[node->row].name : "all";
}

static void put_box_title(const struct flame *f, const struct jp_flame_node *node)
{
	double whole = f->tree.nodes[0].value[1];
	jp_put_xml(f->out, flame_name(f, node));
	jp_strbuf_str(f->out, "\n");
	if (f->view->info.difference) {
		put_flame_value(f, node->value[1] - node->value[0], true);
		jp_strbuf_printf(f->out, " %s: ", jp_unit_name(f->unit));
		put_flame_value(f, node->value[0], false);
		jp_strbuf_str(f->out, " before, ");
		put_flame_value(f, node->value[1], false);
		jp_strbuf_str(f->out, " now");
	} else {
		put_flame_value(f, node->value[1], false);
		jp_strbuf_printf(f->out, " %s, %.1f %%", jp_unit_name(f->unit),
		                 whole > 0 ? node->value[1] * 100 / whole : 0);
	}
	put_flame_error(f, node);
	if (node->level && !f->view->info.difference)
		jp_strbuf_printf(f->out, "\n%s", jp_whose_words[node->whose].shown);
}

/* Of "dir/file.rb:42 name" what stands behind the directories, if all of it does not fit. */
static const char *fitting_name(const char *name, size_t room)
{
	const char *blank = strchr(name, ' ');
	if (jp_columns(name, NULL) <= room || !blank)
		return name;
	const char *file = name;
	for (const char *s = name; s < blank; s++)
		file = *s == '/' && s + 1 < blank ? s + 1 : file;
	return file;
}

/* In a difference the change stands before the name: the colour only repeats its sign. */
static void put_box_text(const struct flame *f, const struct jp_flame_node *node, double x, double y, double width)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) visible = { 0 }, cut = { 0 };
	struct jp_cell change = { "" };
	size_t room = width > 2 * text_inset ? (size_t)((width - 2 * text_inset) / char_width) : 0;
	if (room < 3)
		return;
	if (f->view->info.difference)
		change = jp_shown_value(node->value[1] - node->value[0], f->unit);
	size_t with = strlen(change.text) + 2;
	bool fits = *change.text && room >= with + 3;
	jp_strbuf_visible(&visible, flame_name(f, node));
	if (visible.text)
		jp_put_head(&cut, fitting_name(visible.text, fits ? room - with : room), fits ? room - with : room,
		            NULL);
	jp_strbuf_printf(f->out, "<text x=\"%.1f\" y=\"%.1f\">", x + text_inset, y + 13);
	if (fits)
		jp_strbuf_printf(f->out, "%s%s ", *change.text == '-' ? "" : "+", change.text);
	jp_put_xml(f->out, cut.text ? cut.text : "");
	jp_strbuf_str(f->out, "</text>");
	f->out->failed |= visible.failed || cut.failed;
}

static void put_flame_box(const struct flame *f, const struct jp_flame_node *node)
{
	double x = margin + node->x * f->scale, width = node->width * f->scale;
	double y = head_height + (double)node->level * row_height;
	if (width < narrowest)
		return;
	jp_strbuf_str(f->out, "<g><title>");
	put_box_title(f, node);
	jp_strbuf_printf(f->out, "</title><rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" class=\"", x, y,
	                 width, row_height - 1);
	put_box_class(f, node);
	jp_strbuf_str(f->out, "\"/>");
	put_box_text(f, node, x, y, width);
	jp_strbuf_str(f->out, "</g>\n");
	jp_strbuf_drain(f->out);
}

/* The deepest level with a box that is wide enough. */
static uint32_t drawn_depth(const struct flame *f)
{
	uint32_t depth = 0;
	for (size_t i = 0; i < f->tree.count; i++)
		if (f->tree.nodes[i].width * f->scale >= narrowest && f->tree.nodes[i].level > depth)
			depth = f->tree.nodes[i].level;
	return depth;
}

static void put_flame(const struct flame *f)
{
	unsigned height = head_height + (drawn_depth(f) + 1) * row_height + margin;
	jp_strbuf_printf(f->out,
	                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
	                 "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" role=\"img\">\n<title>",
	                 picture_width, height, picture_width, height);
	put_flame_title(f);
	jp_strbuf_printf(f->out, "</title>\n<style>\n%s</style>\n<text class=\"title\" x=\"%d\" y=\"24\">", style,
	                 margin);
	put_flame_title(f);
	jp_strbuf_str(f->out, "</text>\n");
	put_legend(f);
	for (size_t i = 0; i < f->tree.count; i++)
		put_flame_box(f, &f->tree.nodes[i]);
	jp_strbuf_str(f->out, "</svg>\n");
}

int jp_render_flame(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                    struct jprof_error *err)
{
	struct flame f = { .view = view, .out = out };
	int rc = jp_flame_tree_init(&f.tree, view);
	if (!rc) {
		double width = f.tree.nodes[0].width;
		f.unit = jp_unit_of(view, opts) == JP_MB ? jp_fitting_unit(width) : jp_unit_of(view, opts);
		f.scale = width > 0 ? (picture_width - 2 * margin) / width : 0;
		put_flame(&f);
	}
	jp_flame_tree_release(&f.tree);
	return rc ? jp_error_nomem(err) : 0;
}
