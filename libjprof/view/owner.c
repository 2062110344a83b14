#include "view/owner.h"

#include <ctype.h>
#include <string.h>

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_library(const char *base)
{
	return strstr(base, ".so") || strstr(base, ".node") || strstr(base, ".bundle");
}

enum jp_role jp_role_of(const struct jp_code *c, uint32_t object)
{
	static const char *const system[] = { "libc.so",     "libc-",     "libc.musl", "ld-",    "libpthread",
		                              "libdl.",      "libdl-",    "libm.so",   "libm-",  "librt.",
		                              "libjemalloc", "libstdc++", "libgcc_s",  "[vdso]", "[vsyscall]" };
	const char *base = jp_basename(jp_code_object(c, object));
	if (c->objects[object].unmapped || (object == c->allocator && c->objects[object].allocator))
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

void jp_object_label(const struct jp_code *c, uint32_t object, struct jp_strbuf *label)
{
	const char *path = jp_code_object(c, object), *base = jp_basename(path);
	if (c->objects[object].unmapped)
		jp_strbuf_str(label, "(outside all mappings)");
	else if (gem_label(path, label))
		return;
	else if (starts(base, "lib") && strstr(base, ".so"))
		jp_strbuf_add(label, base, (size_t)(strstr(base, ".so") - base));
	else
		jp_strbuf_str(label, base);
}

/* An extension of the language: foreign, and not named like a system library. */
static bool is_extension(const struct jp_code *c, uint32_t object)
{
	const char *base = jp_basename(jp_code_object(c, object));
	return jp_role_of(c, object) == JP_ROLE_FOREIGN && !starts(base, "lib");
}

/* The place of the innermost object with a role below `above`; `depth` if there is none. */
static size_t innermost(const struct jp_code *c, const uint32_t *objects, size_t depth, enum jp_role above)
{
	size_t i = 0;
	while (i < depth && jp_role_of(c, objects[i]) >= above)
		i++;
	return i;
}

size_t jp_owner_place(const struct jp_code *c, const uint32_t *objects, size_t depth)
{
	size_t place = innermost(c, objects, depth, JP_ROLE_RUNTIME);
	if (place == depth)
		place = innermost(c, objects, depth, JP_ROLE_SYSTEM);
	return place == depth ? 0 : place;
}

/* Of several extensions in a stack the one next to the library is meant: the innermost. */
static uint32_t innermost_extension(const struct jp_code *c, const uint32_t *objects, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (is_extension(c, objects[i]))
			return objects[i];
	return JP_NONE;
}

void jp_owner_label(const struct jp_code *c, const uint32_t *objects, size_t depth, struct jp_strbuf *label)
{
	uint32_t owner = objects[jp_owner_place(c, objects, depth)];
	jp_object_label(c, owner, label);
	uint32_t via = is_extension(c, owner) ? JP_NONE : innermost_extension(c, objects, depth);
	if (jp_role_of(c, owner) == JP_ROLE_FOREIGN && via != JP_NONE)
		jp_strbuf_printf(label, " via %s", jp_basename(jp_code_object(c, via)));
}
