/* Tests that list themselves: what is written with TEST runs, in the order of the file, and a file of them needs no
 * main. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) TEST_BETWEEN(name, NULL, NULL)

/* One with what is made before it and removed after it; NULL: nothing. */
#define TEST_BETWEEN(name, before, after)                                                                              \
	static void name(void **);                                                                                     \
	static void __attribute__((constructor)) list_##name(void)                                                     \
	{                                                                                                              \
		list_test(#name, name, before, after);                                                                 \
	}                                                                                                              \
	static void name(void **state __attribute__((unused)))

/* What makes or removes something for tests. */
#define FIXTURE(name) static int name(void **state __attribute__((unused)))

/* The main of a file whose tests share what is made before the first and removed after the last; NULL: nothing. */
#define TESTS_BETWEEN(before, after)                                                                                   \
	int main(void)                                                                                                 \
	{                                                                                                              \
		return run_listed(before, after);                                                                      \
	}

void list_test(const char *name, CMUnitTestFunction run, CMFixtureFunction before, CMFixtureFunction after);

/* Runs all; returns how many failed. */
int run_listed(CMFixtureFunction before, CMFixtureFunction after);
