#include "answers/check_unreachable.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "answers/check_text.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "cli/terminal.h"
#include "report/load.h"
#include "report/overwrite.h"

static enum check_result judge_lost(const struct jprof_profile *profile, const struct growth_limit *limit,
                                    const char *path, FILE *out)
{
	double lost = jprof_profile_figure(profile, false, JPROF_FIGURE_UNREACHABLE);
	struct jp_strbuf text = { 0 };
	if (isnan(lost)) {
		jp_strbuf_visible(&text, path);
		fprintf(out,
		        "CANNOT TELL: %s does not say to what no pointer leads\n"
		        "Do:       take it with jprof snap --unreachable\n",
		        shortage_text(&text));
		jp_strbuf_release(&text);
		return CHECK_CANNOT_TELL;
	}
	bool good = lost <= limit_bytes(limit, jprof_profile_part(profile, false, JPROF_PART_LIVE));
	fprintf(out, "%s: no pointer was found to %.2f MB of live memory; the limit is %s\n", good ? "PASS" : "FAIL",
	        lost / mb, limit_words(limit).text);
	if (!good) {
		jp_strbuf_visible(&text, path);
		fprintf(out, "Look:     jprof explain --unreachable %s\n", shortage_text(&text));
	}
	jp_strbuf_release(&text);
	return good ? CHECK_PASS : CHECK_FAIL;
}

int check_unreachable(const struct diff_options *given)
{
	struct options o = given->common;
	struct growth_limit limit;
	struct inputs inputs = { 0 };
	struct loaded loaded = { 0 };
	if (o.operand_count != 1 || given->output != AS_TEXT || given->max_total || given->max_growth ||
	    given->update_baseline || given->github) {
		say("--max-unreachable judges one snapshot, and takes no other limit, format or baseline beside it");
		return 1;
	}
	o.command = "check";
	o.dumpless = true;
	enum check_result result = CHECK_CANNOT_TELL;
	struct sink sink = { .path = o.file };
	struct sink_text text;
	bool good = limit_parse("max-unreachable", given->max_unreachable, &limit) && inputs_find(&inputs, &o) &&
	            overwrites_no_input(&o, &inputs) && load_profile(&loaded, &inputs, &o);
	if (good) {
		sink_text_open(&text);
		if (text.file)
			result = judge_lost(loaded.profile, &limit, o.operands[0], text.file);
		good = sink_text_write(&text, &sink);
	}
	sink.failed = sink.failed || !good;
	if (!sink_close(&sink)) {
		say("%s: cannot be written: %s", o.file, sink.why);
		good = false;
	}
	loaded_free(&loaded);
	free(inputs.program);
	return !good || result == CHECK_CANNOT_TELL ? 1 : result == CHECK_FAIL ? check_status_of_fail : 0;
}
