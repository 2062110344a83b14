/* The hook is called right after the dump was written and closed, on the thread that made it, under the lock of
 * jemalloc's that was held over the dump and that fork takes. So the table is there as soon as the dump is, also where
 * the process ends then, or has no thread of the agent's; and no child inherits a descriptor. */
#include "otherdump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jemalloc.h"
#include "ruby/dumptable.h"
#include "textbuf.h"

static dump_fn *before;

static int create(const char *path, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = open(path, flags, 0600);
	if (fd < 0 && errno == EEXIST && unlink(path) == 0) /* a killed process left it */
		fd = open(path, flags, 0600);
	if (fd >= 0 && mode != 0600)
		fchmod(fd, mode);
	return fd;
}

/* A file that grows beyond the limit would kill the thread that writes. */
static bool may_write(const struct textbuf *text)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && text->len <= limit.rlim_cur;
}

static void write_beside(const char *path, mode_t mode, const struct textbuf *text)
{
	char part[PATH_MAX + 16], whole[PATH_MAX + 8];
	int len = snprintf(whole, sizeof whole, "%s.ruby", path);
	if (len < 0 || (size_t)len >= sizeof whole || !may_write(text))
		return;
	snprintf(part, sizeof part, "%s.part", whole);
	int fd = create(part, mode);
	if (fd < 0)
		return;
	int error = textbuf_write(text, fd);
	close(fd);
	if (error || rename(part, whole) != 0)
		unlink(part);
}

static void add_table(const char *path, const struct dumptable_bounds *bounds)
{
	struct textbuf text = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && dumptable_make(fd, bounds, &text))
		write_beside(path, st.st_mode & 0777, &text);
	textbuf_free(&text);
	close(fd);
}

/* What came before is in epochs before the running one; that one, too, has what came while jemalloc wrote. */
static void on_dump(const char *path)
{
	struct dumptable_bounds bounds;
	int error = errno;
	if (before)
		before(path);
	dumptable_begin(&bounds);
	bounds.after = bounds.before + 1;
	bounds.before -= bounds.before > 0;
	if (path && *path && !jemalloc_dumps_here(path))
		add_table(path, &bounds);
	errno = error;
}

void otherdump_init(void)
{
	jemalloc_hook_dumps(on_dump, &before);
}
