/* JPROF_AGENT: what the user wants of the agent. docs/internals/agent.md lists the words. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct textbuf;

/* Bits: whom it serves. */
enum config_scope { CONFIG_RUBY = 1, CONFIG_ALL = 2, CONFIG_NAME = 4 };

struct config {
	bool off;
	bool socket;
	bool on_exit;
	unsigned scope;
	char name[64];           /* of CONFIG_NAME: the program's short name */
	int signal;              /* 0: none */
	unsigned mode;           /* permissions of dumps and sidecars */
	bool ruby;               /* Ruby stacks and epochs are added to samples */
	unsigned native;         /* frames in front of a Ruby stack, at most */
	unsigned slots;          /* bytes between samples of objects in slots of Ruby's heap, 0: none are taken */
	unsigned epoch;          /* seconds, 0: none */
	unsigned every;          /* seconds between dumps, 0: none */
	unsigned cgroup_percent; /* 0: none */
	uint64_t rss;            /* bytes, 0: none */
	bool peak;               /* dumps at new peaks */
	char unknown[128];       /* the words that were not understood, parted by commas; cut where they are too long */
};

/* Reads the text of JPROF_AGENT, NULL where it is not set. Takes no memory, makes no system call. */
void config_parse(struct config *config, const char *text);

/* Adds the triggers as one would write them in JPROF_AGENT. */
void config_triggers(const struct config *config, struct textbuf *text);
