/* The standard libraries of C++ and Rust, by the names of their functions. */
#pragma once

#include <stdbool.h>

/* Whether the function with this short name belongs to std or __gnu_cxx of C++, or to core, alloc, std or hashbrown of
 * Rust: its memory is for what called it. `system` is its name as the linker knows it, by which Rust's core and alloc
 * are told from a program's namespaces of these names. What runs main (std::rt) does not belong to it. */
bool jp_is_standard_name(const char *name, const char *system);
