#include "answers/explain_end.h"

#include <math.h>
#include <string.h>

#include "cli/terminal.h"

#define RUN_LINE "   jprof run -- %-24s (in a container: --print-env=docker)\n"

/* How sure what was read is. */
static void add_what_was_seen(struct jp_strbuf *text, const struct jprof_heap_seen *seen)
{
	jp_strbuf_printf(text, "Read from outside (jemalloc %s), and the process ran on.", seen->jemalloc);
	if (!seen->caches_known)
		jp_strbuf_str(text, " What is freed in the caches of threads counts as live here.");
	if (seen->torn)
		jp_strbuf_printf(text, " %llu of its runs of pages changed while they were read, and are left out.",
		                 (unsigned long long)seen->torn);
	if (seen->cut)
		jp_strbuf_str(text, " It has more than jprof reads: not all of it is counted.");
}

/* What /proc alone cannot say, and how to start the process so that it can be said. Who reads memory sees what there
 * is; who made it a profile alone knows. */
static void add_what_is_unknown(struct answer *a, const struct explained *what)
{
	const struct jprof_explained *anonymous = jprof_explain_at(what->explanation, 0);
	bool read = explain_part_of(what->explanation, JPROF_PART_LIVE);
	answer_add(a, ANSWER_NOTE);
	if (read) {
		add_what_was_seen(answer_add(a, ANSWER_MORE), &jprof_explain_info(what->explanation)->seen);
		jp_strbuf_printf(answer_add(a, ANSWER_LINES),
		                 "Which line made it, for which route, since when: only a program that was\n"
		                 "started like this can tell:\n\n" RUN_LINE,
		                 what->start);
		return;
	}
	jp_strbuf_str(answer_add(a, ANSWER_MORE), what->outside);
	if (*what->remedy) {
		jp_strbuf_str(answer_add(a, ANSWER_LINES), what->remedy);
		return;
	}
	if (*what->why) {
		struct jp_strbuf *why = answer_add(a, ANSWER_MORE);
		jp_strbuf_str(why, "Why: it ");
		jp_strbuf_visible(why, what->why);
		jp_strbuf_str(why, ".");
	}
	struct jp_strbuf *text = answer_add(a, ANSWER_MORE);
	if (anonymous && anonymous->part == JPROF_PART_ANONYMOUS)
		jp_strbuf_printf(text, "What the %.1f MB of anonymous memory hold", anonymous->bytes / mb);
	else
		jp_strbuf_str(text, "What its memory holds");
	jp_strbuf_str(text,
	              " cannot be seen in a process that was started without profiling: live objects and whose "
	              "they are, Ruby's GC heap, fragmentation, freed pages. Start it again, or one canary of it, "
	              "like this:");
	jp_strbuf_printf(answer_add(a, ANSWER_LINES),
	                 "\n" RUN_LINE "\nand then:   jprof snap %s    (now, and again in an hour)\n", what->start,
	                 strstr(what->start, "puma") ? "--puma --gc" : "PID");
}

/* A bound: what a worker has freed since is not shared any more either, and the master may have grown. */
static void add_sharing(struct answer *a, const struct jprof_explain_info *info)
{
	if (info->before_fork > info->still_shared)
		jp_strbuf_printf(
		    answer_add(a, ANSWER_NOTE),
		    "Copy-on-write: of %.0f MB that the master has, and made before the fork for the most part, "
		    "%s still shares %.0f MB; at most %.0f MB have been copied%s.",
		    info->before_fork / mb, info->workers > 1 ? "a worker" : "its worker", info->still_shared / mb,
		    (info->before_fork - info->still_shared) / mb, info->workers > 1 ? " in each of them" : "");
	else if (info->processes > 1 && info->shared > 0)
		jp_strbuf_printf(answer_add(a, ANSWER_NOTE),
		                 "Copy-on-write: %.0f MB of the processes' memory are still shared since the fork.",
		                 info->shared / mb);
}

/* Ruby 3.2 and later has slots of up to 640 bytes. */
static bool has_large_slots(const char *ruby)
{
	unsigned major, minor;
	return sscanf(ruby, "%2u.%2u", &major, &minor) == 2 && (major > 3 || (major == 3 && minor >= 2));
}

/* Of one process with its pid. */
static void add_heap_hint(struct jp_strbuf *lines, const struct explained *what)
{
	bool one = *what->members && strspn(what->members, "0123456789") == strlen(what->members);
	bool large = has_large_slots(jprof_explain_info(what->explanation)->settings.ruby);
	if (explain_part_of(what->explanation, JPROF_PART_OBJECT_TYPE))
		jp_strbuf_str(lines, "\nNot in any profile: which lines made the objects in Ruby's GC heap.\n"
		                     "Who made and who keeps them: jprof keepers --help\n");
	else
		jp_strbuf_printf(lines,
		                 "\nNot in any profile: Ruby's GC heap (objects%s).\n"
		                 "To see what is in it: jprof snap --objects%s%s\n",
		                 large ? ", and strings of up to 640 bytes" : "", one ? " " : "",
		                 one ? what->members : "");
}

/* What is in no profile, and what would tell more. */
static void add_explain_end(struct answer *a, const struct explained *what)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	add_sharing(a, info);
	struct jp_strbuf *lines = answer_add(a, ANSWER_LINES);
	if (explain_part_of(what->explanation, JPROF_PART_GC_HEAP))
		add_heap_hint(lines, what);
	else if (what->ruby || *info->settings.ruby)
		jp_strbuf_str(lines,
		              "\nNot known: Ruby's GC heap, for Ruby slept and was not asked: snap with --gc.\n");
	if (*what->gems)
		jp_strbuf_printf(lines, "\nOf which gem the compiled code is:\n%s\n", what->gems);
	if (*what->lines)
		jp_strbuf_printf(lines, "\nTo have lines of Ruby: %s\n", what->lines);
	if (isnan(info->total))
		jp_strbuf_str(lines, "\nRSS, fragmentation, freed pages, thread stacks and files are not in a dump.\n"
		                     "To see them: jprof snap PID, and then jprof explain of that file\n");
}

void explain_add_end(struct answer *a, const struct explained *what)
{
	(jprof_explain_info(what->explanation)->dumpless ? add_what_is_unknown : add_explain_end)(a, what);
}
