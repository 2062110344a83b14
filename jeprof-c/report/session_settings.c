/* --interactive: what can be set, and what is. */
#include <stdio.h>
#include <string.h>

#include "report/session.h"

#define SESSION_AT(member) offsetof(struct options, member)

static const struct session_setting settings[] = {
	{ "inuse_space", SET_COUNTER, JPROF_INUSE_SPACE, 0, "bytes in use" },
	{ "inuse_objects", SET_COUNTER, JPROF_INUSE_OBJECTS, 0, "objects in use" },
	{ "alloc_space", SET_COUNTER, JPROF_ALLOC_SPACE, 0, "bytes ever allocated" },
	{ "alloc_objects", SET_COUNTER, JPROF_ALLOC_OBJECTS, 0, "objects ever allocated" },
	{ "functions", SET_GRANULARITY, JPROF_BY_FUNCTION, 0, "rows are functions" },
	{ "lines", SET_GRANULARITY, JPROF_BY_LINE, 0, "rows are source lines" },
	{ "files", SET_GRANULARITY, JPROF_BY_FILE, 0, "rows are source files" },
	{ "addresses", SET_GRANULARITY, JPROF_BY_ADDRESS, 0, "rows are addresses" },
	{ "libs", SET_GRANULARITY, JPROF_BY_LIBRARY, 0, "rows are libraries and gems" },
	{ "sites", SET_GRANULARITY, JPROF_BY_SITE, 0, "rows are lines of Ruby that allocated" },
	{ "tags", SET_GRANULARITY, JPROF_BY_TAG, 0, "rows are tags: routes, jobs" },
	{ "show_bytes", SET_SWITCH, 0, SESSION_AT(show_bytes), "bytes instead of MB" },
	{ "errors", SET_SWITCH, 0, SESSION_AT(errors), "how far each number may be off" },
	{ "ages", SET_SWITCH, 0, SESSION_AT(ages), "how old the memory of each row is" },
	{ "full-names", SET_SWITCH, 0, SESSION_AT(full_names), "names with their parameters" },
};

enum { setting_count = sizeof settings / sizeof *settings };

const struct session_setting *session_setting(size_t i)
{
	return i < setting_count ? &settings[i] : NULL;
}

const struct session_setting *session_setting_find(const char *name)
{
	const struct session_setting *found = NULL;
	size_t len = strlen(name);
	for (size_t i = 0; len && i < setting_count; i++) {
		if (!strcmp(settings[i].name, name))
			return &settings[i];
		if (strncmp(settings[i].name, name, len))
			continue;
		if (found)
			return NULL;
		found = &settings[i];
	}
	return found;
}

void session_setting_apply(struct options *o, const struct session_setting *setting, bool on)
{
	if (setting->kind == SET_COUNTER)
		o->counter = (enum jprof_counter)setting->value;
	else if (setting->kind == SET_GRANULARITY)
		o->granularity = setting->value;
	else
		*(bool *)((char *)o + setting->at) = on;
}

void session_setting_change(struct session *s, const struct session_setting *setting, const struct request *r)
{
	bool on = setting->kind != SET_SWITCH || !*(bool *)((char *)&s->o + setting->at);
	if (r->count && setting->kind == SET_SWITCH)
		on = strcmp(r->words[0], "off") && strcmp(r->words[0], "0") && strcmp(r->words[0], "false");
	session_setting_apply(&s->o, setting, on);
	if (setting->kind == SET_SWITCH)
		fprintf(stderr, "%s is %s\n", setting->name, on ? "on" : "off");
}

static const char *setting_name(int kind, int value)
{
	for (size_t i = 0; i < setting_count; i++)
		if ((int)settings[i].kind == kind && settings[i].value == value)
			return settings[i].name;
	return "";
}

void session_options(struct session *s, const struct request *r)
{
	static const char *const levels[] = { "none", "alloc", "std", "vm" };
	static const char *const frames[] = { "merged", "only", "off" };
	const struct options *o = &s->o;
	/* Where nothing was asked for that is functions, but for tables of a Ruby. */
	int rows = o->granularity == ROWS_USUAL ? JPROF_BY_FUNCTION : o->granularity;
	(void)r;
	fprintf(stderr,
	        "counter     %s\nrows        %s\nsort        %s\nfold        %s\nruby        %s\nfocus       %s\n"
	        "ignore      %s\n",
	        setting_name(SET_COUNTER, (int)o->counter), setting_name(SET_GRANULARITY, rows),
	        o->cum ? "cum" : "flat", levels[o->fold], frames[o->ruby], o->focus ? o->focus : "",
	        o->ignore ? o->ignore : "");
	for (size_t i = 0; i < setting_count; i++)
		if (settings[i].kind == SET_SWITCH)
			fprintf(stderr, "%-11s %s\n", settings[i].name,
			        *(const bool *)((const char *)o + settings[i].at) ? "on" : "off");
}
