#include "answers/unreachable_text.h"

#include "answers/lostlines.h"
#include "answers/measure.h"
#include "cli/terminal.h"

enum { most_lost_shown = 16 };

static const struct measure megabytes = { mb, "MB" };

/* In the table's unit; with one of its own where that would show nothing. */
static void put_lost_bytes(struct jp_strbuf *text, struct measure unit, double bytes)
{
	static const double least = 0.005;
	char own[24];
	if (bytes / unit.bytes >= least || !(bytes > 0)) {
		jp_strbuf_printf(text, "%8.2f", bytes / unit.bytes);
		return;
	}
	snprintf(own, sizeof own, bytes < 1024 ? "%.0f B" : "%.1f KB", bytes < 1024 ? bytes : bytes / 1024);
	jp_strbuf_printf(text, "%8s", own);
}

static void add_lost_line(struct answer *a, struct measure unit, double bytes, double blocks, uint64_t size,
                          const char *what)
{
	char each[24] = "";
	struct jp_strbuf *text = answer_add(a, ANSWER_LINES);
	if (size)
		snprintf(each, sizeof each, "%llu", (unsigned long long)size);
	put_lost_bytes(text, unit, bytes);
	jp_strbuf_printf(text, " %8.0f %7s  ", blocks, each);
	jp_strbuf_visible(text, what);
	jp_strbuf_str(text, "\n");
}

/* The rows that fit a screen, and what they have together. */
static void add_lost_table(struct answer *a, const struct jprof_explanation *e)
{
	const struct jprof_explained *row, *all = explain_part_of(e, JPROF_PART_UNREACHABLE);
	const struct measure unit = measure_fit(megabytes, all->bytes);
	double bytes = 0, blocks = 0;
	int shown = 0;
	for (size_t i = 0; (row = jprof_explain_at(e, i)); i++) {
		if (row->part != JPROF_PART_LOST)
			continue;
		if (!shown)
			jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "%8s   blocks   bytes  what is in them",
			                 unit.name);
		if (shown++ < most_lost_shown) {
			add_lost_line(a, unit, row->bytes, row->objects, row->object_size, row->name);
			bytes += row->bytes;
			blocks += row->objects;
		}
	}
	if (blocks < all->objects)
		add_lost_line(a, unit, all->bytes - bytes, all->objects - blocks, 0, "others (--json has more)");
	if (shown)
		add_lost_line(a, unit, all->bytes, all->objects, 0, "no pointer found");
}

void unreachable_add(struct answer *a, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	const struct jprof_explained *all = explain_part_of(e, JPROF_PART_UNREACHABLE);
	if (all->objects > 0)
		jp_strbuf_printf(answer_add(a, ANSWER_SENTENCE), "No pointer was found to %s, %.0f block%s.",
		                 measure_in(megabytes, all->bytes).text, all->objects, all->objects == 1 ? "" : "s");
	else
		jp_strbuf_str(answer_add(a, ANSWER_SENTENCE), "To each block of its live memory a pointer was found.");
	add_lost_table(a, e);
	if (all->objects > 0)
		lost_lines_add(a, what->lost_lines);
	struct jp_strbuf *text = answer_add(a, ANSWER_NOTE);
	jp_strbuf_printf(text, "Looked for from %u mappings of data, stacks%s among them%s.", info->roots,
	                 explain_part_of(e, JPROF_PART_GC_HEAP) ? " and Ruby's GC heap" : "",
	                 info->seen.core    ? ", and the registers of threads"
	                 : all->objects > 0 ? ", in two looks or more, a second apart"
	                                    : "");
	if (all->objects > 0)
		jp_strbuf_printf(text,
		                 " A pointer that a program hides (encoded%s, or on a device) is not "
		                 "seen: then the block is listed here, and lives.",
		                 info->seen.core ? "" : ", in a register");
	if (what->lists_lost && what->lost) {
		answer_add(a, ANSWER_NOTE);
		jp_strbuf_str(answer_add(a, ANSWER_LINES), what->lost);
	} else if (all->objects > 0 && (what->live || info->seen.core)) {
		jp_strbuf_str(text, " --addresses lists them, for gdb.");
	}
	if (all->objects > 0 && info->dumpless)
		jp_strbuf_printf(answer_add(a, ANSWER_MORE),
		                 "Which line: start it with `jprof run -- %s`. These blocks then have one.",
		                 what->start);
}
