/* Whose memory is it, by object file: the answer that needs no symbols. */
#pragma once

#include "base/strbuf.h"
#include "model/code.h"

/* What an object file is to its user. */
enum jp_role {
	JP_ROLE_FOREIGN, /* a library or extension with a business of its own */
	JP_ROLE_PROGRAM, /* the main program, unless it is an interpreter */
	JP_ROLE_RUNTIME, /* an interpreter: libruby, ruby, libjvm, node; the code that it makes */
	JP_ROLE_SYSTEM,  /* the allocator, libc, the loader, the C++ runtime, jprof's agent */
};

enum jp_role jp_role_of(const struct jp_code *code, uint32_t object);

/* An extension of the language: foreign, and not named like a system library. */
bool jp_is_extension(const struct jp_code *code, uint32_t object);

/* The roles of all objects, looked up once: stacks are deep, and files few. */
struct jp_roles {
	const struct jp_code *code;
	struct jp_file_role {
		enum jp_role role;
		bool extension; /* jp_is_extension */
		bool passes;    /* it calls back what it was given: it owns what it allocates, and nothing below */
	} * of;                 /* by object */
};

/* 0, or -1 when memory is short. To be released in either case. */
int jp_roles_init(struct jp_roles *roles, const struct jp_code *code) jp_must_check;
void jp_roles_release(struct jp_roles *roles);

/* The innermost extension among a stack's objects, innermost first; JP_NONE: there is none. */
uint32_t jp_innermost_extension(const struct jp_roles *roles, const uint32_t *objects, size_t depth);

/* A short name for an object file: "nokogiri 1.13.10" for one that a gem brought, by its path;
 * "libxml2" for /usr/lib/libxml2.so.2.9.14; "JIT (Java)" for code that was made at run time; else the file's name. */
void jp_object_label(const struct jp_code *code, uint32_t object, struct jp_strbuf *label);

/* The owner of a stack's memory, given its objects, innermost first and not none: the innermost object that is not the
 * system's. Where that is an interpreter, the innermost library that called it, if there is one: what an extension asks
 * the interpreter for is the extension's. Where all are the system's, the innermost. That object's place in the stack.
 */
size_t jp_owner_place(const struct jp_roles *roles, const uint32_t *objects, size_t depth);

/* Given its place: the extension of the language further out for which a library owns memory. JP_NONE: there is none,
 * or the owner is no library. */
uint32_t jp_owner_via(const struct jp_roles *roles, const uint32_t *objects, size_t depth, size_t owner);

/* The owner's label, "libxml2 via nokogiri.so" where there is such an extension. */
void jp_owner_label(const struct jp_roles *roles, const uint32_t *objects, size_t depth, struct jp_strbuf *label);
