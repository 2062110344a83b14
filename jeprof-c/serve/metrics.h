/* Numbers of a service for Prometheus, in its text format. */
#pragma once

#include <stdio.h>

#include "jprof.h"

/* The parts of an explanation, and the ten rows that grew most of a series, which may be NULL. The same name is never
 * there twice with the same labels. */
void metrics_put(FILE *out, const struct jprof_explanation *explanation, const struct jprof_series *series);
