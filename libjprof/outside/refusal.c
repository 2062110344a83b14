#include "outside/refusal.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "collect/procfs.h"
#include "collect/target.h"

int jp_refusal(const struct jprof_target *t, int error, struct jprof_error *err)
{
	if (jp_proc_is_gone(error) || error == ENOMEM)
		return jp_proc_error(err, t->pid, error);
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: its memory may not be read: %s", t->pid,
	                strerror(error));
}
