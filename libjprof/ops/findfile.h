/* Which file on disk gave the code of an object in a dump, and is it still the one that ran? */
#pragma once

#include "input/objfile.h"
#include "model/profile.h"

/* The locations of one object. */
struct jp_sites {
	const struct jprof_profile *profile;
	const uint32_t *locations;
	uint32_t count;
};

struct jp_found {
	struct jp_objfile *file; /* NULL: none that can be used; to be closed by the caller */
	enum jprof_proof proof;
	enum jp_doubt doubt; /* of its names. That it changed is a hint only, for package managers keep old times */
	char build_id[2 * 64 + 1];
	char refused_id[2 * 64 + 1]; /* the build-id of the last file that was contradicted; "": none */
	char reason[256];            /* why there is no file; "" if there is one */
	enum jprof_advice advice;    /* what would help */
};

/* Looks at lib_prefix, then at the object's own path, then, for the main program, at program, then at
 * add_lib: the first file that does not contradict the dump is taken. 0, or -1 when memory is short.
 *
 * Evidence, in this order: the build-id, where the input tells it (proof whatever else is the case if it is the same,
 * contradiction if it differs or the file has none), and that of a file that was contradicted before; the device and
 * inode of the maps (proof, unless the file was changed since the first dump, by its ctime); program headers that must
 * fit the executable mappings (contradiction if not); return addresses, before which there must be a call
 * (contradiction if more than a quarter have none; fewer than five prove nothing). Of an input with names of its own a
 * build-id alone counts. Files that may be there and could not be read are added to *unread. */
int jp_find_file(struct jprof_profile *profile, uint32_t object, const struct jp_sites *sites,
                 const struct jprof_symbolize_opts *opts, struct jp_unread *unread, struct jp_found *found);

/* The image address of a location in its object's file. False if it lies outside all segments. */
bool jp_site_vaddr(const struct jprof_profile *profile, const struct jp_location *location,
                   const struct jp_objfile *file, uint64_t *vaddr);

/* Whether the object can be code that was made at run time, of which there is no file. */
bool jp_is_made_at_run_time(const struct jprof_profile *p, const struct jp_object *object);

/* Notes it where opts->program does not fit what the maps say ran. 0, or -1 when memory is short. */
int jp_note_program(struct jprof_profile *profile, const struct jprof_symbolize_opts *opts);

/* Notes the files that could not be read, in one line; none if there are none. 0, or -1 when memory is short. */
int jp_note_unread(struct jprof_profile *profile, const struct jp_unread *unread);
