/* Whose memory is it, by object file: the answer that needs no symbols. */
#ifndef JP_OPS_OWNER_H
#define JP_OPS_OWNER_H

#include "base/strbuf.h"
#include "model/profile.h"

/* What an object file is to its user. */
enum jp_role {
	JP_ROLE_FOREIGN, /* a library or extension with a business of its own */
	JP_ROLE_RUNTIME, /* the language: libruby, ruby; the main program */
	JP_ROLE_SYSTEM,  /* the allocator, libc, the loader, the C++ runtime */
};

enum jp_role jp_role_of(const struct jprof_profile *profile, uint32_t object);

/* A short name for an object file: "nokogiri 1.13.10" for one that a gem brought, by its path;
 * "libxml2" for /usr/lib/libxml2.so.2.9.14; else the file's name. */
void jp_object_label(const struct jprof_profile *profile, uint32_t object, struct jp_strbuf *label);

/* The owner of a stack's memory: its innermost foreign object; else the innermost that is not the system's;
 * else the innermost. That frame's place in a stack that is not empty. */
size_t jp_owner_place(const struct jprof_profile *profile, const uint32_t *stack, size_t depth);

/* The owner's label, "libxml2 via nokogiri.so" where an extension of the language stands further out. Writes
 * nothing for an empty stack. */
void jp_owner_label(const struct jprof_profile *profile, const uint32_t *stack, size_t depth, struct jp_strbuf *label);

#endif
