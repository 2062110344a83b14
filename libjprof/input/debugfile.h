/* Finds, and opens, the debug information that an object file left elsewhere. */
#pragma once

#include "input/debuginfod.h"
#include "input/namereply.h"
#include "input/namerequest.h"
#include "input/objfile.h"

/* Where to look; see jprof_symbolize_opts. All may be NULL or zero. */
struct jp_debug_where {
	struct jp_root root;                    /* below which paths that are not the user's are looked up */
	const char *dirs;                       /* the user's, comma-separated */
	const char *files;                      /* the user's, comma-separated, which may be debug files */
	struct jp_debuginfod *server;           /* NULL: no server is asked */
	const struct jp_packfiles *packs;       /* names for what stays nameless; not looked at here */
	struct jp_namecache *cache;             /* where names are kept; NULL: nowhere. Nor is this */
	const struct jprof_name_finder *finder; /* NULL: names are found in this process. Nor is this */
};

/* What was found. */
struct jp_debugfiles {
	struct jp_objfile *debug;  /* the debug file, or NULL; unless `dwarf` says more, for its symbols alone */
	struct jp_objfile *shared; /* what dwz moved out of the debug information, or NULL */
	enum jp_dwarf_in dwarf;    /* where debug information is that can be used */
};

/* Whether the debug information in these files can be used: only reading it shows. */
struct jp_dwarf_judge {
	int (*judge)(void *context, const struct jp_debugfiles *files, enum jp_dwarf_state *state); /* -1: no memory */
	void *context;
};

/* Fills *found, which is empty. If the file has no debug information of its own, a
 * separate debug file is looked for, in this order:
 *
 *   .build-id/xx/yyy.debug below the debug directories; its build-id must be the file's
 *   .gnu_debuglink: beside the file, in .debug there, below the debug directories by the file's
 *                   directory; its CRC-32 must be right, and its build-id if both have one
 *   where->files    of the same build-id
 *   where->server   by build-id
 *
 * One without usable DWARF is kept for its symbols if nothing better comes. What dwz moved into a file
 * of its own (.gnu_debugaltlink) is looked for by its path, by its path below the debug directories,
 * and like the above by its build-id, which must be right; without it the DWARF is not used.
 *
 * What was refused, and why, is remarked on `file`. 0, or -1 when memory is short; *found is to be released either
 * way. */
int jp_debugfiles_find(struct jp_objfile *file, const struct jp_debug_where *where, const struct jp_dwarf_judge *judge,
                       struct jp_debugfiles *found);

/* Closes what was found, and leaves it empty. */
void jp_debugfiles_release(struct jp_debugfiles *found);
