/* The terminal of jprof watch: what it shows, its keys, and its state, which is restored whatever ends the program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum watch_event { WATCH_TIME, WATCH_QUIT, WATCH_RESIZED };

/* Takes over the terminal, if standard output is one, and its keys, if standard input is, too. True: it is a terminal.
 */
bool watch_screen_open(void);

/* Gives it back as it was. Once or more often, on any thread, and in a signal's handler. */
void watch_screen_close(void);

/* Shows a text from the top of the terminal, as much of it as fits; elsewhere prints it, whole. False: it was not
 * written, for the reason in errno. */
bool watch_screen_show(const char *text, size_t len);

/* Waits until the moment, by jp_clock_ms(), or until there is something to do. A signal that ends the program quits. */
enum watch_event watch_screen_wait(int64_t when);
