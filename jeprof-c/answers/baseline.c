/* The baseline of `jprof check`: JSON, {"jprof_baseline": 1, "accepted": [{"library", "file", "method", "bytes",
 * "comment"}]}. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/diff_text.h"
#include "answers/limits.h"
#include "cli/filesread.h"
#include "cli/jsonprint.h"
#include "cli/outfile.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/wholefile.h"

enum { file_most = 1 << 22, rows_most = 10000 };

/* ---- keys -------------------------------------------------------------------------------------------------- */

/* The parts of a row's key, which live as long as the row. */
struct row_key {
	const char *library, *file, *method;
	size_t method_len;
};

/* The method of "app/models/user.rb:42 User#tags": what stands behind the line. Of other rows all of the name without
 * ":LINE" at its end. */
static void key_of_row(struct row_key *key, const struct jprof_grown *row)
{
	const char *name = name_of_grown(row);
	const char *colon = row->line && row->file ? strstr(name, ":") : NULL;
	while (colon && !(colon[1] >= '0' && colon[1] <= '9'))
		colon = strstr(colon + 1, ":");
	size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
	const char *rest = colon ? colon + 1 + digits : "";
	key->library = row->library ? row->library : row->part == JPROF_PART_LIVE ? "" : "outside the profile";
	key->file = row->file ? row->file : "";
	key->method = colon && *rest == ' ' ? rest + 1 : name;
	key->method_len = !colon || key->method != name ? strlen(key->method) : (size_t)(colon - name);
	const char *blank = colon && key->method == name ? memchr(name, ' ', key->method_len) : NULL;
	if (blank) /* "row_new /src/leaky.c:5" */
		key->method_len = (size_t)(blank - name);
}

/* A gem without its version: an update accepts what was accepted before. */
static size_t stem_of_library(const char *library)
{
	return strcspn(library, " ");
}

static bool is_same_library(const char *a, const char *b)
{
	size_t len = stem_of_library(a);
	return len == stem_of_library(b) && !strncmp(a, b, len);
}

struct accepted_row *baseline_find(const struct accepted_rows *rows, const struct jprof_grown *row)
{
	struct row_key key;
	key_of_row(&key, row);
	bool gem = row->origin == JPROF_ORIGIN_GEM; /* its directory has the version */
	for (size_t i = 0; i < rows->count; i++)
		if (!strncmp(rows->items[i].method, key.method, key.method_len) &&
		    !rows->items[i].method[key.method_len] && is_same_library(rows->items[i].library, key.library) &&
		    (gem || !strcmp(rows->items[i].file, key.file)))
			return &rows->items[i];
	return NULL;
}

/* ---- entries ----------------------------------------------------------------------------------------------- */

static struct accepted_row *add_entry(struct accepted_rows *rows, const char *library, const char *file,
                                      const char *method, double bytes, const char *comment)
{
	struct accepted_row *more = realloc(rows->items, (rows->count + 1) * sizeof *more);
	if (!more)
		return NULL;
	rows->items = more;
	struct accepted_row *entry = &rows->items[rows->count];
	*entry = (struct accepted_row){ .library = strdup(library),
		                        .file = strdup(file),
		                        .method = strdup(method),
		                        .comment = strdup(comment),
		                        .bytes = bytes };
	rows->count++;
	return entry->library && entry->file && entry->method && entry->comment ? entry : NULL;
}

bool baseline_accept(struct accepted_rows *rows, const struct jprof_grown *row)
{
	struct accepted_row *entry = baseline_find(rows, row);
	struct row_key key;
	key_of_row(&key, row);
	char *method = strndup(key.method, key.method_len);
	if (!entry && method)
		entry = add_entry(rows, key.library, key.file, method, 0, "");
	free(method);
	if (!entry) {
		say("memory is short");
		return false;
	}
	entry->matched = true;
	entry->bytes = row->whole.growth > entry->bytes ? row->whole.growth : entry->bytes;
	return true;
}

void baseline_release(struct accepted_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->items[i].library);
		free(rows->items[i].file);
		free(rows->items[i].method);
		free(rows->items[i].comment);
	}
	free(rows->items);
}

/* ---- the file ---------------------------------------------------------------------------------------------- */

static const char *text_in(const struct jprof_json *object, const char *key)
{
	const char *text = jprof_json_string(jprof_json_get(object, key));
	return text ? text : "";
}

/* False where it is no entry, or memory is short, which is noted. */
static bool take_accepted(struct accepted_rows *rows, const struct jprof_json *object)
{
	double bytes = jprof_json_number(jprof_json_get(object, "bytes"));
	if (isnan(bytes))
		return false;
	return shortage_note(add_entry(rows, text_in(object, "library"), text_in(object, "file"),
	                               text_in(object, "method"), bytes, text_in(object, "comment")));
}

static bool take_entries(struct accepted_rows *rows, const struct jprof_json *root)
{
	const struct jprof_json *list = jprof_json_get(root, "accepted");
	size_t count = jprof_json_count(list);
	bool good = jprof_json_number(jprof_json_get(root, "jprof_baseline")) == 1 && list && count <= rows_most;
	for (size_t i = 0; good && i < count; i++)
		good = take_accepted(rows, jprof_json_at(list, i));
	return good;
}

/* Says what is wrong with it. */
static bool parse_baseline(struct accepted_rows *rows, const char *path, const char *text, size_t len)
{
	struct jprof_json *root = NULL;
	struct jprof_error err = { 0 };
	bool good = !shortage_note_code(jprof_json_read(text, len, path, &root, &err)) && take_entries(rows, root);
	jprof_json_free(root);
	if (!good && !shortage_say())
		say("%s: is no baseline%s%s: jprof check --update-baseline makes one", path,
		    *err.text ? ", for it " : "", err.text);
	return good;
}

bool baseline_read(struct accepted_rows *rows, const char *path, bool must_exist)
{
	*rows = (struct accepted_rows){ 0 };
	size_t len;
	char *text = file_whole(path, file_most - 1, &len);
	if (!text && errno == ENOENT && !must_exist)
		return true;
	if (!text && !shortage_say())
		say("%s: cannot be read: %s", path,
		    errno == EFBIG ? "it is larger than any baseline" : strerror(errno));
	bool good = text && parse_baseline(rows, path, text, len);
	free(text);
	return good;
}

bool baseline_write(const struct accepted_rows *rows, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = shortage_note(textstream_open(&text, &len));
	if (out) {
		fputs("{\"jprof_baseline\": 1, \"accepted\": [\n", out);
		for (size_t i = 0; i < rows->count; i++) {
			const struct accepted_row *row = &rows->items[i];
			json_print(out,
			           "  {\"library\": %s, \"file\": %s, \"method\": %s, \"bytes\": %f, \"comment\": %s}",
			           row->library, row->file, row->method, row->bytes, row->comment);
			fputs(i + 1 < rows->count ? ",\n" : "\n", out);
		}
		fputs("]}\n", out);
	}
	struct stat st;
	const char *why =
	    (out && !shortage_close(out, &text)) || shortage_noted() ? shortage_why() : outfile_write(path, text, len);
	if (why)
		say("%s: cannot be written: %s", path, why);
	else if (!stat(path, &st))
		filesread_add(&st);
	free(text);
	return !why;
}
