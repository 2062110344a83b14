/* main() of both programs, jprof and jprof-snap. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/budget.h"
#include "cli/giveback.h"
#include "cli/newfile.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "commands.h"

int main(int argc, char **argv)
{
	shortage_begin();
	give_back_large();
	budget_at_end(newfile_end_parts);
	int status = command_run(argc, argv);
	sandbox_end();
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return 0;
		say("standard output cannot be written: %s", strerror(errno));
		return 1;
	}
	return status;
}
