#include "testing.h"

/* Of tests that have no main of their own. */
TESTS_BETWEEN(NULL, NULL)
