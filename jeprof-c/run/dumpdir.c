#include "run/dumpdir.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/shortage.h"

/* Who is to write. */
struct writer {
	unsigned uid, gid;
};

int dump_user(const char *name, unsigned *uid, unsigned *gid)
{
	char user[256], *end;
	snprintf(user, sizeof user, "%.*s", (int)strcspn(name, ":"), name);
	const struct passwd *entry = getpwnam(user);
	unsigned long number = strtoul(user, &end, 10);
	if (!entry && (*user < '0' || *user > '9' || *end || number >= UINT_MAX))
		return -1;
	*uid = entry ? entry->pw_uid : (unsigned)number;
	*gid = entry ? entry->pw_gid : (unsigned)number;
	return 0;
}

void dump_dir_name(const char *given, unsigned uid, char *dir, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	if (given)
		snprintf(dir, size, "%s", given);
	else
		snprintf(dir, size, "%s/jprof-%u", tmp && *tmp == '/' ? tmp : "/tmp", uid);
}

/* What root makes for another user is given to that user: until then nobody else can enter it. */
static int make_dumpdir(const char *dir, mode_t mode, const struct writer *w, struct jprof_error *err)
{
	if (mkdir(dir, mode))
		return errno == EEXIST ? 0
		                       : fail_as(err, JPROF_E_IO, dir,
		                                 "cannot be made: %s; give another directory with "
		                                 "--dir=DIR",
		                                 strerror(errno));
	if (w->uid != geteuid() && lchown(dir, w->uid, w->gid))
		return fail_as(err, JPROF_E_IO, dir, "cannot be given to user %u: %s", w->uid, strerror(errno));
	return 0;
}

/* By owner and mode where it is not us who will write. */
static bool may_dump_there(const char *dir, const struct stat *st, const struct writer *w)
{
	if (w->uid == geteuid())
		return !access(dir, W_OK | X_OK);
	unsigned shift = st->st_uid == w->uid ? 6 : st->st_gid == w->gid ? 3 : 0;
	errno = EACCES;
	return !w->uid || (st->st_mode >> shift & 3) == 3;
}

static int can_dump_here(const char *dir, const struct writer *w, struct jprof_error *err)
{
	struct stat st;
	int error = stat(dir, &st) ? errno : !S_ISDIR(st.st_mode) ? ENOTDIR : may_dump_there(dir, &st, w) ? 0 : errno;
	if (error && w->uid != geteuid())
		return fail_as(err, JPROF_E_IO, dir,
		               "user %u cannot write a dump there: %s; give another directory with "
		               "--dir=DIR",
		               w->uid, strerror(error));
	return error
	           ? fail_as(err, JPROF_E_IO, dir,
	                     "no dump can be written there: %s; give another directory with --dir=DIR", strerror(error))
	           : 0;
}

/* In a directory that is everybody's the name may be taken by somebody else. */
static int is_private(const char *dir, const struct writer *w, struct jprof_error *err)
{
	struct stat st;
	if (!lstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == w->uid && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return fail_as(err, JPROF_E_IO, dir,
	               "is not %s alone, so no dump goes there; remove it or give another directory with --dir=DIR",
	               w->uid == geteuid() ? "yours" : "that user's");
}

int dump_dir(const char *given, const char *user, char **path, struct jprof_error *err)
{
	struct writer w = { geteuid(), getegid() };
	char dir[4096];
	if (user && !geteuid() && dump_user(user, &w.uid, &w.gid))
		return fail_as(err, JPROF_E_IO, "", "no user %s is known here, who is to write dumps", user);
	dump_dir_name(given, w.uid, dir, sizeof dir);
	int rc = make_dumpdir(dir, given ? 0777 : 0700, &w, err);
	rc = rc || given ? rc : is_private(dir, &w, err);
	rc = rc ? rc : can_dump_here(dir, &w, err);
	if (rc)
		return rc;
	*path = shortage_note(realpath(dir, NULL));
	if (!*path)
		return fail_as(err, JPROF_E_IO, dir, "%s", strerror(errno));
	if (!strchr(*path, ','))
		return 0;
	rc = fail_as(err, JPROF_E_ARGUMENT, *path,
	             "MALLOC_CONF cannot hold a path with a comma; give another directory with --dir=DIR");
	free(*path);
	return rc;
}
