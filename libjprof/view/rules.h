/* Rules that tell what memory is for, by functions, libraries and paths of Ruby: rules.txt has the format, and those
 * that are built in. */
#pragma once

#include "base/arena.h"
#include "base/intern.h"
#include "base/reader.h"
#include "jprof.h"

enum jp_rule_subject { JP_RULE_FUNCTION, JP_RULE_TABLE, JP_RULE_LIBRARY, JP_RULE_PATH };

struct jp_rule {
	const char *group, *kind;
	const char *what, *remedy; /* NULL: nothing is said */
};

/* Instead of a rule's number: none, and that the search ends. */
enum { JP_NO_RULE = 0x7ffffffe, JP_RULE_STOP };

struct jp_rule_pattern {
	const char *text; /* as fnmatch has it */
	uint32_t rule;
	enum jp_rule_subject subject;
};

struct jp_rules {
	struct jp_arena texts;
	struct jp_rule *rules;
	size_t count, cap;
	size_t given;   /* that many, the first, are the caller's */
	bool has_paths; /* one is about paths */
	struct jp_rule_pattern *patterns;
	size_t pattern_count, pattern_cap;
};

/* Reads the caller's rules (may be empty), then, if they are wanted, those that are built in, which are about Rubies. A
 * line that is none is JPROF_E_FORMAT, with its number. To be released in either case. */
int jp_rules_read(struct jp_rules *rules, struct jp_span given, bool built_in, struct jprof_error *err);
void jp_rules_release(struct jp_rules *rules);

/* The number of the first rule with a pattern for this name; JP_NO_RULE, and of functions JP_RULE_STOP. Of
 * functions and tables a short name: what compilers append behind a dot is no part of it (names of up to 511 bytes). */
uint32_t jp_rule_find(const struct jp_rules *rules, enum jp_rule_subject subject, const char *name);
