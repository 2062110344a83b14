/* Files that nobody else can have put there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Whether nobody but root and the caller can have made or changed the regular file at this absolute path without links:
 * it and all directories above it belong to one of them, and nobody else may write them. A directory where only the
 * owner may remove (/tmp) is fine, and so is a group of the caller's own number, which by custom has no other member.
 * *st is the file's. */
bool jp_path_is_ours(const char *real, struct stat *st);

/* The same of a path with links, and whether the file is still the one of this device and inode. */
bool jp_file_is_ours(const char *path, uint64_t dev, uint64_t inode);

/* Whether the file may be opened because that other one says so: both have one owner, or both are root's or the
 * caller's. */
bool jp_file_same_owner(const struct stat *file, const struct stat *other);
