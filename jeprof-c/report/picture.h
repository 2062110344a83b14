/* Pictures of call graphs: dot.h's, by the modules that are installed. */
#pragma once

#include "dot.h"

/* dot_draw() with the modules that the format needs; opts->gvc is set here. JPROF_E_UNSUPPORTED where one is missing.
 */
int picture_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                 struct dot_picture *picture, struct jprof_error *err);

/* What lays out and draws: picture_gvc_dlopen.c or picture_gvc_none.c. NULL with the reason in *err. */
const struct dot_gvc *picture_gvc(struct jprof_error *err);
