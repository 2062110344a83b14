/* A C library that always does it: musl. */
#include "cli/giveback.h"

void give_back_large(void)
{
}
