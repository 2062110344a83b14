#include "answers/explain_json.h"

#include <math.h>
#include <stdlib.h>

#include "cli/shortage.h"

static void put_json_words(FILE *out, const char *key, const char *text)
{
	char *quoted = shortage_note(jprof_json_text(text));
	fprintf(out, "\"%s\": %s", key, quoted ? quoted : "null");
	free(quoted);
}

/* Whole bytes; what is not known is null. */
static void put_bytes(FILE *out, const char *key, double value)
{
	if (isfinite(value))
		fprintf(out, ", \"%s\": %.0f", key, value);
	else
		fprintf(out, ", \"%s\": null", key);
}

static void put_low_high(FILE *out, const char *low, const char *high, const struct jprof_range *range)
{
	bool known = !isnan(range->error);
	put_bytes(out, low, known ? range->low : NAN);
	put_bytes(out, high, known ? range->high : NAN);
}

static void put_explained_row(FILE *out, const struct jprof_explained *row)
{
	fprintf(out, "{");
	put_json_words(out, "part", words_of_part(row->part)->key);
	fprintf(out, ", \"depth\": %u, ", row->depth);
	put_json_words(out, "name", *row->name ? row->name : NULL);
	put_bytes(out, "object_size", row->object_size ? (double)row->object_size : NAN);
	fprintf(out, ", ");
	put_json_words(out, "tenants", *row->tenants ? row->tenants : NULL);
	fprintf(out, ", ");
	put_json_words(out, "what", row->what);
	fprintf(out, ", ");
	put_json_words(out, "do", row->remedy);
	put_bytes(out, "bytes", row->bytes);
	put_low_high(out, "low", "high", &row->range);
	put_bytes(out, "growth", row->growth);
	put_low_high(out, "growth_low", "growth_high", &row->growth_range);
	put_bytes(out, "objects", row->objects);
	put_bytes(out, "objects_growth", row->objects_growth);
	fputs(row->own ? ",\"own\":true}" : "}", out);
}

static void put_json_help(FILE *out, const struct jprof_help *help, const struct jprof_settings *settings)
{
	struct help_words words = words_of_help(help, settings);
	fprintf(out, "{");
	put_json_words(out, "help", words.key);
	put_bytes(out, "saves", help->saves);
	fprintf(out, ", \"part\": %s, ", help->part ? "true" : "false");
	put_json_words(out, "do", words.what);
	fprintf(out, ", ");
	put_json_words(out, "why", words.why);
	fprintf(out, "}");
}

static void put_json_group(FILE *out, const struct jprof_explain_info *info)
{
	if (!info->group.known) {
		fprintf(out, ",\n  \"control_group\": null");
		return;
	}
	fprintf(out, ",\n  \"control_group\": {\"known\": true");
	put_bytes(out, "current", info->group.current);
	put_bytes(out, "limit", info->group.limit);
	put_bytes(out, "cache", info->group.cache);
	put_bytes(out, "anon", info->group.anon);
	put_bytes(out, "growth", info->group_growth);
	fprintf(out, "}");
}

void explain_put_json(FILE *out, const struct explained *what)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	const struct jprof_help *help;
	fprintf(out, "{\n  \"jprof_explain\": 1,\n  ");
	put_json_words(out, "file", what->path);
	fprintf(out, ",\n  ");
	put_json_words(out, "members", *what->members ? what->members : NULL);
	fprintf(out, ",\n  \"processes\": %u", info->processes);
	put_bytes(out, "total", info->total);
	put_bytes(out, "growth", info->growth);
	put_bytes(out, "seconds", info->seconds);
	put_bytes(out, "still_shared", info->shared);
	put_bytes(out, "before_fork", info->before_fork);
	put_bytes(out, "worker_shared", info->still_shared);
	fprintf(out, ", \"workers\": %u", info->workers);
	put_json_group(out, info);
	fprintf(out, ",\n  \"rows\": [");
	for (size_t i = 0; i < jprof_explain_count(what->explanation); i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		put_explained_row(out, jprof_explain_at(what->explanation, i));
	}
	fprintf(out, "\n  ],\n  \"helps\": [");
	for (size_t i = 0; (help = jprof_explain_help(what->explanation, i)); i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		put_json_help(out, help, &info->settings);
	}
	fprintf(out, "\n  ]\n}\n");
}
