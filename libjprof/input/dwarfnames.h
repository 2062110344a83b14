/* What the functions of a compile unit are called where the linker's name does not tell: by the scopes around them. */
#pragma once

#include "base/intern.h"
#include "base/strbuf.h"
#include "input/dwarfsource.h"
#include "input/lookup.h"

enum jp_dwarf_language { JP_DWARF_PLAIN, JP_DWARF_CPLUSPLUS, JP_DWARF_FORTRAN };

struct jp_spelled;
struct jp_lambda;

/* Where the walk over a unit is. */
struct jp_dwarf_scope {
	size_t len;         /* of the names around it: "ns::type::" */
	uint32_t lambda;    /* the lambda whose members come next, or JP_NONE */
	Dwarf_Die function; /* the innermost function around it; addr NULL: none */
	size_t function_end;
};

struct jp_dwarf_names {
	struct jp_dwarf_source *source;
	enum jp_dwarf_language language;
	struct jp_strbuf text; /* of the scope */
	struct jp_dwarf_scope at;
	struct jp_strbuf outer;     /* the scope of the last function that was asked for its own */
	const void *outer_of;       /* its DIE */
	struct jp_intern known;     /* DIEs of functions whose names are made here */
	struct jp_intern units;     /* units that were looked through for these, by their DIEs */
	struct jp_spelled *spelled; /* and these, by id in `known` */
	size_t spelled_cap;
	struct jp_lambda *lambdas; /* until jp_dwarf_names_forget */
	size_t lambda_count, lambda_cap;
	bool failed; /* memory was short */
};

/* Begins a unit. What was made lives in the arena of `source`, which must outlive the names. */
void jp_dwarf_names_begin(struct jp_dwarf_names *names, struct jp_dwarf_source *source, Dwarf_Die *unit);

/* A walk goes into a DIE that gives its children a scope, and comes back. */
struct jp_dwarf_scope jp_dwarf_names_enter(struct jp_dwarf_names *names, Dwarf_Die *die);
void jp_dwarf_names_leave(struct jp_dwarf_names *names, const struct jp_dwarf_scope *before);

/* A walk is at a function. */
void jp_dwarf_names_visit(struct jp_dwarf_names *names, Dwarf_Die *die);

/* After the walk: what a function or an inlined one is called, to frame->name, shown and brief. */
void jp_dwarf_names_put(struct jp_dwarf_names *names, Dwarf_Die *die, struct jp_symframe *frame);

/* Forgets what DIEs are called: those of a .dwo file, which may be closed. */
void jp_dwarf_names_forget(struct jp_dwarf_names *names);
void jp_dwarf_names_release(struct jp_dwarf_names *names);
