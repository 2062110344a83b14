/* The short name of a thread, as the line "Total (HEADING)" has it. */
#pragma once

#include "base/arena.h"

/* "t3" for a thread that was asked for by its number, else its name; of all of its label ("t3 NAME", or NULL) the first
 * word. NULL when memory is short. */
char *jp_thread_heading(struct jp_arena *arena, const char *label, const char *wanted);
