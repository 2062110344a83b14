#include "trigger.h"

#include <stddef.h>

#include "dump.h"
#include "process.h"

static const struct config *wanted;
static uint64_t next_every;

void trigger_start(const struct config *config)
{
	wanted = config;
	next_every = process_clock() + config->every * 1000ull;
}

int trigger_timeout(void)
{
	if (!wanted || !wanted->every)
		return -1;
	uint64_t now = process_clock();
	return next_every > now ? (int)(next_every - now) : 0;
}

void trigger_run(void)
{
	const struct dump_result *result;
	if (!wanted->every || process_clock() < next_every)
		return;
	next_every = process_clock() + wanted->every * 1000ull;
	dump_make(&(struct dump_request){ "every", NULL, false, 500 }, &result);
}
