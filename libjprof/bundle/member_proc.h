/* What the files of /proc and of the control group in a bundle's member tell. */
#ifndef JP_BUNDLE_MEMBER_PROC_H
#define JP_BUNDLE_MEMBER_PROC_H

#include "bundle/bundle.h"
#include "model/process_sums.h"

void jp_figures_of_proc(struct jp_outside *to, const struct jp_bundle_member *member);

#endif
