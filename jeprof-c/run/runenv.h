/* The environment that a program is profiled with. */
#pragma once

#include "run/allocator.h"

/* What the user wants. Paths are absolute. */
struct run_wish {
	const char *dir;    /* of the dumps; NULL: prof_prefix is not ours to set */
	const char *label;  /* the dumps' first word */
	size_t sample;      /* lg_prof_sample */
	bool inactive;      /* prof_active:false */
	bool alloc;         /* prof_accum:true */
	bool sample_given;  /* said on the command line, so that it counts more than the environment */
	bool prefix_given;  /* --dir or --label was */
	const char *agent;  /* the agent's file, or NULL: none */
	const char *target; /* "for=" of the agent; NULL: its default, Ruby */
	const char *at;     /* "at=" of the agent, or NULL */
	const char *slots;  /* "slots=" likewise */
};

/* Values of the variables; NULL: leave the variable alone. All owned. */
struct run_env {
	char *ld_preload;
	char *malloc_conf;
	const char *conf_name; /* the variable of malloc_conf: MALLOC_CONF, or that of the program's own jemalloc */
	char *jprof_agent;
};

/* Puts the values together with what the environment has, and says in one line each what of the two gave way.
 * 0, or a code with the reason in *err. */
int run_env_make(struct run_env *env, const struct run_wish *wish, const struct allocator *allocator,
                 struct jprof_error *err);

/* Sets them. 0, or -1 when memory is short. */
int run_env_set(const struct run_env *env);

void run_env_free(struct run_env *env);

/* Ways to write variables down. */
enum env_form { ENV_NONE, ENV_SHELL, ENV_DOCKER, ENV_HELM, ENV_PROCFILE, ENV_SYSTEMD };
#define ENV_FORMS "shell|docker|helm|procfile|systemd"

/* Prints them to standard output, so quoted that whoever reads the form gets the very bytes. */
void run_env_print(const struct run_env *env, enum env_form form);
