#include "snap/signals.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static const struct {
	const char *name;
	int signal;
} names[] = {
	{ "HUP", SIGHUP },   { "INT", SIGINT },     { "QUIT", SIGQUIT }, { "USR1", SIGUSR1 },
	{ "USR2", SIGUSR2 }, { "ALRM", SIGALRM },   { "TERM", SIGTERM }, { "CHLD", SIGCHLD },
	{ "CONT", SIGCONT }, { "TTIN", SIGTTIN },   { "TTOU", SIGTTOU }, { "VTALRM", SIGVTALRM },
	{ "PROF", SIGPROF }, { "WINCH", SIGWINCH }, { "IO", SIGIO },     { "PWR", SIGPWR },
};

enum { last_signal = 64 };

int signal_by_name(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);
	if (isdigit((unsigned char)*name) && !*end)
		return n > 0 && n <= last_signal ? (int)n : 0;
	if (!strncasecmp(name, "SIG", 3))
		name += 3;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcasecmp(name, names[i].name))
			return names[i].signal;
	return 0;
}

const char *signal_name(int signal, char number[16])
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].signal == signal)
			return names[i].name;
	snprintf(number, 16, "%d", signal);
	return number;
}
