/* From the words of the command line to a profile with names. */
#pragma once

#include "report/options.h"

/* A snapshot in memory, which is meant where a dump has this very name. */
struct live_input {
	const char *name;
	const void *data;
	size_t len;
	bool dumpless; /* it has no dump */
};

/* What the operands mean. */
struct inputs {
	char *program;  /* path of the program, or NULL; owned */
	bool from_path; /* it was found in PATH, by a bare name */
	char **dumps;   /* part of the operands */
	int dump_count;
	const struct live_input *live;
	size_t live_count;
};

/* Finds out which operand is the program: the first, unless it is a dump. A bare name is looked
 * up here and then in PATH. False after having said what is wrong. */
bool inputs_find(struct inputs *inputs, const struct options *options);

/* Reads a dump in text and says its warnings. NULL after having said what is wrong; with *other set, nothing
 * was said: it is a profile.proto or a bundle. */
struct jprof_dump *load_dump(const char *path, const struct options *options, bool *other);

/* What the dumps came to. */
struct loaded {
	struct jprof_profile *profile; /* all dumps added up, less the base; with names */
	const char *thread;            /* the only thread to show; NULL: all of the profile */
	bool warned;                   /* a dump was not whole, which has been said */
	bool difference;               /* something was subtracted */
	bool live;                     /* snapshots in memory, whose reports are drawn again and again */
};

/* Reads all dumps and gives names. False after having said what is wrong. */
bool load_profile(struct loaded *loaded, const struct inputs *inputs, const struct options *options);

/* The same for one dump that is open already. */
bool load_from_dump(struct loaded *loaded, struct jprof_dump *dump, const char *path, const struct inputs *inputs,
                    const struct options *options);

/* The same for one member of a bundle that is open already. */
bool load_from_bundle(struct loaded *loaded, const struct jprof_bundle *bundle, size_t member,
                      const struct inputs *inputs, const struct options *options);

/* The view that the options ask for; NULL after having said what is wrong. It lives no longer than what was loaded. */
struct jprof_view *load_view(const struct loaded *loaded, const struct options *options);

/* Reads the maps that --maps=FILE|PID names. False after having said what is wrong. */
bool load_maps(const char *word, struct jprof_maps **maps);

/* Names a profile and says what symbolizing has to note. False after having said what is wrong. */
bool load_names(struct jprof_profile *profile, const struct inputs *inputs, const struct options *options);

/* The PID in the name of a dump that jemalloc or the agent named: PREFIX.PID.SEQ.KINDn.heap; 0: it is no such name. */
unsigned long long pid_of_dump(const char *path);

void loaded_free(struct loaded *loaded);
