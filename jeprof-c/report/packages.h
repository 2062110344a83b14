/* Which package of a distribution brought a file, by the databases of dpkg and apk. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { package_most = 128 };

/* A file to look for, and what was found. */
struct packaged {
	const char *path; /* as the process had it; NULL: not looked for */
	uint32_t end;     /* its last bytes, for the search alone */
	const char *tool; /* the command that installs: "apt install" or "apk add"; NULL: no package has the file */
	char symbols[package_most]; /* the package with its debug symbols */
};

/* Looks for all of them in the databases below `root` ("": this machine), with /usr before lib, bin and sbin or
 * without. Nothing there leads out of the root. */
void packages_find(const char *root, struct packaged *files, size_t count);
