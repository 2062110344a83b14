/* What runs on a Ruby thread, and how it gets there: by a postponed job. Ruby 3.3 lets any thread trigger a
 * registered one; before, only a thread that holds the GVL may register one. The first contact comes about within
 * an allocation of such a thread, in every version, where ruby_vm.h says that the VM serves. Nothing else is done
 * there: registering allocates nothing, while for one ruby_vm_at_exit may start a collection inside a collection. */
#pragma once

#include <stdbool.h>

/* `work` is what jobs do: on a Ruby thread, with the GVL, free to raise, perhaps with nothing to do. `at_end` is
 * called when the VM ends, if there was contact before. Looks for contact in sampled allocations. */
void ruby_job_init(void (*work)(void), void (*at_end)(void));

/* Why this Ruby cannot be asked at all; NULL: it can. */
const char *ruby_job_refusal(void);

/* In a forked child: has `start` called by a job. False where no job can be had here. */
bool ruby_job_forked(void (*start)(void));

/* ASIDE: only if the VM comes by itself, which nothing interrupts. ASK: it may be interrupted where nothing else is
 * known. WAKE: it is. */
enum ruby_job_way { RUBY_JOB_ASIDE, RUBY_JOB_ASK, RUBY_JOB_WAKE };

/* Has the work done soon. False where this VM cannot be asked. To be called again while it was not done. */
bool ruby_job_request(enum ruby_job_way way);

/* In a sampled allocation, where the VM serves: has the work done by this thread, soon. */
void ruby_job_here(void);

/* In a job: the work was too early, and the next sampled allocation has it done again. */
void ruby_job_again(void);

/* The work was done, or is no longer wanted. */
void ruby_job_settle(void);

/* On the agent's thread, whenever it was woken: sees to ruby_job_again, and takes the hooks away that have done their
 * work. */
void ruby_job_tidy(void);
