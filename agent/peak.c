#include "peak.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_DUMPS = 2, FILES_OF_DUMP = 3 };

/* A file by its name, and by what it is. An empty path: there is none. */
struct kept_file {
	char path[PATH_MAX + 8];
	dev_t device;
	ino_t inode;
};

static uint64_t last_peak;
static struct kept_file kept_peaks[KEPT_DUMPS][FILES_OF_DUMP];
static unsigned oldest;

void peak_start(uint64_t resident)
{
	last_peak = resident;
	memset(kept_peaks, 0, sizeof kept_peaks);
	oldest = 0;
}

bool peak_is_new(uint64_t resident)
{
	if (!last_peak)
		last_peak = resident;
	return resident >= last_peak + last_peak / 10 && resident > last_peak;
}

static void remember_file(struct kept_file *file, const char *path)
{
	struct stat st;
	file->path[0] = 0;
	if (!*path || strlen(path) >= sizeof file->path || lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	memcpy(file->path, path, strlen(path) + 1);
	file->device = st.st_dev;
	file->inode = st.st_ino;
}

static void remove_kept(const struct kept_file *file)
{
	struct stat st;
	if (*file->path && lstat(file->path, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == file->device &&
	    st.st_ino == file->inode)
		unlink(file->path);
}

/* The dump itself goes first: what is seen of one is whole. */
void peak_keep(const struct dump_result *made, uint64_t resident)
{
	last_peak = resident;
	const char *paths[FILES_OF_DUMP] = { made->dump, made->sidecar, made->table };
	struct kept_file *files = kept_peaks[oldest];
	for (unsigned i = 0; i < FILES_OF_DUMP; i++) {
		remove_kept(&files[i]);
		remember_file(&files[i], paths[i]);
	}
	oldest = (oldest + 1) % KEPT_DUMPS;
}
