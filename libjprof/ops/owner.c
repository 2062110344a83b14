#include "ops/owner.h"

#include <ctype.h>
#include <string.h>

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static const char *path_of(const struct jprof_profile *p, uint32_t object)
{
	return jp_string(p, p->objects[object].path);
}

static bool is_library(const char *base)
{
	return strstr(base, ".so") || strstr(base, ".node") || strstr(base, ".bundle");
}

enum jp_role jp_role_of(const struct jprof_profile *p, uint32_t object)
{
	static const char *const system[] = { "libc.so",     "libc-",     "libc.musl", "ld-",    "libpthread",
		                              "libdl.",      "libdl-",    "libm.so",   "libm-",  "librt.",
		                              "libjemalloc", "libstdc++", "libgcc_s",  "[vdso]", "[vsyscall]" };
	const char *base = jp_basename(path_of(p, object));
	if (p->objects[object].unmapped || (object == p->allocator_hint && p->objects[object].allocator))
		return JP_ROLE_SYSTEM;
	for (size_t i = 0; i < jp_count(system); i++)
		if (starts(base, system[i]))
			return JP_ROLE_SYSTEM;
	if (starts(base, "libruby") || !is_library(base))
		return JP_ROLE_RUNTIME;
	return JP_ROLE_FOREIGN;
}

/* "NAME-VERSION[-PLATFORM]" as RubyGems names directories; a git checkout's has a hash for version. */
static bool gem_of_component(const char *s, size_t len, struct jp_strbuf *label)
{
	for (size_t i = 1; i + 1 < len; i++) {
		if (s[i] != '-' || !isdigit((unsigned char)s[i + 1]))
			continue;
		size_t version = strcspn(s + i + 1, "-/");
		jp_strbuf_printf(label, "%.*s %.*s", (int)i, s, (int)version, s + i + 1);
		return true;
	}
	return false;
}

/* Gems lie in .../gems/NAME-VERSION/..., their extensions also in .../extensions/PLATFORM/API/NAME-VERSION/... */
static bool gem_label(const char *path, struct jp_strbuf *label)
{
	const char *gems = strstr(path, "/gems/"), *extensions = strstr(path, "/extensions/");
	const char *s = extensions ? extensions : gems;
	if (!s)
		return false;
	for (s = strchr(s + 1, '/'); s; s = strchr(s + 1, '/')) {
		size_t len = strcspn(s + 1, "/");
		if (s[1 + len] && gem_of_component(s + 1, len, label))
			return true;
	}
	return false;
}

void jp_object_label(const struct jprof_profile *p, uint32_t object, struct jp_strbuf *label)
{
	const char *path = path_of(p, object), *base = jp_basename(path);
	if (p->objects[object].unmapped)
		jp_strbuf_str(label, "(outside all mappings)");
	else if (gem_label(path, label))
		return;
	else if (starts(base, "lib") && strstr(base, ".so"))
		jp_strbuf_add(label, base, (size_t)(strstr(base, ".so") - base));
	else
		jp_strbuf_str(label, base);
}

/* An extension of the language: foreign, and not named like a system library. */
static bool is_extension(const struct jprof_profile *p, uint32_t object)
{
	const char *base = jp_basename(path_of(p, object));
	return jp_role_of(p, object) == JP_ROLE_FOREIGN && !starts(base, "lib");
}

/* The place of the stack's innermost frame with a role below `above`; `depth` if there is none. */
static size_t innermost(const struct jprof_profile *p, const uint32_t *stack, size_t depth, enum jp_role above)
{
	size_t i = 0;
	while (i < depth && jp_role_of(p, p->locations[stack[i]].object) >= above)
		i++;
	return i;
}

size_t jp_owner_place(const struct jprof_profile *p, const uint32_t *stack, size_t depth)
{
	size_t place = innermost(p, stack, depth, JP_ROLE_RUNTIME);
	if (place == depth)
		place = innermost(p, stack, depth, JP_ROLE_SYSTEM);
	return place == depth ? 0 : place;
}

/* Of several extensions in a stack the one next to the library is meant: the innermost. */
static uint32_t innermost_extension(const struct jprof_profile *p, const uint32_t *stack, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (is_extension(p, p->locations[stack[i]].object))
			return p->locations[stack[i]].object;
	return JP_NONE;
}

void jp_owner_label(const struct jprof_profile *p, const uint32_t *stack, size_t depth, struct jp_strbuf *label)
{
	if (!depth)
		return;
	uint32_t owner = p->locations[stack[jp_owner_place(p, stack, depth)]].object;
	jp_object_label(p, owner, label);
	uint32_t via = is_extension(p, owner) ? JP_NONE : innermost_extension(p, stack, depth);
	if (jp_role_of(p, owner) == JP_ROLE_FOREIGN && via != JP_NONE)
		jp_strbuf_printf(label, " via %s", jp_basename(path_of(p, via)));
}
