/* --interactive: what Tab offers. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/names.h"
#include "report/session.h"

/* A function's name as a pattern that finds it. */
static bool offer_name(const char *name, edit_offer_fn *offer, void *list)
{
	static const char inlined[] = " (inline)", special[] = "\\^$|?*+()[]{}";
	char text[512], *end = text;
	size_t len = strlen(name), mark = sizeof inlined - 1;
	if (len > mark && !strcmp(name + len - mark, inlined))
		len -= mark;
	for (size_t i = 0; i < len && end < text + sizeof text - 3; i++) {
		if (strchr(special, name[i]))
			*end++ = '\\';
		*end++ = isspace((unsigned char)name[i]) || name[i] == '\'' || name[i] == '"' ? '.' : name[i];
	}
	*end = '\0';
	return !is_visible(text) || offer(list, text);
}

static void offer_functions(struct session *s, edit_offer_fn *offer, void *list)
{
	const struct jprof_table_opts order = { .size = sizeof order, .cum = true };
	struct options o = s->o;
	struct jprof_table *table;
	o.granularity = JPROF_BY_FUNCTION;
	o.full_names = false;
	struct jprof_view *view = load_view(&s->loaded, &o);
	if (view && !jprof_table_new(view, &order, &table, NULL)) {
		bool more = true;
		for (size_t i = 0; more && i < jprof_table_count(table); i++)
			more = offer_name(jprof_table_at(table, i)->name, offer, list);
		jprof_table_free(table);
	}
	jprof_view_free(view);
}

static void offer_words(edit_offer_fn *offer, void *list, const char *const *words)
{
	for (; *words; words++)
		offer(list, *words);
}

void session_complete(void *context, const char *line, size_t at, edit_offer_fn *offer, void *list)
{
	struct session *s = context;
	size_t start = strspn(line, " \t"), len = strcspn(line + start, " \t");
	struct session_meaning m = session_meaning(line + start, len);
	if (at <= start) {
		for (size_t i = 0; session_command(i); i++)
			offer(list, session_command(i)->name);
		for (size_t i = 0; session_report(i); i++)
			offer(list, session_report(i)->name);
		for (size_t i = 0; session_setting(i); i++)
			offer(list, session_setting(i)->name);
	} else if (line[at] == '-' && line[at + 1] == '-') {
		char text[64];
		for (size_t i = 0; session_setting(i); i++) {
			snprintf(text, sizeof text, "--%s", session_setting(i)->name);
			offer(list, text);
		}
		offer(list, "--cum");
	} else if (m.command && m.command->next == NEXT_FOLD)
		offer_words(offer, list, (const char *const[]){ "none", "alloc", "std", "vm", NULL });
	else if (m.command && m.command->next == NEXT_RUBY)
		offer_words(offer, list, (const char *const[]){ "merged", "only", "off", NULL });
	else if (m.command && m.command->next == NEXT_SORT)
		offer_words(offer, list, (const char *const[]){ "flat", "cum", NULL });
	else if (m.setting && m.setting->kind == SET_SWITCH)
		offer_words(offer, list, (const char *const[]){ "on", "off", NULL });
	else if (!m.setting && !(m.command && m.command->next == NEXT_NOTHING))
		offer_functions(s, offer, list);
}
