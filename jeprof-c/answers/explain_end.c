#include "answers/explain_end.h"

#include <math.h>
#include <string.h>

#include "cli/terminal.h"

enum { end_line_most = 4608, visible_most = 4096 }; /* no reason is longer: 1024 bytes, each of four at most */

/* Who reads memory sees what there is; who made it a profile alone knows. */
static void put_what_a_profile_adds(FILE *out, const struct explained *what)
{
	explain_put_wrapped(out, what->outside);
	fprintf(out,
	        "Which line made it, for which route, since when: only a program that was\n"
	        "started like this can tell:\n\n"
	        "   jprof run -- %-24s (in a container: --print-env=docker)\n",
	        what->start);
}

/* What /proc alone cannot say, and how to start the process so that it can be said. */
static void put_what_is_unknown(FILE *out, const struct explained *what)
{
	const struct jprof_explained *anonymous = jprof_explain_at(what->explanation, 0);
	char line[end_line_most], name[64] = "its memory holds";
	fputc('\n', out);
	if (explain_part_of(what->explanation, JPROF_PART_LIVE)) {
		put_what_a_profile_adds(out, what);
		return;
	}
	if (*what->outside)
		explain_put_wrapped(out, what->outside);
	if (*what->remedy) {
		fputs(what->remedy, out);
		return;
	}
	if (*what->why) {
		char visible[visible_most];
		jprof_visible(what->why, visible, sizeof visible);
		snprintf(line, sizeof line, "Why: it %s.", visible);
		explain_put_wrapped(out, line);
	}
	if (anonymous && anonymous->part == JPROF_PART_ANONYMOUS)
		snprintf(name, sizeof name, "the %.1f MB of anonymous memory hold", anonymous->bytes / mb);
	snprintf(line, sizeof line,
	         "What %s cannot be seen in a process that was started without profiling: live objects and whose they "
	         "are, Ruby's GC heap, fragmentation, freed pages. Start it again, or one canary of it, like this:",
	         name);
	explain_put_wrapped(out, line);
	fprintf(out, "\n   jprof run -- %-24s (in a container: --print-env=docker)\n", what->start);
	fprintf(out, "\nand then:   jprof snap %s    (now, and again in an hour)\n",
	        strstr(what->start, "puma") ? "--puma --gc" : "PID");
}

/* A bound: what a worker has freed since is not shared any more either, and the master may have grown. */
static void put_sharing(FILE *out, const struct jprof_explain_info *info)
{
	char line[end_line_most];
	snprintf(line, sizeof line,
	         "Copy-on-write: of %.0f MB that the master has, and made before the fork for the most part, "
	         "%s still shares %.0f MB; at most %.0f MB have been copied%s.",
	         info->before_fork / mb, info->workers > 1 ? "a worker" : "its worker", info->still_shared / mb,
	         (info->before_fork - info->still_shared) / mb, info->workers > 1 ? " in each of them" : "");
	fputc('\n', out);
	explain_put_wrapped(out, line);
}

/* Ruby 3.2 and later has slots of up to 640 bytes. */
static bool has_large_slots(const char *ruby)
{
	unsigned major, minor;
	return sscanf(ruby, "%2u.%2u", &major, &minor) == 2 && (major > 3 || (major == 3 && minor >= 2));
}

/* Of one process with its pid. */
static void put_heap_hint(FILE *out, const struct explained *what)
{
	bool counted = explain_part_of(what->explanation, JPROF_PART_OBJECT_TYPE);
	bool one = *what->members && strspn(what->members, "0123456789") == strlen(what->members);
	bool large = has_large_slots(jprof_explain_info(what->explanation)->settings.ruby);
	if (counted)
		fprintf(out, "\nNot in any profile: which lines made the objects in Ruby's GC heap.\n"
		             "Who made them: ObjectSpace.trace_object_allocations, then ObjectSpace.dump_all\n");
	else
		fprintf(out,
		        "\nNot in any profile: Ruby's GC heap (objects%s).\n"
		        "To see what is in it: jprof snap --objects%s%s\n",
		        large ? ", and strings of up to 640 bytes" : "", one ? " " : "", one ? what->members : "");
}

/* What is in no profile, and what would tell more. */
static void put_explain_end(FILE *out, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	if (info->before_fork > info->still_shared)
		put_sharing(out, info);
	else if (info->processes > 1 && info->shared > 0)
		fprintf(out, "\nCopy-on-write: %.0f MB of the processes' memory are still shared since the fork.\n",
		        info->shared / mb);
	if (explain_part_of(e, JPROF_PART_GC_HEAP))
		put_heap_hint(out, what);
	else if (what->ruby || *info->settings.ruby)
		fprintf(out, "\nNot known: Ruby's GC heap, for Ruby slept and was not asked: snap with --gc.\n");
	if (*what->gems)
		fprintf(out, "\nOf which gem the compiled code is:\n%s\n", what->gems);
	if (*what->lines)
		fprintf(out, "\nTo have lines of Ruby: %s\n", what->lines);
	if (isnan(info->total))
		fprintf(out, "\nRSS, fragmentation, freed pages, thread stacks and files are not in a dump.\n"
		             "To see them: jprof snap PID, and then jprof explain of that file\n");
}

void explain_put_end(FILE *out, const struct explained *what)
{
	if (jprof_explain_info(what->explanation)->dumpless)
		put_what_is_unknown(out, what);
	else
		put_explain_end(out, what);
}
