/* --html: one page that shows a profile in a browser, offline. The file has a script, a style and the data, compressed
 * (zlib, base64). Its Content-Security-Policy lets nothing else in: no script but the one with this hash, and no
 * loading at all. The data is no markup, and the script makes none of it. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "render/pagedata.h"
#include "render/xmltext.h"

/* html/embed.py makes these of the files in html/: lines of page_frame (with %TITLE%, %POLICY%, %STYLE%, %SCRIPT% and
 * %DATA% alone on theirs), page_style and page_script, and the hashes of the last two. */
#include "page.inc"

/* Of zlib: 4 makes a page 7 % smaller, 6 makes it 10 % smaller, and they take twice and six times as long. */
enum { page_level = 2 };

enum { data_piece_bytes = 3 * 4096 };

static void put_page_lines(struct jp_strbuf *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		jp_strbuf_str(out, lines[i]);
}

static void put_base64(struct jp_strbuf *out, const unsigned char *data, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[data_piece_bytes / 3 * 4], *end = text;
	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		unsigned group = (unsigned)data[i] << 16 | (left > 1 ? (unsigned)data[i + 1] << 8 : 0) |
		                 (left > 2 ? data[i + 2] : 0);
		*end++ = digits[group >> 18];
		*end++ = digits[group >> 12 & 63];
		*end++ = left > 1 ? digits[group >> 6 & 63] : '=';
		*end++ = left > 2 ? digits[group & 63] : '=';
		if (end == text + sizeof text || left <= 3) {
			jp_strbuf_add(out, text, (size_t)(end - text));
			jp_strbuf_drain(out);
			end = text;
		}
	}
}

/* 0, or -1 when memory is short. */
static int put_compressed(struct jp_strbuf *out, const struct jp_strbuf *data)
{
	uLongf len = compressBound((uLong)data->len);
	unsigned char *packed = malloc(len + 1);
	int rc =
	    packed && compress2(packed, &len, (const Bytef *)data->text, (uLong)data->len, page_level) == Z_OK ? 0 : -1;
	if (!rc)
		put_base64(out, packed, len);
	free(packed);
	return rc;
}

static void put_page_title(struct jp_strbuf *out, const struct jprof_view *view)
{
	const struct jprof_view_info *info = &view->info;
	const char *input = view->profile->input_count ? jp_basename(jp_view_input(view, 0)) : "";
	jp_strbuf_str(out, "<title>");
	jp_put_xml(out, *input ? input : info->program ? jp_basename(info->program) : "heap profile");
	jp_strbuf_str(out, " - jprof</title>\n");
}

static void put_policy(struct jp_strbuf *out)
{
	jp_strbuf_printf(out,
	                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '%s'; "
	                 "style-src '%s'; base-uri 'none'; form-action 'none'\">\n",
	                 page_script_hash, page_style_hash);
}

/* What stands in the place of a line of the frame. */
static int put_place(struct jp_strbuf *out, const char *line, const struct jprof_view *view,
                     const struct jp_strbuf *data)
{
	if (!strcmp(line, "%TITLE%\n"))
		put_page_title(out, view);
	else if (!strcmp(line, "%POLICY%\n"))
		put_policy(out);
	else if (!strcmp(line, "%STYLE%\n")) {
		jp_strbuf_str(out, "<style>");
		put_page_lines(out, page_style, jp_count(page_style));
		jp_strbuf_str(out, "</style>\n");
	} else if (!strcmp(line, "%SCRIPT%\n")) {
		jp_strbuf_str(out, "<script>");
		put_page_lines(out, page_script, jp_count(page_script));
		jp_strbuf_str(out, "</script>\n");
	} else if (!strcmp(line, "%DATA%\n")) {
		jp_strbuf_str(out, "<script type=\"application/octet-stream\" id=\"data\">");
		int rc = put_compressed(out, data);
		jp_strbuf_str(out, "</script>\n");
		return rc;
	} else
		jp_strbuf_str(out, line);
	return 0;
}

int jp_render_html(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) data = { 0 };
	int rc = jp_put_page_data(view, opts, &data, err);
	for (size_t i = 0; !rc && i < jp_count(page_frame); i++) {
		if (put_place(out, page_frame[i], view, &data))
			rc = jp_error_nomem(err);
		jp_strbuf_drain(out);
	}
	return rc;
}
