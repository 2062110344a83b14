#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/giveback.h"
#include "cli/newfile.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "commands.h"

/* What kept standard output from being written whole: an errno; 0: nothing; -1: it is not known any more, for other
 * calls came after the write that failed. */
static int output_error(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	int last = errno;
	if (fflush(stdout))
		return errno;
	if (!ferror(stdout))
		return 0;
	if (poll(&out, 1, 0) > 0 && out.revents & POLLERR)
		return EPIPE;
	bool of_writing = last == ENOSPC || last == EDQUOT || last == EFBIG || last == EIO || last == EBADF;
	return of_writing ? last : -1;
}

int main(int argc, char **argv)
{
	shortage_begin();
	give_back_large();
	budget_at_end(newfile_end_parts);
	int status = command_run(argc, argv);
	if (shortage_say_late() && !status)
		status = 1;
	sandbox_end();
	int error = output_error();
	say_kept();
	if (!error || error == EPIPE)
		return error ? 0 : status;
	if (error > 0)
		say("standard output cannot be written: %s", strerror(error));
	else
		say("standard output lacks something: a write failed");
	return 1;
}
