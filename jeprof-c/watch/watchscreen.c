#include "watch/watchscreen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/fdwrite.h"
#include "cli/terminal.h"
#include "snap/interrupt.h"

enum { usual_lines = 24, step_ms = 60000 };

static struct {
	bool terminal, keys;
	struct termios before; /* of standard input, where `keys` */
	volatile sig_atomic_t resized;
} screen;

/* Lines are cut at the edge, not broken; the cursor is not shown. And the other way round. */
static const char taken_over[] = "\033[?7l\033[?25l", given_back[] = "\033[?7h\033[?25h";

static void on_resize(int signal)
{
	(void)signal;
	screen.resized = 1;
}

/* Keys come one by one and are not shown; ^C is a signal as ever. ^Z would leave a shell with such a terminal, and ^\
 * is no wish for a core dump. */
static void take_keys(void)
{
	if (!isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &screen.before))
		return;
	struct termios now = screen.before;
	now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	now.c_cc[VSUSP] = _POSIX_VDISABLE;
	now.c_cc[VQUIT] = _POSIX_VDISABLE;
	screen.keys = true; /* before they are: a signal may end the program right after */
	screen.keys = !tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

bool watch_screen_open(void)
{
	struct sigaction action = { .sa_handler = on_resize, .sa_flags = SA_RESTART }; /* poll returns all the same */
	screen.terminal = isatty(STDOUT_FILENO);
	if (!screen.terminal)
		return false;
	take_keys();
	sigaction(SIGWINCH, &action, NULL);
	fd_write(STDOUT_FILENO, taken_over, sizeof taken_over - 1, true);
	return true;
}

void watch_screen_close(void)
{
	if (screen.terminal)
		fd_write(STDOUT_FILENO, given_back, sizeof given_back - 1, true);
	if (screen.keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
	screen.terminal = screen.keys = false;
}

/* How much of a text is in so many lines. */
static size_t length_of_lines(const char *text, size_t len, unsigned lines)
{
	size_t end = 0;
	while (end < len && lines)
		lines -= text[end++] == '\n';
	return end;
}

bool watch_screen_show(const char *text, size_t len)
{
	if (screen.terminal) {
		unsigned lines = terminal_size().lines;
		len = length_of_lines(text, len, (lines ? lines : usual_lines) - 1);
		fputs("\033[H\033[2J", stdout);
	}
	return fwrite(text, 1, len, stdout) == len && !fflush(stdout);
}

static bool key_quits(void)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof keys);
	for (ssize_t i = 0; i < n; i++)
		if (keys[i] == 'q' || keys[i] == 'Q' || keys[i] == 4) /* ^D */
			return true;
	return false;
}

enum watch_event watch_screen_wait(int64_t when)
{
	struct pollfd in = { .fd = screen.keys ? STDIN_FILENO : -1, .events = POLLIN };
	int64_t left;
	do { /* once even where it is late already: there may be a key */
		left = when - jp_clock_ms();
		int ready = interrupted() || screen.resized ? 0
		                                            : poll(&in, 1,
		                                                   left < 0         ? 0
		                                                   : left > step_ms ? step_ms
		                                                                    : (int)left);
		if (interrupted() || (ready > 0 && (key_quits() || (in.revents & (POLLHUP | POLLERR | POLLNVAL)))))
			return WATCH_QUIT;
		if (screen.resized) {
			screen.resized = 0;
			return WATCH_RESIZED;
		}
	} while (left > 0);
	return interrupted() ? WATCH_QUIT : WATCH_TIME;
}
