/* What is wrong with a set-up: a row of findings for a process, or for a command that is to be started. Nothing of
 * the user's is run, and no process gets a signal. */
#pragma once

#include "jprof-live.h"
#include "run/allocator.h"
#include "snap/opener.h"

/* Room for words with what the kernel takes for a path, or for one word of an environment (MAX_ARG_STRLEN). */
enum { doctor_text_most = 131072 + 1024 };

enum verdict { VERDICT_OK, VERDICT_WARN, VERDICT_BAD, VERDICT_UNKNOWN, VERDICTS };

/* What one check came to. */
struct finding {
	const char *check; /* its name; static */
	enum verdict verdict;
	char *found; /* owned */
	char *fix;   /* what to do about it; NULL: nothing; owned */
};

struct findings {
	struct finding *items;
	size_t count;
};

/* Adds a finding. `fix` may be NULL. Where memory is short that is noted: see cli/shortage.h. */
void findings_add(struct findings *findings, const char *check, enum verdict verdict, const char *fix, const char *fmt,
                  ...) __attribute__((format(printf, 5, 6)));
void findings_free(struct findings *findings);

/* All that the checks look at, gathered once. What could not be learnt is NULL or false. Paths are as the process
 * sees them. */
struct scene {
	const struct jprof_process *process; /* NULL: a command */
	struct jprof_target *held;           /* the process; NULL: a command, or it may not be had */
	struct opener *opener;               /* of its files; NULL: the caller opens them */
	bool shut;                           /* its files may not be opened, for its rights cannot be taken */
	bool elsewhere;                      /* the process sees other file systems than we do */
	unsigned uid;                        /* that dumps are written by */
	struct program target;               /* the program; path NULL: not known */
	char *words;                         /* the command's words, parted by blanks; NULL for a process */
	char *inner;                         /* those behind all launchers; NULL for a process */
	char *without;                       /* of a command: why jprof run would start it without profiling; or NULL */
	char *made;                          /* of a command: a directory that jprof run would make; or NULL */

	bool env_known; /* false: may not be read, or the process has overwritten it by a longer title */
	char *preload;  /* LD_PRELOAD; NULL: not set */
	char *conf;     /* MALLOC_CONF, or what conf_name says; NULL: not set */
	const char *conf_name;
	char *conf_link;    /* what /etc/malloc.conf, a link, says; NULL: there is none */
	char *agent_words;  /* JPROF_AGENT; NULL: not set */
	bool python_malloc; /* PYTHONMALLOC=malloc */

	char *jemalloc;          /* the library; NULL: none. The program's own path, if it holds one */
	bool inside;             /* jemalloc is part of the program */
	struct own_jemalloc own; /* then */
	char *other;             /* another allocator of LD_PRELOAD that comes before any jemalloc; or NULL */
	bool proved;             /* `proof` says what it can do, `tried` what it makes of MALLOC_CONF */
	struct proof proof, tried;

	struct jprof_agent *agent;               /* NULL: none, or it does not answer */
	const struct jprof_agent_report *report; /* NULL: no agent */
	struct jprof_error agent_error;          /* why an announced agent gave no report */
	char *stats;                             /* malloc_stats_print's JSON; NULL: not known */
};

/* Gathers what there is to know of a process, or of a command. Neither fails for what may not be seen. False after
 * having said what is wrong. */
bool scene_of_process(struct scene *scene, const struct jprof_process *process);
bool scene_of_command(struct scene *scene, char *const *argv);
void scene_free(struct scene *scene);

/* The value of jemalloc's option in force, and who tells: "agent", "tried here", or "MALLOC_CONF". NULL: not known. */
const char *scene_option(const struct scene *scene, const char *name, char *value, size_t size);

/* Whether profiling is on, as far as known: 1, 0, or -1. */
int scene_profiles(const struct scene *scene);

/* A path as the process sees it, with no more rights than the process has. Opens a regular file for reading: -1 with
 * errno. */
int scene_open(const struct scene *scene, const char *path);

/* Looks at what lies there: see opener_look. */
int scene_look(const struct scene *scene, const char *path, struct look *look);

/* Opens an ELF file. */
int scene_binary(const struct scene *scene, const char *path, struct jprof_binary **binary, struct jprof_error *err);

/* The program and what is loaded: doctor_alloc.c. */
void check_program(const struct scene *scene, struct findings *findings);
void check_preload(const struct scene *scene, struct findings *findings);
void check_jemalloc(const struct scene *scene, struct findings *findings);
void check_forks(const struct scene *scene, struct findings *findings);
void check_profiling(const struct scene *scene, struct findings *findings);
void check_symbols(const struct scene *scene, struct findings *findings);

/* jemalloc's options: doctor_conf.c. */
void check_conf(const struct scene *scene, struct findings *findings);
void check_refused(const struct scene *scene, struct findings *findings);
void check_options(const struct scene *scene, struct findings *findings);
void check_prof(const struct scene *scene, struct findings *findings);
void check_active(const struct scene *scene, struct findings *findings);
void check_rate(const struct scene *scene, struct findings *findings);
void check_recipe(const struct scene *scene, struct findings *findings);
void check_children(const struct scene *scene, struct findings *findings);

/* Whether the agent's file is loaded, or would be. */
bool preloads_agent(const struct scene *scene);

/* Whether dumps can be written to files; true where it is not known. */
bool can_write_dumps(const struct scene *scene);

/* What a command would do, and what it cannot show: doctor_plan.c. */
enum serving {
	SERVES,
	SERVES_NOT,
	SERVES_REFUSAL, /* it catches the signal, and says that there is no profiling */
	SERVING_UNKNOWN,
};
enum serving command_serves(const struct scene *scene, char *why, size_t size);
void check_run(const struct scene *scene, struct findings *findings);
void check_agent_of_command(const struct scene *scene, struct findings *findings);
void check_signal_of_command(const struct scene *scene, struct findings *findings);
void check_unseen(const struct scene *scene, struct findings *findings);

/* What USR2 does to a server that has no agent's handler; NULL: not one that is known. */
const char *usr2_of(const char *server, const char *role);
extern const char signal_fix[];

/* How dumps come about, and where they go: doctor_dump.c. */
void check_agent(const struct scene *scene, struct findings *findings);
void check_ruby(const struct scene *scene, struct findings *findings);
void check_slots(const struct scene *scene, struct findings *findings);
void check_signal(const struct scene *scene, struct findings *findings);
void check_directory(const struct scene *scene, struct findings *findings);

/* All checks, in the order in which a reader wants them. */
void doctor_look(const struct scene *scene, struct findings *findings);
