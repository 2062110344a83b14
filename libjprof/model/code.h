/* What a profile whose names were found knows of code, to be read and not changed: its tables, by their ids. */
#pragma once

#include "model/profile.h"

struct jp_code {
	const struct jp_intern *strings, *directories; /* directories: where Ruby programs were started */
	const struct jp_intern *gems;                  /* "NAME VERSION" of those whose paths have no version */
	const struct jp_object *objects;
	const struct jp_location *locations;
	const uint64_t *vaddrs;
	size_t vaddr_count;
	const struct jp_function *functions;
	const struct jp_frame *frames;
	const struct jp_mapping *mappings;
	uint32_t object_count, location_count, function_count, frame_count, mapping_count;
	bool lean;                                    /* locations may have no frames: model/nameless.h */
	uint32_t allocator;                           /* the object of the samples' innermost frames, or JP_NONE */
	uint32_t debug_root, debug_dirs, debug_files; /* where debug files were looked for (string ids), or JP_NONE */
};

/* Lives as long as the profile, if that is not changed. */
struct jp_code jp_code_of(const struct jprof_profile *profile);

/* The text of a string id; "" for JP_NONE. */
const char *jp_code_string(const struct jp_code *code, uint32_t id);

/* As jp_location_vaddr, of one of the locations. */
uint64_t jp_code_vaddr(const struct jp_code *code, const struct jp_location *location);

/* The path of an object, and of the source file of a function; "" where there is none. */
const char *jp_code_object(const struct jp_code *code, uint32_t object);
const char *jp_code_file(const struct jp_code *code, uint32_t function);

/* The function's name: short, or with its parameters. */
const char *jp_code_name(const struct jp_code *code, uint32_t function, bool full);

/* The main program: the first mapped file with code, by address, that is no library; in a dump of a program started
 * through the loader, too. JP_NONE: there is none. */
uint32_t jp_code_program(const struct jp_code *code);
