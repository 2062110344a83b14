/* What is kept of names as a whole: see jprof_cache_measure. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "input/namecache.h"

/* A directory that is not there has nothing: 0 and no descriptor. */
static int open_cache(const char *path, int *dir, struct jprof_error *err)
{
	*dir = jp_ourdir_open(path, false);
	if (*dir >= 0 || errno == ENOENT)
		return 0;
	if (errno == EPERM)
		return jp_error(err, JPROF_E_IO, path, 0,
		                "belongs to somebody else, or others can write it: no names are kept there");
	return jp_error(err, JPROF_E_IO, path, 0, "cannot be opened: %s", strerror(errno));
}

int jprof_cache_measure(const char *path, struct jprof_cache_sum *sum, struct jprof_error *err)
{
	int jp_cleanup(jp_file_close) dir = -1;
	struct jp_ourdir_sum found = { 0 };
	if (jp_null(err, path, sum))
		return JPROF_E_ARGUMENT;
	int rc = open_cache(path, &dir, err);
	if (!rc && dir >= 0 && !jp_ourdir_measure(dir, jp_is_namecache_file, &found))
		rc = jp_error(err, JPROF_E_IO, path, 0, "cannot be read: %s", strerror(errno));
	*sum = (struct jprof_cache_sum){ found.files, found.bytes, jp_namecache_most };
	return rc;
}

int jprof_cache_empty(const char *path, struct jprof_cache_sum *removed, struct jprof_error *err)
{
	int jp_cleanup(jp_file_close) dir = -1;
	struct jp_ourdir_sum dropped = { 0 };
	if (jp_null(err, path, removed))
		return JPROF_E_ARGUMENT;
	int rc = open_cache(path, &dir, err);
	if (!rc && dir >= 0 && !jp_ourdir_trim(dir, jp_is_namecache_file, 0, &dropped))
		rc = jp_error(err, JPROF_E_IO, path, 0, "cannot be emptied: %s", strerror(errno));
	*removed = (struct jprof_cache_sum){ dropped.files, dropped.bytes, jp_namecache_most };
	return rc;
}
