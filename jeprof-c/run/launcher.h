/* Programs whose business is to start another one: env, nice, tini, gosu ... */
#pragma once

#include <stdbool.h>

/* What a launcher makes of its words. */
struct launch {
	int inner; /* where the command that it starts begins; 0: not known */
	const char
	    *user;  /* that it becomes, as it was written: "app", "app:app", "1000"; NULL: it stays. Part of argv */
	bool drops; /* it takes LD_PRELOAD out of the environment: setuid, or told to */
	const char *sets; /* a variable of LD_PRELOAD and MALLOC_CONF that it sets itself, as it was written; or NULL */
};

/* Whether a program of that name is one whose words are known. *launch is filled where it is. */
bool launcher_read(char *const *argv, struct launch *launch);

/* Whether a program of that name starts others: a shell, or one of these. What it starts may be anything. */
bool is_launcher(const char *name);
