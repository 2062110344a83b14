/* What the machine code of a file says of functions that neither symbols nor debug information name: what Ruby calls
 * them (machine/registered.h). Found for the whole file at once. */
#pragma once

#include "input/objfile.h"

struct jp_codenames;

/* Reads the file's code; nothing of it is needed afterwards. NULL when memory is short. */
struct jp_codenames *jp_codenames_new(const struct jp_objfile *file);
void jp_codenames_free(struct jp_codenames *names);

/* The i-th function that has a name, by address: where it begins. False after the last. */
bool jp_codenames_start(const struct jp_codenames *names, size_t i, uint64_t *start);

/* What Ruby calls the function that begins there, or NULL. It lives as long as the names. */
const char *jp_codenames_at(const struct jp_codenames *names, uint64_t start);
