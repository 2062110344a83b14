/* What the fuzz targets share. Each is a function that libFuzzer calls, or replay.c for the files of its
 * corpus; a property that does not hold aborts. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "input/sniff.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Aborts with the words of the condition. */
#define must(condition) ((condition) ? (void)0 : fuzz_failed(#condition, __FILE__, __LINE__))
_Noreturn void fuzz_failed(const char *what, const char *file, int line);

/* Reads the bytes if they are of this format, and asserts what holds for any profile: a refusal is one
 * line of text; a - a is 0 for each stack; what is written as profile.proto and read has the same
 * totals; what is written of that is the same bytes again and again. Never opens a file. */
void fuzz_profile(const uint8_t *data, size_t size, enum jp_format format);
