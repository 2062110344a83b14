/* glibc's argp.h, as much of it as elfutils' libraries name. musl has none. What is declared here but not
 * defined in shim.c is used by programs only, which are not built. */
#ifndef ARGP_H
#define ARGP_H

#include <errno.h>
#include <stdio.h>

typedef int error_t;

struct argp_state {
	char *name;
	void *input;
	void *hook;
};

struct argp_option {
	const char *name;
	int key;
	const char *arg;
	int flags;
	const char *doc;
	int group;
};

struct argp {
	const struct argp_option *options;
	error_t (*parser)(int key, char *arg, struct argp_state *state);
	const char *args_doc;
	const char *doc;
	const void *children;
	char *(*help_filter)(int key, const char *text, void *input);
	const char *argp_domain;
};

enum { OPTION_ARG_OPTIONAL = 1, OPTION_HIDDEN = 2, ARGP_HELP_SEE = 4 };

#define ARGP_ERR_UNKNOWN E2BIG
#define ARGP_KEY_INIT 0x1000003
#define ARGP_KEY_SUCCESS 0x1000004
#define ARGP_KEY_ERROR 0x1000005

void argp_error(const struct argp_state *state, const char *format, ...);
void argp_failure(const struct argp_state *state, int status, int errnum, const char *format, ...);
void argp_help(const struct argp *argp, FILE *stream, unsigned flags, char *name);

#endif
