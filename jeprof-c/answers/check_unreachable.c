#include "answers/check_unreachable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers/check_text.h"
#include "answers/explain_live.h"
#include "answers/measure.h"
#include "cli/jsonprint.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "report/load.h"
#include "report/overwrite.h"

/* What was found of one snapshot, process or core, and how that is judged. */
struct lost {
	const char *path; /* as it was given */
	struct growth_limit limit;
	double bytes, live; /* to which no pointer was found, and all of malloc's; NAN: not known */
	const char *why;    /* then: why not; */
	const char *remedy;
	enum check_result result;
};

/* Why it is not known. */
static void doubt_lost(struct lost *l, const struct explain_live *live)
{
	const struct snap_heaps *heaps = &live->snap.heaps;
	l->result = CHECK_CANNOT_TELL;
	l->why = "it does not say to what no pointer leads";
	l->remedy = live->asked ? "give a process that has jemalloc and no agent, or its core"
	                        : "take it with jprof snap --unreachable";
	if (live->asked && heaps->refused)
		l->why = heaps->why.text;
	else if (live->asked && heaps->read)
		l->why = "it has another malloc, or not all of its memory could be read";
}

static void judge_lost(struct lost *l, const struct jprof_profile *profile, const struct explain_live *live)
{
	l->bytes = jprof_profile_figure(profile, false, JPROF_FIGURE_UNREACHABLE);
	l->live = jprof_profile_part(profile, false, JPROF_PART_LIVE);
	if (isnan(l->bytes))
		doubt_lost(l, live);
	else
		l->result = l->bytes <= limit_bytes(&l->limit, l->live) ? CHECK_PASS : CHECK_FAIL;
}

static void put_lost_text(FILE *out, const struct lost *l)
{
	struct jp_strbuf text = { 0 };
	jp_strbuf_visible(&text, l->path);
	const char *path = shortage_text(&text);
	if (l->result == CHECK_CANNOT_TELL)
		fprintf(out, "CANNOT TELL: %s: %s\nDo:       %s\n", path, l->why, l->remedy);
	else
		fprintf(out, "%s: no pointer was found to %s of live memory; the limit is %s\n",
		        l->result == CHECK_PASS ? "PASS" : "FAIL",
		        l->bytes > 0 ? measure_in((struct measure){ mb, "MB" }, l->bytes).text : "0 MB",
		        limit_words(&l->limit).text);
	if (l->result == CHECK_FAIL)
		fprintf(out, "Look:     jprof explain --unreachable %s\n", path);
	jp_strbuf_release(&text);
}

/* The members that all results have: no row was compared. */
static void put_lost_json(FILE *out, const struct lost *l)
{
	json_print(out, "{\n  \"jprof_check\": 1, \"result\": %s, \"why\": %s, \"judged\": 0,\n  ",
	           check_key(l->result), l->why);
	json_print(out, "\"limit\": %f, \"limit_percent\": %g, \"seen\": null, \"total_growth\": null,",
	           l->limit.share > 0 ? NAN : l->limit.bytes, l->limit.share * 100);
	json_print(out, " \"total_failed\": %i,\n  \"failed\": [], \"accepted\": [], \"stopped\": [],", false);
	json_print(out, " \"notes\": [], \"unused\": [],\n  \"unreachable\": %f, \"live\": %f\n}\n", l->bytes, l->live);
}

static bool put_lost(const struct lost *l, enum diff_output output, struct sink *sink)
{
	struct sink_text text;
	sink_text_open(&text);
	if (text.file)
		(output == AS_JSON ? put_lost_json : put_lost_text)(text.file, l);
	return sink_text_write(&text, sink);
}

/* Takes it, where it is a process or a core, and loads it. */
static bool load_lost(struct loaded *loaded, struct inputs *inputs, struct explain_live *live,
                      struct live_input *snapped, struct options *o)
{
	const char *file = o->file;
	o->file = NULL; /* it is for the result; the snapshot is not kept */
	bool good = explain_live_take(live, o) && inputs_find(inputs, o);
	o->file = file;
	*snapped = (struct live_input){
		.name = live->name, .data = live->snap.bundle, .len = live->snap.len, .dumpless = !live->dumped
	};
	inputs->live = snapped;
	inputs->live_count = live->asked;
	return good && overwrites_no_input(o, inputs) && load_profile(loaded, inputs, o);
}

int check_unreachable(const struct diff_options *given)
{
	struct options o = given->common;
	struct lost lost = { .result = CHECK_CANNOT_TELL };
	struct explain_live live = { 0 };
	struct live_input snapped;
	struct inputs inputs = { 0 };
	struct loaded loaded = { 0 };
	if (o.operand_count != 1 || (given->output != AS_TEXT && given->output != AS_JSON) || given->max_total ||
	    given->max_growth || given->update_baseline || given->github) {
		say("--max-unreachable judges one snapshot, process or core, and takes no other limit, format or "
		    "baseline beside it");
		return 1;
	}
	lost.path = o.operands[0];
	o.command = "check";
	o.dumpless = true;
	o.unreachable = true;
	struct sink sink = { .path = o.file };
	bool good = limit_parse("max-unreachable", given->max_unreachable, &lost.limit) &&
	            load_lost(&loaded, &inputs, &live, &snapped, &o);
	if (good) {
		judge_lost(&lost, loaded.profile, &live);
		good = put_lost(&lost, given->output, &sink);
	}
	sink.failed = sink.failed || !good;
	if (!sink_close(&sink)) {
		say("%s: cannot be written: %s", o.file, sink.why);
		good = false;
	}
	loaded_free(&loaded);
	explain_live_free(&live);
	free(inputs.program);
	return !good || lost.result == CHECK_CANNOT_TELL ? 1 : lost.result == CHECK_FAIL ? check_status_of_fail : 0;
}
