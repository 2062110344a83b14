/* What goes with a dump: the JSON of docs/internals/agent.md. */
#pragma once

#include "dump_result.h"

/* Adds the side-car of a dump that was made; `name` is its file name, `began` in seconds since the epoch. */
void sidecar_json(const struct dump_request *request, const struct dump_result *result, const char *name, double began,
                  struct textbuf *text);
