/* What the files of --interactive share: the session, its settings, and what a word may mean. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/edit.h"
#include "report/load.h"

struct session {
	struct options o;       /* as they are set now */
	struct options initial; /* as they were given */
	const struct inputs *inputs;
	struct loaded loaded;
	char *focus, *ignore; /* those of o that were typed */
	bool quit;
};

/* One command with its words. */
struct request {
	const char *name;
	const char *const *words; /* what follows the name */
	size_t count;
	size_t number; /* top20: 20; 0: none */
	const char *file;
};

typedef void session_run_fn(struct session *session, const struct request *request);

/* ---- Settings ---- */

struct session_setting {
	const char *name;
	enum { SET_COUNTER, SET_GRANULARITY, SET_SWITCH } kind;
	int value; /* of the first two */
	size_t at; /* of a switch: its place in struct options */
	const char *help;
};

/* The i-th, or NULL. */
const struct session_setting *session_setting(size_t i);

/* The setting of that name, or the only one that begins so, or NULL. */
const struct session_setting *session_setting_find(const char *name);

void session_setting_apply(struct options *options, const struct session_setting *setting, bool on);

/* A switch changes sides, or is told where. */
void session_setting_change(struct session *session, const struct session_setting *setting,
                            const struct request *request);

/* The command "options": prints what is set. */
session_run_fn session_options;

/* ---- Words ---- */

/* What follows a command, as far as completion knows. */
enum session_next { NEXT_FUNCTION, NEXT_FOLD, NEXT_RUBY, NEXT_SORT, NEXT_NOTHING };

struct session_command {
	const char *name;
	session_run_fn *run;
	enum session_next next;
	const char *arguments, *help; /* NULL: not listed */
};

/* The i-th, or NULL. */
const struct session_command *session_command(size_t i);

/* The i-th report that a session offers, or NULL. */
const struct jprof_format *session_report(size_t i);

/* What a word may mean: a command, a report, a setting; `hits` says how many begin so. */
struct session_meaning {
	const char *name;
	const struct session_command *command;
	const struct jprof_format *report;
	const struct session_setting *setting;
	size_t hits;
	bool exact;
};

struct session_meaning session_meaning(const char *word, size_t len);

/* `context` is the session. */
edit_complete_fn session_complete;
