#include "answers/explain_json.h"

#include <math.h>

#include "answers/explain_copied.h"
#include "answers/lostlines.h"
#include "cli/jsonprint.h"

/* What is counted has no interval. */
static double known_end(const struct jprof_range *range, double end)
{
	return isnan(range->error) ? NAN : end;
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static void put_explained_row(FILE *out, const struct jprof_explained *row)
{
	const struct jprof_range *has = &row->range, *grew = &row->growth_range;
	json_print(out,
	           "{\"part\": %s, \"depth\": %u, \"name\": %s, \"object_size\": %f, \"tenants\": %s, \"what\": %s",
	           words_of_part(row->part)->key, row->depth, text_or_null(row->name),
	           row->object_size ? (double)row->object_size : NAN, text_or_null(row->tenants), row->what);
	json_print(out, ", \"do\": %s, \"bytes\": %f, \"low\": %f, \"high\": %f, \"growth\": %f", row->remedy,
	           row->bytes, known_end(has, has->low), known_end(has, has->high), row->growth);
	json_print(out, ", \"growth_low\": %f, \"growth_high\": %f, \"objects\": %f, \"objects_growth\": %f",
	           known_end(grew, grew->low), known_end(grew, grew->high), row->objects, row->objects_growth);
	fputs(row->own ? ",\"own\":true}" : "}", out);
}

static void put_explain_info(FILE *out, const struct explained *what, const struct jprof_explain_info *info)
{
	const struct jprof_group *g = &info->group;
	json_print(out, "{\n  \"jprof_explain\": 1,\n  \"file\": %s,\n  \"members\": %s,\n  \"processes\": %u",
	           what->path, text_or_null(what->members), info->processes);
	json_print(out, ", \"total\": %f, \"growth\": %f, \"seconds\": %f, \"still_shared\": %f", info->total,
	           info->growth, info->seconds, info->shared);
	json_print(out, ", \"before_fork\": %f, \"worker_shared\": %f, \"workers\": %u,\n  \"control_group\": ",
	           info->before_fork, info->still_shared, info->workers);
	if (g->known)
		json_print(
		    out,
		    "{\"known\": true, \"current\": %f, \"limit\": %f, \"cache\": %f, \"anon\": %f, \"growth\": %f}",
		    g->current, g->limit, g->cache, g->anon, info->group_growth);
	else
		fputs("null", out);
}

void explain_put_json(FILE *out, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	const struct jprof_help *help;
	put_explain_info(out, what, info);
	fputs(",\n  \"rows\": [", out);
	for (size_t i = 0; i < jprof_explain_count(e); i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		put_explained_row(out, jprof_explain_at(e, i));
	}
	fputs("\n  ],\n  \"helps\": [", out);
	for (size_t i = 0; (help = jprof_explain_help(e, i)); i++) {
		struct help_words words = words_of_help(help, &info->settings);
		fputs(i ? ",\n    " : "\n    ", out);
		json_print(out, "{\"help\": %s, \"saves\": %f, \"part\": %i, \"do\": %s, \"why\": %s}", words.key,
		           help->saves, help->part, words.what, words.why);
	}
	fputs("\n  ]", out);
	if (what->unreachable) {
		fputs(",\n  \"unreachable\": ", out);
		lost_lines_put_json(out, what->lost_lines);
	}
	if (what->forks) {
		fputs(",\n  \"copied\": ", out);
		forks_put_json(out, what->forks);
	}
	fputs("\n}\n", out);
}
