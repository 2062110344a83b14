#include "cli/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/say.h"

static const uint64_t unlimited = UINT64_MAX;
static const uint64_t fastest = 4000;       /* bytes in a microsecond: no program fills memory faster */
static const uint64_t late_watch = 8 << 20; /* bytes that a program fills while the watch waits for a processor */

enum { text_size = 16384, longest_nap = 20000, shortest_nap = 200 /* microseconds */, most_children = 4 };

/* ---- texts of the kernel ------------------------------------------------------------------------------ */

static bool read_text(const char *path, char text[text_size])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, text_size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The number behind a word at the start of a line; `otherwise` where there is none. */
static uint64_t number_after(const char *text, const char *word, uint64_t otherwise)
{
	size_t len = strlen(word);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, word, len))
			return strtoull(line + len, NULL, 10);
	}
	return otherwise;
}

/* ---- control groups ------------------------------------------------------------------------------------ */

/* The number in a file of a control group; "max" is none. */
static uint64_t group_number(const char *dir, const char *file)
{
	char path[PATH_MAX], text[text_size];
	if ((size_t)snprintf(path, sizeof path, "%s/%s", dir, file) >= sizeof path || !read_text(path, text) ||
	    *text < '0' || *text > '9')
		return unlimited;
	return strtoull(text, NULL, 10);
}

/* Bytes of page cache that the group gives back when it has to. */
static uint64_t group_cache(const char *dir, const char *word)
{
	char path[PATH_MAX], text[text_size];
	if ((size_t)snprintf(path, sizeof path, "%s/memory.stat", dir) >= sizeof path || !read_text(path, text))
		return 0;
	return number_after(text, word, 0);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What the watch leaves of a group's rest: the kernel ends a program that fills it all before the watch gets a
 * processor. */
static uint64_t margin_of(uint64_t rest)
{
	return least(rest / 4, rest / 16 > late_watch ? rest / 16 : late_watch);
}

/* What one group has left. */
static uint64_t rest_of_group(const char *dir, bool second, enum budget_until until)
{
	uint64_t limit = group_number(dir, second ? "memory.max" : "memory.limit_in_bytes");
	if (second && until == BUDGET_UNTIL_SLOWED)
		limit = least(limit, group_number(dir, "memory.high"));
	uint64_t used = group_number(dir, second ? "memory.current" : "memory.usage_in_bytes");
	if (limit == unlimited || used == unlimited)
		return unlimited;
	return less(limit, less(used, group_cache(dir, second ? "inactive_file " : "total_inactive_file ")));
}

/* The least that the group at `path` below `top` and those above it have left. */
static uint64_t rest_upwards(const char *top, const char *path, bool second, enum budget_until until)
{
	char dir[PATH_MAX];
	size_t base = strlen(top);
	if ((size_t)snprintf(dir, sizeof dir, "%s%s", top, path) >= sizeof dir)
		return unlimited;
	uint64_t rest = unlimited;
	for (;;) {
		rest = least(rest, rest_of_group(dir, second, until));
		char *slash = strrchr(dir + base, '/');
		if (!slash)
			return rest;
		*slash = '\0';
	}
}

static bool has_controller(const char *list, size_t len)
{
	static const char name[] = "memory";
	for (const char *at = list; at < list + len; at += strcspn(at, ",:") + 1)
		if (!strncmp(at, name, sizeof name - 1) && strchr(",:", at[sizeof name - 1]))
			return true;
	return false;
}

uint64_t budget_of_cgroup(const char *root, const char *membership, enum budget_until until)
{
	uint64_t rest = unlimited;
	for (const char *line = membership; *line;) {
		size_t len = strcspn(line, "\n");
		const char *first = memchr(line, ':', len);
		const char *path = first ? memchr(first + 1, ':', len - (size_t)(first + 1 - line)) : NULL;
		char top[PATH_MAX], group[PATH_MAX];
		if (path) {
			bool second = path == first + 1;
			snprintf(top, sizeof top, "%s%s", root, second ? "" : "/memory");
			snprintf(group, sizeof group, "%.*s", (int)(len - (size_t)(path + 1 - line)), path + 1);
			if (second || has_controller(first + 1, (size_t)(path - first)))
				rest = least(rest, rest_upwards(top, group, second, until));
		}
		line += len + (line[len] == '\n');
	}
	return rest;
}

uint64_t budget_of_process(pid_t pid, enum budget_until until)
{
	char path[32], text[text_size];
	snprintf(path, sizeof path, pid ? "/proc/%d/cgroup" : "/proc/self/cgroup", (int)pid);
	return read_text(path, text) ? budget_of_cgroup("/sys/fs/cgroup", text, until) : unlimited;
}

/* ---- sizes ------------------------------------------------------------------------------------------------- */

uint64_t budget_size(const char *text)
{
	static const char units[] = "kmg";
	char *end;
	uint64_t size = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	if (!size)
		return 0;
	const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	end += unit ? 1 : 0;
	return *end || size > UINT64_MAX >> shift ? 0 : size << shift;
}

/* ---- the watch --------------------------------------------------------------------------------------------- */

static struct {
	int statm;
	struct {
		pid_t pid; /* 0: none */
		int statm;
		uint64_t shared; /* bytes that it had of the program when it began */
	} children[most_children];
	uint64_t page, limit, size; /* bytes; `size` is what the limit allows beyond what was taken at first */
	char why[80];
	void (*end)(void);
	bool watched; /* by a thread, */
	sem_t begun;  /* ... which has begun */
	bool has_begun;
	pthread_mutex_t looks; /* it does something */
} budget = { .looks = PTHREAD_MUTEX_INITIALIZER };

/* Bytes in memory that no file stands behind, of the process whose /proc/PID/statm this is. */
static uint64_t taken_by(int statm)
{
	char text[128];
	unsigned long long resident = 0, shared = 0;
	ssize_t n = pread(statm, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	sscanf(text, "%*s %llu %llu", &resident, &shared);
	return less(resident, shared) * budget.page;
}

/* By the program, and by its children beyond what they share with it. */
static uint64_t taken(void)
{
	uint64_t sum = taken_by(budget.statm);
	for (unsigned i = 0; i < most_children; i++)
		if (budget.children[i].pid)
			sum += less(taken_by(budget.children[i].statm), budget.children[i].shared);
	return sum;
}

static void *watch(void *context)
{
	(void)context;
	sem_post(&budget.begun);
	for (;;) {
		pthread_mutex_lock(&budget.looks);
		uint64_t now = taken(), nap = less(budget.limit, now) / fastest;
		if (now > budget.limit) {
			say_kept();
			say("this needs more memory than the %llu MB that it may take (%s); --max-memory=SIZE allows more, "
			    "if there is more",
			    (unsigned long long)(budget.size >> 20), budget.why);
			if (budget.end)
				budget.end();
			_exit(1);
		}
		pthread_mutex_unlock(&budget.looks);
		nap = nap > longest_nap ? longest_nap : nap < shortest_nap ? shortest_nap : nap;
		nanosleep(&(struct timespec){ .tv_nsec = (long)nap * 1000 }, NULL);
	}
	return NULL;
}

/* The thread takes no signals: they are the main one's. */
static void start_watch(void)
{
	enum { stack = 256 << 10 };
	pthread_t thread;
	pthread_attr_t attributes;
	sigset_t all, before;
	budget.page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (!budget.watched)
		budget.statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (budget.statm < 0 || pthread_attr_init(&attributes))
		return;
	uint64_t now = taken();
	budget.limit = budget.size > UINT64_MAX - now ? UINT64_MAX : now + budget.size;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, stack);
	budget.watched =
	    budget.watched || (!sem_init(&budget.begun, 0, 0) && !pthread_create(&thread, &attributes, watch, NULL));
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

static void choose_limit(void)
{
	char text[text_size];
	uint64_t half = unlimited, group = budget_of_process(0, BUDGET_UNTIL_SLOWED);
	if (read_text("/proc/meminfo", text))
		half = number_after(text, "MemAvailable:", unlimited);
	half = half == unlimited ? half : half / 2 << 10;
	uint64_t left = group;
	group -= group == unlimited ? 0 : margin_of(group);
	budget.size = least(half, group);
	if (group < half)
		snprintf(budget.why, sizeof budget.why, "its control group has %llu MB left",
		         (unsigned long long)(left >> 20));
	else
		snprintf(budget.why, sizeof budget.why, "half of what is free");
}

uint64_t budget_left(void)
{
	return budget.watched ? less(budget.limit, taken()) : unlimited;
}

void budget_pause(void)
{
	if (!budget.watched)
		return;
	while (!budget.has_begun)
		budget.has_begun = !sem_wait(&budget.begun) || errno != EINTR;
	pthread_mutex_lock(&budget.looks);
}

void budget_resume(void)
{
	if (budget.watched)
		pthread_mutex_unlock(&budget.looks);
}

void budget_add_child(pid_t pid)
{
	char path[32];
	unsigned i = 0;
	while (i < most_children && budget.children[i].pid)
		i++;
	if (!budget.watched || i == most_children)
		return;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	int statm = open(path, O_RDONLY | O_CLOEXEC);
	if (statm < 0)
		return;
	budget.children[i].shared = taken_by(budget.statm);
	budget.children[i].statm = statm;
	budget.children[i].pid = pid;
}

void budget_remove_child(pid_t pid)
{
	budget_pause();
	for (unsigned i = 0; i < most_children; i++)
		if (budget.children[i].pid == pid) {
			budget.children[i].pid = 0;
			close(budget.children[i].statm);
		}
	budget_resume();
}

void budget_at_end(void (*end)(void))
{
	budget.end = end;
}

bool budget_watch(const char *size)
{
	if (size) {
		budget.size = budget_size(size);
		snprintf(budget.why, sizeof budget.why, "as --max-memory says");
	} else {
		choose_limit();
	}
	if (size && !budget.size) {
		say("--max-memory=%s: give a size such as 500M or 2G", size);
		return false;
	}
	if (budget.size != unlimited)
		start_watch();
	return true;
}
