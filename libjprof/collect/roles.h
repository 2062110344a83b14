/* Application servers, known by the titles that they give their processes. */
#pragma once

/* What a title says. Static strings; "" where it says nothing. */
struct jp_title {
	const char *server; /* "puma", "unicorn", "sidekiq", "resque" */
	const char *role;   /* "master", "worker" */
};

/* `cmdline` is the command line with blanks between its words: a server that has not yet named itself is known
 * by its script. A Puma master has the title of a Puma without workers: only its children tell. */
struct jp_title jp_title_role(const char *title, const char *cmdline);
