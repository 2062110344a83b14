/* A compressed file that is too large for memory, such as a core that systemd-coredump keeps. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "input/unpack.h"

enum { hole_step = 4096 };

/* A core of a gigabyte is usually compressed ten-fold, one of zeros ten-thousandfold. */
static const struct jp_unpack_limits limits_of_core = { .size = 64ULL << 30, .free_size = 4ULL << 30, .ratio = 200 };

static const uint64_t least_left = 256 << 20, between_looks = 64 << 20;

/* A file that takes the bytes, those of zeros as holes. */
struct unpacked {
	int fd;
	char place[PATH_MAX]; /* its folder, for messages */
	uint64_t size, written, looked_at;
};

static bool make_unpacked(struct unpacked *u, const char *place)
{
	int jp_cleanup(jp_file_close) dir = jp_file_open_directory(place);
	u->fd = dir < 0 ? -1 : jp_file_make_nameless(dir);
	snprintf(u->place, sizeof u->place, "%s", place);
	return u->fd >= 0;
}

/* Where large files go that live longer than a boot, and else where the core is. */
static int make_somewhere(struct unpacked *u, const char *path, struct jprof_error *err)
{
	char beside[PATH_MAX];
	const char *slash = strrchr(path, '/');
	snprintf(beside, sizeof beside, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
	if (make_unpacked(u, "/var/tmp") || make_unpacked(u, beside))
		return 0;
	return jp_error(
	    err, JPROF_E_IO, path, 0,
	    "is compressed, and neither /var/tmp nor its folder takes what it stands for (%s): unpack it first",
	    strerror(errno));
}

static bool has_only_zeros(const char *bytes, size_t len)
{
	return !len || (!*bytes && !memcmp(bytes, bytes + 1, len - 1));
}

static int put_unpacked(struct unpacked *u, const char *bytes, size_t len, const char *path, struct jprof_error *err)
{
	for (size_t done = 0; done < len;) {
		size_t n = hole_step - u->size % hole_step;
		n = n < len - done ? n : len - done;
		if (!has_only_zeros(bytes + done, n)) {
			if (pwrite(u->fd, bytes + done, n, (off_t)u->size) != (ssize_t)n)
				return jp_error(err, JPROF_E_IO, path, 0,
				                "is compressed, and cannot be unpacked in %s: %s", u->place,
				                strerror(errno));
			u->written += n;
		}
		u->size += n;
		done += n;
	}
	struct statvfs fs;
	if (u->written - u->looked_at < between_looks || fstatvfs(u->fd, &fs))
		return 0;
	u->looked_at = u->written;
	if ((uint64_t)fs.f_bavail * fs.f_frsize > least_left)
		return 0;
	return jp_error(err, JPROF_E_IO, path, 0,
	                "is compressed, and %s has no room for what it stands for: unpack it first where there is",
	                u->place);
}

static int unpack_all(struct jp_window *w, struct unpacked *u, const char *path, struct jprof_error *err)
{
	struct jprof_error fault = { 0 };
	jp_window_fill(w, jp_sniff_enough);
	int rc = jp_unpack_window(w, path, &limits_of_core, &fault, err);
	while (!rc && (w->len > w->at || jp_window_more(w))) {
		rc = put_unpacked(u, w->text + w->at, w->len - w->at, path, err);
		w->at = w->len;
	}
	if (!rc && w->rc)
		*err = w->err;
	rc = rc ? rc : w->rc;
	if (!rc && ftruncate(u->fd, (off_t)u->size))
		rc = jp_error(err, JPROF_E_IO, path, 0, "cannot be unpacked in %s: %s", u->place, strerror(errno));
	return rc; /* what is missing of a damaged one is missing as of one that was cut */
}

int jprof_unpack_file(int *fd, const char *path, bool *packed, uint64_t *size, struct jprof_error *err)
{
	if (jp_null(err, fd, path, packed, size))
		return JPROF_E_ARGUMENT;
	char head[jp_sniff_enough];
	ssize_t n = pread(*fd, head, sizeof head, 0);
	struct unpacked u = { .fd = -1 };
	*packed = n > 0 && jp_is_packed(head, (size_t)n);
	int rc = *packed ? make_somewhere(&u, path, err) : 0;
	if (rc || !*packed)
		return rc;
	struct jp_window jp_cleanup(jp_window_release) w = { .source = jp_bytesource_file(*fd, path) };
	*fd = -1; /* the source has it */
	rc = w.source ? unpack_all(&w, &u, path, err) : jp_error_nomem(err);
	*size = u.size;
	*fd = rc ? -1 : jp_file_reopen(u.fd);
	jp_file_close(&u.fd);
	return rc || *fd >= 0 ? rc : jp_error(err, JPROF_E_IO, path, 0, "cannot be read again: %s", strerror(errno));
}
