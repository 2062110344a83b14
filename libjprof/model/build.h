/* What all makers of profiles share: objects and locations by address, and the frames' functions. */
#pragma once

#include "input/dumpdata.h"
#include "model/profile.h"

/* The object of a mapping; NULL: of all addresses outside every mapping. JP_NONE when memory is short. */
uint32_t jp_build_object(struct jprof_profile *profile, const struct jprof_map *map);

/* The location of a stack that has none; JP_NONE when memory is short. */
uint32_t jp_build_placeless(struct jprof_profile *profile);

/* The path by which a region without a file goes: nothing but its place tells one from another. */
enum { jp_anon_path_size = 64 };
void jp_anon_path(char path[jp_anon_path_size], uint64_t start);

/* The kind of a path that jp_build_object may have made up. */
enum jp_map_kind jp_object_kind_of(const char *path);

uint32_t jp_build_location(struct jprof_profile *profile, const struct jprof_maps *maps, uint64_t address);

/* The object of places whose address is not told, and in *offset what stands for the one with these names. JP_NONE when
 * memory is short. */
uint32_t jp_build_nowhere(struct jprof_profile *profile, const struct jp_frame *frames, size_t count, uint64_t *offset);

/* Takes note of all mappings that hold code, and of all of files. 0, or -1 when memory is short. */
int jp_build_mappings(struct jprof_profile *profile, const struct jprof_maps *maps);

/* One mapping; its path is not looked at. 0, or -1 when memory is short. */
int jp_build_mapping(struct jprof_profile *profile, const struct jprof_map *map, uint32_t object);

/* The function that an input calls `name` (for people) and `system` (by the linker; may be empty or the
 * same). Where one of them is mangled, it tells the name with and without parameters. */
uint32_t jp_build_function(struct jprof_profile *profile, const char *name, const char *system, const char *file);

/* Whether the only name at a place of an object is what jprof writes where there is none: FILE!0xSTART is of
 * source FDE, FILE+0xOFFSET of NONE; anything else is of source INPUT. */
enum jprof_source jp_build_source(const struct jprof_profile *profile, uint32_t object, const struct jp_frame *frames,
                                  size_t count);

/* Names a location as a symbolized file does: functions separated by --, outermost first. */
int jp_build_given(struct jprof_profile *profile, uint32_t location, const char *text);

/* The same where the file has these functions in full. */
int jp_build_given_frames(struct jprof_profile *profile, uint32_t location, const struct jprof_dump *dump,
                          const struct jp_given_name *given);

/* Takes over what a symbolized file says of the allocator, if it does. 0, or -1 when memory is short. */
int jp_build_given_allocator(struct jprof_profile *profile, const struct jprof_dump *dump);

/* Whether a thread with this number and name ("" or NULL: none) is the wanted one. */
bool jp_is_thread(uint64_t id, const char *name, const char *wanted);

/* The object that holds the innermost frame of most samples, or JP_NONE; *out is set. 0, or -1 when
 * memory is short. */
int jp_find_allocator(const struct jprof_profile *profile, uint32_t *out);

/* As jprof_profile_new, or, where `taken` is the dump, as jprof_profile_take; else that is NULL. */
int jp_profile_from_dump(const struct jprof_dump *dump, struct jprof_dump *taken,
                         const struct jprof_profile_opts *given, struct jprof_profile **profile,
                         struct jprof_error *err);

/* The dump's warnings become notes. 0, or -1 when memory is short. */
int jp_note_warnings(struct jprof_profile *profile, const struct jprof_dump *dump,
                     const struct jprof_profile_opts *opts);

/* A profile of a profile.proto. `damage` says what was wrong with the compressed data around it. */
int jp_profile_from_pprof(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                          const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                          struct jprof_error *err);

/* An error or warning as a note. 0, or -1 when memory is short. */
int jp_note_error(struct jprof_profile *profile, const struct jprof_error *what);
