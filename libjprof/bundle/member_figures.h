/* What a bundle's member, or the side-car of a dump, tells of its process beside the dump. */
#ifndef JP_BUNDLE_MEMBER_FIGURES_H
#define JP_BUNDLE_MEMBER_FIGURES_H

#include "base/jsonin.h"
#include "bundle/bundle.h"
#include "model/process_sums.h"

/* Takes status and smaps_rollup: what is not there, or cannot be read, is not known. Counts one process. */
void jp_figures_of_member(struct jp_outside *to, const struct jp_bundle_member *member);

/* Takes the size of Ruby's GC heap, and what jemalloc keeps, from an agent's side-car. */
void jp_figures_of_sidecar(struct jp_outside *to, jp_json *sidecar);

#endif
