#include "ops/standard.h"

#include <ctype.h>
#include <string.h>

#include "base/macros.h"
#include "base/textparts.h"

enum language { RUST, OTHER, UNKNOWN };

/* Rust's names are those of its v0 scheme, or C++ ones that end in a hash: "17h", 16 digits, "E"; LLVM may append to
 * it. */
static enum language language_of(const char *system)
{
	if (jp_begins(system, "_R"))
		return RUST;
	if (!jp_begins(system, "_Z"))
		return UNKNOWN;
	for (const char *hash = strstr(system, "17h"); hash; hash = strstr(hash + 1, "17h"))
		if (strspn(hash + 3, "0123456789abcdef") == 16 && hash[19] == 'E')
			return RUST;
	return OTHER;
}

/* A path of Rust's crates. Where the language is not known, of those modules that no program is likely to have. */
static bool is_rust_path(const char *path, enum language language)
{
	static const char *const crates[] = { "alloc::", "core::", "hashbrown::", "std::" };
	static const char *const modules[] = {
		"alloc::borrow::", "alloc::boxed::",      "alloc::collections::", "alloc::fmt::",    "alloc::raw_vec::",
		"alloc::rc::",     "alloc::slice::",      "alloc::str::",         "alloc::string::", "alloc::sync::",
		"alloc::vec::",    "core::alloc::",       "core::clone::",        "core::convert::", "core::iter::",
		"core::option::",  "core::ops::function", "core::result::",       "core::slice::",   "hashbrown::",
	};
	if (jp_begins(path, "std::rt::"))
		return false;
	return language == RUST ? jp_begins_any(path, crates, jp_count(crates))
	                        : language == UNKNOWN && jp_begins_any(path, modules, jp_count(modules));
}

/* The first path of a type: what is behind "&mut ", "[", "dyn " and the like. */
static const char *path_of(const char *type)
{
	static const char *const before[] = { "&", "*const ", "*mut ", "mut ", "dyn ", "[", "(", "impl ", "for<'a> " };
	return jp_behind_any(type, before, jp_count(before));
}

/* Whether a type is a path in some crate, and not a builtin type or a parameter such as T. */
static bool has_crate(const char *path)
{
	size_t n = 0;
	while (isalnum((unsigned char)path[n]) || path[n] == '_')
		n++;
	return jp_begins(path + n, "::");
}

/* "<TYPE as TRAIT>::f". A program writes traits of its own for types of std, and the other way round; then the
 * function is the program's. But these traits are implemented for all types within the library. */
static bool is_rust_impl(const char *type, const char *trait, enum language language)
{
	static const char *const blanket[] = {
		"alloc::slice::hack::", "alloc::vec::",           "alloc::string::ToString", "alloc::borrow::ToOwned",
		"core::convert::Into",  "core::convert::TryInto", "alloc::string::Spec",     "core::iter::adapters::"
	};
	const char *path = path_of(type);
	if (*trait == '<' && !has_crate(path_of(trait + 1)))
		return true; /* a trait within a function of a builtin type */
	if (!is_rust_path(trait, language))
		return false;
	return !has_crate(path) || is_rust_path(path, language) || jp_begins_any(trait, blanket, jp_count(blanket));
}

bool jp_is_standard_name(const char *name, const char *system)
{
	static const char *const cxx[] = { "std::", "__gnu_cxx::", "__gnu_debug::" };
	if (jp_begins_any(name, cxx, jp_count(cxx)))
		return !jp_begins(name, "std::rt::");
	if (!strchr("<ach", *name) || !*name)
		return false;
	enum language language = language_of(system);
	if (*name != '<' || language == OTHER)
		return is_rust_path(name, language);
	const char *as = strstr(name, " as ");
	/* Only the library has functions of builtin types: "<[_]>::to_vec". */
	return as ? is_rust_impl(name + 1, as + 4, language) : !has_crate(path_of(name + 1));
}
