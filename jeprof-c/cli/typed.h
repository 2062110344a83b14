/* A command for the reader to type. */
#pragma once

#include <stdbool.h>

enum { typed_most = 8192 };

struct typed {
	char text[typed_most];
	bool failed; /* it does not fit, or has a word that cannot be shown: it is not to be printed */
};

/* Adds text as it is. */
void typed_add(struct typed *typed, const char *text);

/* Adds a blank and a file or another operand, as a POSIX shell takes it: in quotes where it needs some. */
void typed_word(struct typed *typed, const char *word);

/* Adds " --NAME=VALUE"; nothing without a value. */
void typed_option(struct typed *typed, const char *name, const char *value);

/* Adds " --NAME" if it is on. */
void typed_switch(struct typed *typed, const char *name, bool on);
