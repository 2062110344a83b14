/* Those who may own memory, by number, each with its sum. */
#pragma once

#include "outside/rubycensus.h"
#include "outside/rubyowner.h"

enum jp_referrer_kind {
	JP_REFERRER_NONE, /* nothing that was read points to it */
	JP_REFERRER_RUBY, /* an object of Ruby's */
	JP_REFERRER_CODE, /* what Ruby needs to run: compiled code, methods, classes */
	JP_REFERRER_FILE, /* the data of a program or library */
	JP_REFERRER_STACK,
	JP_REFERRER_OTHER, /* memory that was mapped past malloc, data of threads */
};

struct jp_referrer {
	enum jp_referrer_kind kind;
	bool own; /* an object of a class of the program itself */
	char name[jp_rubyowner_size];
	uint64_t bytes, blocks;
};

struct jp_referrertable {
	struct jp_memsource
	    *source; /* set by the caller, as the next; whose classes are the program's own says the census */
	const struct jp_rubypages *pages;
	const struct jp_rubynames *names;
	const struct jp_rubycensus *census;
	struct jp_referrer *owners; /* the one of number 0 is nobody */
	size_t count;
	struct {
		uint64_t key;
		uint16_t owner; /* 0: the place is free */
	} * known;              /* by hash of a Ruby object's key */
	size_t known_count;
};

/* 0, or -1 when memory is short. To be released in either case. */
int jp_referrertable_open(struct jp_referrertable *table) jp_must_check;

/* Without the owners, where the caller took them. */
void jp_referrertable_release(struct jp_referrertable *table);

/* The number of the owner of that name; where there are too many, of the kind alone. */
unsigned jp_referrertable_named(struct jp_referrertable *table, enum jp_referrer_kind kind, const char *name);

/* That of the Ruby object with these first four words; 0: the slot is free. */
unsigned jp_referrertable_object(struct jp_referrertable *table, const uint64_t words[4]);

/* Sorts them: own ones first, then by descending bytes. Numbers mean nothing any more. */
void jp_referrertable_sort(struct jp_referrertable *table);
