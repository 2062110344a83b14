#include "errno_text.h"

#include <errno.h>
#include <stdio.h>

const char *errno_text(int error)
{
	static char unknown[32];
	static const struct {
		int error;
		char text[41];
	} texts[] = {
		{ EPERM, "Operation not permitted" },
		{ ENOENT, "No such file or directory" },
		{ EIO, "Input/output error" },
		{ ENXIO, "No such device or address" },
		{ EBADF, "Bad file descriptor" },
		{ EAGAIN, "Resource temporarily unavailable" },
		{ ENOMEM, "Cannot allocate memory" },
		{ EACCES, "Permission denied" },
		{ EFAULT, "Bad address" },
		{ EBUSY, "Device or resource busy" },
		{ EEXIST, "File exists" },
		{ EXDEV, "Invalid cross-device link" },
		{ ENOTDIR, "Not a directory" },
		{ EISDIR, "Is a directory" },
		{ EINVAL, "Invalid argument" },
		{ ENFILE, "Too many open files in system" },
		{ EMFILE, "Too many open files" },
		{ EFBIG, "File too large" },
		{ ENOSPC, "No space left on device" },
		{ EROFS, "Read-only file system" },
		{ ENAMETOOLONG, "File name too long" },
		{ ENOSYS, "Function not implemented" },
		{ ELOOP, "Too many levels of symbolic links" },
		{ EOVERFLOW, "Value too large for defined data type" },
		{ EOPNOTSUPP, "Operation not supported" },
		{ EAFNOSUPPORT, "Address family not supported by protocol" },
		{ EADDRINUSE, "Address already in use" },
		{ ENOBUFS, "No buffer space available" },
		{ ESTALE, "Stale file handle" },
		{ EDQUOT, "Disk quota exceeded" },
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (texts[i].error == error)
			return texts[i].text;
	snprintf(unknown, sizeof unknown, "error %d", error);
	return unknown;
}
