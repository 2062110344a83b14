#include "answers/keepers_page.h"

#include "cli/answerpage.h"
#include "cli/shortage.h"

static void put_cells(FILE *out, const struct keepers_page *p, uint64_t bytes, double share, uint64_t objects)
{
	struct jp_strbuf text = { 0 };
	measure_add(&text, measure_fit(p->unit, (double)bytes), (double)bytes);
	fprintf(out, "<td>%s</td>", shortage_text(&text));
	jp_strbuf_cut(&text, 0);
	jp_strbuf_grouped(&text, objects, 0);
	if (share >= 0)
		fprintf(out, "<td>%.0f %%</td>", share);
	else
		fputs("<td></td>", out);
	fprintf(out, "<td>%s</td>", shortage_text(&text));
	jp_strbuf_release(&text);
}

static double share_of(const struct keepers_page *p, uint64_t bytes)
{
	const struct jprof_keepers_info *info = jprof_keepers_info(p->keepers);
	return info->bytes ? 100.0 * (double)bytes / (double)info->bytes : 0;
}

static void put_line(FILE *out, const char *word, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "<code>%s", word);
	answer_page_text(out, text);
	fputs("</code>", out);
}

static void put_page_keeper(FILE *out, const struct keepers_page *p, const struct jprof_keeper *k)
{
	double share = share_of(p, k->keeps);
	fputs("<tr>", out);
	put_cells(out, p, k->keeps, share, k->objects);
	fputs("<td>", out);
	answer_page_text(out, k->what);
	fputs(*k->holder ? " in <b>" : "<b>", out);
	answer_page_text(out, k->holder);
	fprintf(out, "</b><div class=\"bar\" style=\"width:%.1f%%\"></div>", share);
	put_line(out, "", k->path);
	put_line(out, "made at ", k->made_at);
	fputs("</td></tr>\n", out);
}

static void put_sum(FILE *out, const struct keepers_page *p, const char *class_is, uint64_t bytes, double share,
                    uint64_t objects, const char *words)
{
	fprintf(out, "<tr%s>", class_is);
	put_cells(out, p, bytes, share, objects);
	fprintf(out, "<td>%s</td></tr>\n", words);
}

static void put_page_rows(FILE *out, const struct keepers_page *p)
{
	const struct jprof_keepers_info *info = jprof_keepers_info(p->keepers);
	uint64_t bytes = info->bytes, objects = info->objects;
	for (size_t i = 0; i < p->shown; i++) {
		const struct jprof_keeper *k = jprof_keepers_at(p->keepers, i);
		put_page_keeper(out, p, k);
		bytes -= k->keeps;
		objects -= k->objects;
	}
	put_sum(out, p, "", bytes, share_of(p, bytes), objects, "others");
	put_sum(out, p, " class=\"sum\"", info->bytes, share_of(p, info->bytes), info->objects, "all");
	if (info->unrooted_objects)
		put_sum(out, p, "", info->unrooted_bytes, -1, info->unrooted_objects,
		        "no root leads to them: garbage, most of it");
}

void keepers_put_page(FILE *out, const struct keepers_page *p)
{
	answer_page_begin(out, p->title);
	answer_put_page(out, p->head);
	fputs("<table><thead><tr><th>keeps</th><th>share</th><th>objects</th><th>kept by</th></tr></thead>\n<tbody>\n",
	      out);
	put_page_rows(out, p);
	fputs("</tbody></table>\n", out);
	answer_put_page(out, p->end);
	answer_page_end(out);
}
