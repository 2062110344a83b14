/* JSON as printf writes text. */
#pragma once

#include <stdio.h>

/* As fprintf, whose conversions are values here: %s a text with its quotes, NULL null; %f a whole number, %.3f and %.3g
 * one with these digits, null where it is not finite; %u, %zu and %d an integer; %i true or false. There are no others.
 * Memory that is short is noted. */
void json_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Likewise, for the i-th of a list: with a comma before all but the first. */
void json_print_at(FILE *out, size_t i, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
