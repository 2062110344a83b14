/* Whether the Ruby VM lives, asked from within an allocation, which may come at any time: before the VM is made, inside
 * a garbage collection, while the VM is taken down and after that. Ruby's own functions follow its pointer to the VM
 * without a look, so that pointer is read first. */
#pragma once

#include <stdbool.h>

/* Finds Ruby's variables, in the constructor, before there is a VM. */
void ruby_vm_find(void);

/* Were they found? Without them nothing of Ruby may be called from an allocation. */
bool ruby_vm_known(void);

/* Can it be seen whether a thread has an execution context, and whether the VM is taken down? Without that the same
 * holds: the VM may be half gone. */
bool ruby_vm_shows_context(void);
bool ruby_vm_shows_end(void);

/* Is the VM up, and does this thread run in it, hold its lock, and collect no garbage? As free as a signal handler:
 * nothing is allocated, and nothing of the VM is touched where it is gone. */
bool ruby_vm_serves(void);

/* Is this a thread of a VM that stands, as far as it can be seen without a look at what the VM has freed by then? While
 * it is taken down it stands for ruby_vm_serves(), which looks at that. Takes a walk of the native stack: it is for the
 * first contact, for who has made that hears of the end (ruby_vm_ends). */
bool ruby_vm_stands(void);

/* Its end has begun: the agent's at_exit block, one of the first that were registered and so one of the last, has run.
 * From now on an extension may allocate when the objects that ruby_vm_serves() reads are freed. */
void ruby_vm_ends(void);
bool ruby_vm_is_ending(void);

/* Is a collection at work, on this thread? What is allocated then is the collector's own. */
bool ruby_vm_collects(void);

/* Is there one ractor? Before Ruby 3.3, with several, this thread's lock may be another than that of the thread that
 * runs jobs, and what takes the VM's own lock may wait for others. Later ones are always right for it. */
bool ruby_vm_is_alone(void);

/* The VM's variable, as the machine code of rb_during_gc loads it; NULL where the code has another form than those that
 * are known on this machine. One file for each kind of machine: ruby_head_*.c. */
void *const *ruby_head_variable(const void *code);
