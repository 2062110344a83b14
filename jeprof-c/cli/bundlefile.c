#include "cli/bundlefile.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/filename.h"
#include "cli/say.h"

enum { for_owner = 0600, all_bits = 0777, most_digits = 4 };

bool bundle_mode_good(const char *mode)
{
	if (!mode)
		return true;
	size_t len = strlen(mode);
	if (len && len <= most_digits && strspn(mode, "01234567") == len && strtoul(mode, NULL, 8) <= all_bits)
		return true;
	say("--mode=%s: give a file's mode in octal, such as 0644", mode);
	return false;
}

/* A number that sudo gives: decimal digits that fit; -1, which no user has, where it is none. */
static uint32_t id_of(const char *name)
{
	enum { most = 10 };
	const char *text = getenv(name);
	size_t len = text ? strlen(text) : 0;
	if (!len || len > most || strspn(text, "0123456789") != len)
		return UINT32_MAX;
	unsigned long long id = strtoull(text, NULL, 10);
	return id < UINT32_MAX ? (uint32_t)id : UINT32_MAX;
}

/* The file is new and has no name that others know: to give it away gives nothing else away. */
static int give_to_caller_of_sudo(int fd)
{
	uint32_t uid = id_of("SUDO_UID"), gid = id_of("SUDO_GID");
	if (getuid() || geteuid() || !uid || uid == UINT32_MAX || gid == UINT32_MAX)
		return 0;
	return fchown(fd, uid, gid);
}

/* By newfile_open or newfile_make. */
static bool make_bundle_file(bool (*make)(struct newfile *, const char *), struct newfile *file, const char *path,
                             const char *mode)
{
	mode_t was = umask(~(mode_t)for_owner & all_bits); /* at no moment may others open it */
	bool good = make(file, path);
	umask(was);
	if (!good)
		return false;
	if (!give_to_caller_of_sudo(file->fd) && !fchmod(file->fd, mode ? (mode_t)strtoul(mode, NULL, 8) : for_owner))
		return true;
	say("%s: cannot be given its owner and mode: %s", path, strerror(errno));
	newfile_abandon(file);
	return false;
}

bool bundle_file_try(const char *path, const char *mode)
{
	struct newfile file;
	bool good = make_bundle_file(newfile_open, &file, path, mode);
	if (good)
		newfile_abandon(&file);
	return good && filename_fits(path, "bundle");
}

bool bundle_file_open(struct newfile *file, const char *path, const char *mode)
{
	return make_bundle_file(newfile_make, file, path, mode);
}
