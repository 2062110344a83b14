#include "view/owner.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/textparts.h"
#include "model/gems.h"
#include "model/slotsamples.h"

static bool is_library(const char *base)
{
	return strstr(base, ".so") || strstr(base, ".node") || strstr(base, ".bundle");
}

static bool is_library_of(const char *base, const char *const *names, size_t count)
{
	return jp_begins(base, "lib") && jp_begins_any(base + 3, names, count);
}

/* A program is an interpreter if the rest of its name is a version: ruby3.1, python3, node. */
static bool is_interpreter_library(const char *base)
{
	static const char *const libraries[] = { "ruby", "python", "perl", "php", "node.",
		                                 "v8",   "jvm.",   "jli.", "lua", "coreclr" };
	static const char *const programs[] = { "ruby", "python", "pypy", "perl", "php",    "php-fpm",
		                                "node", "nodejs", "java", "lua",  "luajit", "truffleruby" };
	if (is_library_of(base, libraries, jp_count(libraries)))
		return true;
	for (size_t i = 0; i < jp_count(programs); i++) {
		size_t n = strlen(programs[i]);
		if (jp_begins(base, programs[i]) && !base[n + strspn(base + n, "0123456789.-")])
			return true;
	}
	return false;
}

/* Code that was made at run time. */
static bool is_jit(const struct jp_object *object)
{
	return !object->unmapped && (object->kind == JP_MAP_ANON || object->kind == JP_MAP_MEMFD);
}

enum jp_role jp_role_of(const struct jp_code *c, uint32_t object)
{
	static const char *const system[] = { "libc.so",    "libc-",  "libc.musl",   "ld-",
		                              "libpthread", "libdl.", "libdl-",      "libm.so",
		                              "libm-",      "librt.", "libjemalloc", "libstdc++",
		                              "libgcc_s",   "[vdso]", "[vsyscall]",  "libjprof-agent" };
	const char *base = jp_basename(jp_code_object(c, object));
	if (c->objects[object].unmapped || (object == c->allocator && c->objects[object].allocator))
		return JP_ROLE_SYSTEM;
	if (is_jit(&c->objects[object]) || jp_is_slot_object(jp_code_object(c, object)))
		return JP_ROLE_RUNTIME;
	if (jp_begins_any(base, system, jp_count(system)))
		return JP_ROLE_SYSTEM;
	if (is_interpreter_library(base))
		return JP_ROLE_RUNTIME;
	return is_library(base) ? JP_ROLE_FOREIGN : JP_ROLE_PROGRAM;
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

/* Debian's packages of gems; Ruby's own extensions lie beside vendor_ruby. */
static bool vendor_label(const struct jp_code *c, const char *path, struct jp_strbuf *label)
{
	struct jp_span name = jp_vendored_gem(path);
	const char *version = name.len ? jp_gem_version(c->gems, name) : NULL;
	jp_strbuf_add(label, name.ptr ? name.ptr : "", name.len);
	if (version)
		jp_strbuf_printf(label, " %s", version);
	return name.len;
}

/* Gems lie in .../gems/NAME-VERSION/..., their extensions also in .../extensions/PLATFORM/API/NAME-VERSION/... */
static bool gem_label(const struct jp_code *c, const char *path, struct jp_strbuf *label)
{
	const char *gems = strstr(path, "/gems/"), *extensions = strstr(path, "/extensions/");
	const char *s = extensions ? extensions : gems;
	if (!s)
		return vendor_label(c, path, label);
	for (s = strchr(s + 1, '/'); s; s = strchr(s + 1, '/')) {
		size_t len = strcspn(s + 1, "/");
		if (s[1 + len] && gem_of_component(s + 1, len, label))
			return true;
	}
	return false;
}

/* Whose run-time code it is: that of the virtual machine that is mapped. */
static const char *jit_label(const struct jp_code *c)
{
	static const struct {
		const char *begin, *label;
	} machines[] = { { "libjvm.", "JIT (Java)" }, { "libcoreclr.", "JIT (.NET)" }, { "libnode.", "JIT (V8)" },
		         { "libv8", "JIT (V8)" },     { "libluajit", "JIT (LuaJIT)" }, { "libruby", "JIT (Ruby)" },
		         { "libphp", "JIT (PHP)" },   { "libpython", "JIT (Python)" }, { "libLLVM", "JIT (LLVM)" } };
	static const struct {
		const char *name, *label;
	} programs[] = { { "node", "JIT (V8)" },     { "nodejs", "JIT (V8)" },     { "java", "JIT (Java)" },
		         { "ruby", "JIT (Ruby)" },   { "luajit", "JIT (LuaJIT)" }, { "php", "JIT (PHP)" },
		         { "pypy", "JIT (Python)" }, { "python", "JIT (Python)" } };
	for (size_t m = 0; m < jp_count(machines); m++)
		for (uint32_t i = 0; i < c->object_count; i++)
			if (jp_begins(jp_basename(jp_code_object(c, i)), machines[m].begin))
				return machines[m].label;
	uint32_t program = jp_code_program(c);
	const char *base = program == JP_NONE ? "" : jp_basename(jp_code_object(c, program));
	for (size_t i = 0; i < jp_count(programs) && is_interpreter_library(base); i++)
		if (jp_begins(base, programs[i].name))
			return programs[i].label;
	return "JIT";
}

void jp_object_label(const struct jp_code *c, uint32_t object, struct jp_strbuf *label)
{
	const char *path = jp_code_object(c, object), *base = jp_basename(path);
	if (c->objects[object].unmapped)
		jp_strbuf_str(label, "(outside all mappings)");
	else if (is_jit(&c->objects[object]))
		jp_strbuf_str(label, jit_label(c));
	else if (gem_label(c, path, label))
		return;
	else if (jp_begins(base, "lib") && strstr(base, ".so"))
		jp_strbuf_add(label, base, (size_t)(strstr(base, ".so") - base));
	else
		jp_strbuf_str(label, base);
}

bool jp_is_extension(const struct jp_code *c, uint32_t object)
{
	const char *base = jp_basename(jp_code_object(c, object));
	return jp_role_of(c, object) == JP_ROLE_FOREIGN && !jp_begins(base, "lib");
}

/* Libraries that call back what they were given. */
static bool only_passes(const char *base)
{
	static const char *const names[] = { "uv", "ev.", "ev-", "event", "ffi" };
	return is_library_of(base, names, jp_count(names));
}

int jp_roles_init(struct jp_roles *roles, const struct jp_code *c)
{
	*roles = (struct jp_roles){ .code = c, .of = calloc((size_t)c->object_count + 1, sizeof *roles->of) };
	for (uint32_t i = 0; roles->of && i < c->object_count; i++)
		roles->of[i] = (struct jp_file_role){
			.role = jp_role_of(c, i),
			.extension = jp_is_extension(c, i),
			.passes = only_passes(jp_basename(jp_code_object(c, i))),
		};
	return roles->of ? 0 : -1;
}

void jp_roles_release(struct jp_roles *roles)
{
	free(roles->of);
	*roles = (struct jp_roles){ 0 };
}

/* The place of the innermost object with a role below `above`; `depth` if there is none. */
static size_t innermost(const struct jp_roles *r, const uint32_t *objects, size_t depth, enum jp_role above)
{
	size_t i = 0;
	while (i < depth && r->of[objects[i]].role >= above)
		i++;
	return i;
}

size_t jp_owner_place(const struct jp_roles *r, const uint32_t *objects, size_t depth)
{
	size_t place = innermost(r, objects, depth, JP_ROLE_SYSTEM);
	if (place < depth && r->of[objects[place]].role == JP_ROLE_RUNTIME) {
		/* What the interpreter allocated is for the innermost library or extension that called it; `depth` if
		 * there is none. */
		size_t caller = 0;
		while (caller < depth &&
		       (r->of[objects[caller]].role != JP_ROLE_FOREIGN || r->of[objects[caller]].passes))
			caller++;
		return caller < depth ? caller : place;
	}
	return place == depth ? 0 : place;
}

/* Of several extensions in a stack the one next to the library is meant. */
uint32_t jp_innermost_extension(const struct jp_roles *r, const uint32_t *objects, size_t depth)
{
	for (size_t i = 0; i < depth; i++)
		if (r->of[objects[i]].extension)
			return objects[i];
	return JP_NONE;
}

uint32_t jp_owner_via(const struct jp_roles *r, const uint32_t *objects, size_t depth, size_t owner)
{
	const struct jp_file_role *role = &r->of[objects[owner]];
	return role->role != JP_ROLE_FOREIGN || role->extension ? JP_NONE : jp_innermost_extension(r, objects, depth);
}

void jp_owner_label(const struct jp_roles *r, const uint32_t *objects, size_t depth, struct jp_strbuf *label)
{
	size_t owner = jp_owner_place(r, objects, depth);
	uint32_t via = jp_owner_via(r, objects, depth, owner);
	jp_object_label(r->code, objects[owner], label);
	if (via == JP_NONE)
		return;
	jp_strbuf_str(label, " via ");
	jp_object_label(r->code, via, label);
}
