/* Names of signals. */
#pragma once

/* The number of "USR2", "SIGUSR2", "usr2" or "12"; 0: there is no such signal. */
int signal_by_name(const char *name);

/* "USR2", or "50" for one without a name, which is written to `number`. */
const char *signal_name(int signal, char number[16]);
