#include "cli/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal.h"

enum { name_columns = 40, progress_most = 512 };

static const double same_work = 0.1; /* seconds */
static const char take_away[] = "\r\033[K";

/* A signal handler has no other place. */
static struct {
	volatile sig_atomic_t active, shown;
	char text[progress_most];
	size_t len;
	double since, ended; /* seconds of the monotonic clock; ended 0: nothing was begun yet */
} progress;

static double clock_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whether somebody else, such as a shell that goes on, has the terminal: then nothing is written into their line. */
static bool is_in_background(void)
{
	pid_t front = tcgetpgrp(STDERR_FILENO);
	return front > 0 && front != getpgrp();
}

/* "jprof: reading a.heap, 12 s". Nothing here but what a handler may call. */
static void show_progress_line(int signal)
{
	int error = errno;
	static const char unit[] = " s";
	char line[sizeof take_away + progress_most + 32], digits[20];
	size_t n = 0, len = sizeof take_away - 1;
	(void)signal;
	if (!progress.active || is_in_background()) {
		errno = error;
		return;
	}
	memcpy(line, take_away, len);
	memcpy(line + len, progress.text, progress.len);
	len += progress.len;
	unsigned long seconds = (unsigned long)(clock_now() - progress.since);
	do
		digits[n++] = (char)('0' + seconds % 10);
	while (seconds /= 10);
	while (n)
		line[len++] = digits[--n];
	memcpy(line + len, unit, sizeof unit - 1);
	len += sizeof unit - 1;
	progress.shown = write(STDERR_FILENO, line, len) > 0;
	errno = error;
}

static bool has_lines(void)
{
	const char *term = getenv("TERM");
	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
}

static void compose(const char *what, const char *path)
{
	const char *slash = strrchr(path, '/');
	FILE *to = fmemopen(progress.text, sizeof progress.text, "w");
	progress.len = 0;
	if (!to)
		return;
	fprintf(to, "jprof: %s%s", what, *path ? " " : "");
	terminal_put_cut(to, slash ? slash + 1 : path, name_columns);
	fputs(", ", to);
	fflush(to);
	long len = ftell(to);
	progress.len = len > 0 && len < progress_most ? (size_t)len : 0;
	fclose(to);
}

/* The next whole second since the beginning, then each. */
static void set_clock(double now)
{
	double into = now - progress.since, wait = 1 - (into - (double)(long)into);
	const struct itimerval seconds = { { 1, 0 },
		                           { (time_t)wait, (suseconds_t)((wait - (double)(time_t)wait) * 1e6) + 1 } };
	setitimer(ITIMER_REAL, &seconds, NULL);
}

void progress_begin(const char *what, const char *path)
{
	const struct sigaction tick = { .sa_handler = show_progress_line, .sa_flags = SA_RESTART };
	double now = clock_now();
	if (!has_lines())
		return;
	progress_end();
	if (progress.ended == 0 || now - progress.ended > same_work)
		progress.since = now;
	compose(what, path);
	progress.active = true;
	sigaction(SIGALRM, &tick, NULL);
	set_clock(now);
}

void progress_end(void)
{
	if (!progress.active)
		return;
	progress.active = false; /* what is still under way does nothing */
	setitimer(ITIMER_REAL, &(const struct itimerval){ 0 }, NULL);
	progress_hide();
	progress.ended = clock_now();
}

void progress_hide(void)
{
	if (progress.shown && !is_in_background() && write(STDERR_FILENO, take_away, sizeof take_away - 1) > 0)
		progress.shown = false;
}
