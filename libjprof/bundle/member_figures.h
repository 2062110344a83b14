/* What a bundle's member, or the side-car of a dump, tells of its process beside the dump. What is not there, or cannot
 * be read, is not known. */
#pragma once

#include "base/jsonin.h"
#include "bundle/bundle.h"
#include "model/process_sums.h"

/* Takes status, smaps_rollup, smaps, and the figures of the control group; and stats.json and gcstat.json, where there
 * is no side-car. `ruby` is the version of the Ruby that it maps, or NULL. Counts one process. 0, or -1 when memory is
 * short. */
int jp_figures_of_member(struct jp_outside *to, const struct jp_bundle_member *member, const char *ruby) jp_must_check;

/* Takes what jemalloc and Ruby tell from an agent's side-car. */
void jp_figures_of_sidecar(struct jp_outside *to, jp_json *sidecar);

/* Keeps of VM_STACKS, once the process's Ruby is known, what can be: none before Ruby 3.3, and one for each thread. */
void jp_bound_vm_stacks(struct jp_figures *figures, const struct jp_bundle_member *member);

/* Takes what the profiler's own objects are: of the profile of one dump. */
void jp_figures_of_samples(struct jp_outside *to, const struct jprof_profile *profile);

/* The version in the name of the first Ruby among the profile's objects, "3.1"; false: there is none. */
bool jp_ruby_version_of(const struct jprof_profile *profile, char version[8]);

/* The same of the member's maps, for a member without a dump. */
bool jp_ruby_version_mapped(const struct jp_bundle_member *member, char version[8]);
