#include "cli/answerpage.h"

#include <ctype.h>

static const char page_style[] =
    ":root{--paper:#fff;--ink:#1c1b19;--faint:#5c5850;--line:#d9d5cc;--raised:#faf8f4;--bar:#f4c99a}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#17191d;--ink:#f1efea;--faint:#b5b1a8;--line:#3d4047;"
    "--raised:#202329;--bar:#7a4a1c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;max-width:1100px;padding:24px;background:var(--paper);color:var(--ink);"
    "font:15px/1.45 \"DejaVu Sans\",Verdana,\"Segoe UI\",sans-serif;overflow-wrap:anywhere}\n"
    "h1{margin:0 0 4px;font-size:15px;font-weight:normal;color:var(--faint)}\n"
    ".more{margin:0 0 20px;font-size:21px;line-height:1.35}\n"
    ".note{color:var(--faint);font-size:13px;max-width:62em}\n"
    "h2{margin:20px 0 4px;font-size:16px}\n"
    "dl{margin:0;display:grid;grid-template-columns:max-content 1fr;gap:1px 12px;font-size:13px}\n"
    "dt{color:var(--faint)}dd{margin:0}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th{font-size:13px;font-weight:normal;color:var(--faint);border-bottom:1px solid var(--line)}\n"
    "th,td{padding:6px 10px;text-align:right;vertical-align:top;white-space:nowrap}\n"
    "th:last-child,td:last-child{text-align:left;white-space:normal;width:100%}\n"
    "tr+tr td{border-top:1px solid var(--line)}\n"
    ".sum td{font-weight:bold;border-top:2px solid var(--line)}\n"
    ".bar{height:6px;background:var(--bar);border-radius:3px;margin-top:5px;min-width:1px}\n"
    "code{font:13px/1.5 \"DejaVu Sans Mono\",ui-monospace,monospace;color:var(--faint);display:block}\n"
    "@media(max-width:600px){body{padding:14px}.more{font-size:18px}thead{display:none}\n"
    "tr{display:grid;grid-template-columns:auto auto 1fr;border-top:1px solid var(--line);padding:6px 0}\n"
    "tr+tr td,.sum td{border-top:0}th,td{padding:2px 12px 2px 0}td:last-child{grid-column:1/-1;"
    "width:auto}\n"
    "td:nth-child(3)::after{content:\" objects\"}}\n";

void answer_page_text(FILE *out, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		case '"': fputs("&quot;", out); break;
		default: putc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
		}
}

void answer_page_begin(FILE *out, const char *title)
{
	fputs(
	    "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	    "<meta name=\"color-scheme\" content=\"light dark\">\n"
	    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
	    "<title>",
	    out);
	answer_page_text(out, title);
	fprintf(out, "</title>\n<style>\n%s</style>\n<main>\n", page_style);
}

void answer_page_end(FILE *out)
{
	fputs("</main>\n</html>\n", out);
}

static void put_element(FILE *out, const char *begin, const char *text, const char *end)
{
	fputs(begin, out);
	answer_page_text(out, text);
	fputs(end, out);
}

/* Details that follow each other are one list. */
static void put_page_detail(FILE *out, const struct answer *a, size_t i)
{
	if (!i || a->parts[i - 1].role != ANSWER_DETAIL)
		fputs("<dl>", out);
	put_element(out, "<dt>", a->parts[i].label, "</dt>");
	put_element(out, "<dd>", answer_text(a, i), "</dd>\n");
	if (i + 1 == a->count || a->parts[i + 1].role != ANSWER_DETAIL)
		fputs("</dl>\n", out);
}

void answer_put_page(FILE *out, const struct answer *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const char *text = answer_text(a, i);
		switch (a->parts[i].role) {
		case ANSWER_HEAD: put_element(out, "<h1>", text, "</h1>\n"); break;
		case ANSWER_MORE: put_element(out, "<p class=\"more\">", text, "</p>\n"); break;
		case ANSWER_SENTENCE: put_element(out, "<h2>", text, "</h2>\n"); break;
		case ANSWER_NOTE: put_element(out, "<p class=\"note\">", text, "</p>\n"); break;
		case ANSWER_DETAIL: put_page_detail(out, a, i); break;
		default: break;
		}
	}
}
