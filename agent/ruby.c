#include "ruby.h"

#include <string.h>

#include "text.h"

extern void ruby_init(void) __attribute__((weak));
extern const char ruby_version[] __attribute__((weak));

bool ruby_present(void)
{
	return ruby_init != NULL;
}

const char *ruby_version_text(void)
{
	return ruby_present() && ruby_version ? ruby_version : NULL;
}

void ruby_ask(bool gc, unsigned timeout, struct ruby_answer *answer)
{
	(void)timeout;
	memset(answer, 0, sizeof *answer);
	answer->gc = !gc ? "not asked" : ruby_present() ? "not possible" : "no ruby";
	answer->why = "not done yet";
}

static void stats_json(const struct ruby_answer *answer, struct text *text)
{
	if (answer->why) {
		text_str(text, "null");
		return;
	}
	for (int i = 0; i < answer->count; i++) {
		text_str(text, i ? "," : "{");
		text_json(text, answer->stats[i].key);
		text_printf(text, ":%llu", answer->stats[i].value);
	}
	text_str(text, "}");
}

void ruby_json(const struct ruby_answer *answer, struct text *text)
{
	if (!ruby_present()) {
		text_str(text, "null");
		return;
	}
	text_str(text, "{\"version\":");
	text_json(text, ruby_version_text());
	text_str(text, ",\"gc\":");
	text_json(text, answer->gc);
	text_str(text, ",\"gc_stat\":");
	stats_json(answer, text);
	text_str(text, ",\"why\":");
	text_json(text, answer->why);
	text_str(text, "}");
}

void ruby_forked(void)
{
}
