#include "memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "self.h"

/* Above `high`, if there is such a file, the kernel slows a group down. */
struct version {
	const char *mount, *used, *limit, *high, *cache;
};

static const struct version v2 = { "/sys/fs/cgroup", "memory.current", "memory.max", "memory.high",
	                           "\ninactive_file " };
static const struct version v1 = { "/sys/fs/cgroup/memory", "memory.usage_in_bytes", "memory.limit_in_bytes", NULL,
	                           "\ntotal_inactive_file " };

static char used_path[PATH_MAX], limit_path[PATH_MAX];
static uint64_t least_left, least_room; /* of the groups that were found */

/* The number that a file consists of; 0 where it is none ("max"), or stands for none. */
static uint64_t read_number(const char *path)
{
	char text[32];
	uint64_t value = self_read_file(path, text, sizeof text) > 0 ? strtoull(text, NULL, 10) : 0;
	return value > INT64_MAX / 2 ? 0 : value;
}

uint64_t memory_rss(void)
{
	char text[128];
	if (self_read_file("/proc/self/statm", text, sizeof text) <= 0)
		return 0;
	const char *second = strchr(text, ' ');
	return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static unsigned percent(const char *used, const char *limit)
{
	uint64_t max = read_number(limit);
	return max >= 100 ? (unsigned)(read_number(used) / (max / 100)) : 0;
}

/* The number behind `key`, which begins with the end of the line before; 0 where there is none. */
static uint64_t read_value(const char *path, const char *key)
{
	static char text[8192];
	const char *at = self_read_file(path, text, sizeof text) > 0 ? strstr(text, key) : NULL;
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static const char *group_file(const struct version *version, const char *group, const char *file)
{
	static char path[PATH_MAX];
	int len = snprintf(path, sizeof path, "%s%s/%s", version->mount, group, file);
	return len < 0 || len >= PATH_MAX ? "" : path;
}

static uint64_t number_of_group(const struct version *version, const char *group, const char *file)
{
	return file ? read_number(group_file(version, group, file)) : 0;
}

/* Without the file pages that it would give back first. */
static uint64_t used_by_group(const struct version *version, const char *group)
{
	uint64_t used = number_of_group(version, group, version->used);
	uint64_t cache = read_value(group_file(version, group, "memory.stat"), version->cache);
	return cache < used ? used - cache : 0;
}

/* A limit of 0 is none. */
static uint64_t below(uint64_t limit, uint64_t used)
{
	if (!limit)
		return UINT64_MAX;
	return used < limit ? limit - used : 0;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void note_left(const struct version *version, const char *group)
{
	uint64_t used = used_by_group(version, group);
	uint64_t room = below(number_of_group(version, group, version->limit), used);
	uint64_t slowed = below(number_of_group(version, group, version->high), used);
	least_room = smaller(least_room, room);
	least_left = smaller(least_left, smaller(room, slowed));
}

/* Keeps a group's files if it has a limit, and less room for each byte of that than the one before. */
static void consider_group(const struct version *version, const char *group)
{
	char used[PATH_MAX], limit[PATH_MAX];
	note_left(version, group);
	int a = snprintf(used, sizeof used, "%s%s/%s", version->mount, group, version->used);
	int b = snprintf(limit, sizeof limit, "%s%s/%s", version->mount, group, version->limit);
	if (a < 0 || b < 0 || a >= PATH_MAX || b >= PATH_MAX || read_number(limit) == 0)
		return;
	if (*limit_path && percent(used, limit) <= percent(used_path, limit_path))
		return;
	memcpy(used_path, used, (size_t)a + 1);
	memcpy(limit_path, limit, (size_t)b + 1);
}

/* The path may be that of another namespace's mount; then the mount's root is the group. */
static void consider_upwards(const struct version *version, char *group)
{
	while (*group) {
		char *slash = strrchr(group, '/');
		consider_group(version, group);
		if (!slash)
			break;
		*slash = 0;
	}
	consider_group(version, "");
}

/* Lines are NUMBER:CONTROLLERS:PATH; version 2 is number 0 and names none. */
static void consider_line(char *line)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!path)
		return;
	*path++ = 0;
	if (strncmp(line, "0:", 2) == 0)
		consider_upwards(&v2, path);
	else if (strcmp(controllers + 1, "memory") == 0)
		consider_upwards(&v1, path);
}

void memory_find_cgroup(void)
{
	char text[8192], *rest;
	*used_path = *limit_path = 0;
	least_left = least_room = UINT64_MAX;
	if (self_read_file("/proc/self/cgroup", text, sizeof text) <= 0)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		consider_line(line);
}

unsigned memory_cgroup_percent(void)
{
	return *limit_path ? percent(used_path, limit_path) : 0;
}

/* UINT64_MAX where it is not known. */
static uint64_t machine_left(void)
{
	uint64_t kilobytes = read_value("/proc/meminfo", "\nMemAvailable:");
	return kilobytes ? kilobytes * 1024 : UINT64_MAX;
}

uint64_t memory_left(void)
{
	memory_find_cgroup();
	return smaller(machine_left(), least_left);
}

uint64_t memory_room(void)
{
	memory_find_cgroup();
	return smaller(machine_left(), least_room);
}

const char *memory_refusal(unsigned megabytes)
{
	static char text[192];
	uint64_t room = memory_room();
	if (room >= (uint64_t)megabytes << 20)
		return NULL;
	snprintf(text, sizeof text,
	         "its control group, or the machine, has %llu KB of memory left, and this may take %u MB: raise the "
	         "limit",
	         (unsigned long long)(room >> 10), megabytes);
	return text;
}

uint64_t memory_addresses_left(void)
{
	struct rlimit limit;
	char text[128];
	if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	if (self_read_file("/proc/self/statm", text, sizeof text) <= 0)
		return 0;
	uint64_t used = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}
