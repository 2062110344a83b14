/* The functions of libruby that make names known. */
#pragma once

#include <stdint.h>

enum jp_ruby_call_kind {
	JP_CALL_METHOD,    /* a method: which class or module, name, function */
	JP_CALL_SINGLETON, /* a method of that object itself */
	JP_CALL_ALLOCATE,  /* what makes a class's objects */
	JP_CALL_CLASS,     /* returns a class or module: below which, name; functions that call these four are read */
	JP_CALL_PATH,      /* returns the class with that full name */
	JP_CALL_CONSTANT,  /* returns a constant: of which class, ID of the name */
	JP_CALL_META,      /* returns an object's singleton class */
	JP_CALL_ID,        /* returns the ID of a name */
};

/* Which argument is what, from 0; -1: none is. */
struct jp_ruby_call {
	const char *function;
	enum jp_ruby_call_kind kind;
	signed char owner;    /* -1: `fixed` is it, or no class */
	signed char name;     /* a text */
	signed char id;       /* or its ID */
	signed char callback; /* the function */
	const char *fixed;    /* the owner where it is always the same */
};

/* What is known of the function of that name; NULL: nothing. */
const struct jp_ruby_call *jp_ruby_call_of(const char *function);
