/* jprof --symbols with n addresses of this very program. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "cost.h"
#include "report/options.h"

/* Standard input becomes our own maps and n addresses of code that is counted. */
static void ask(unsigned n)
{
	FILE *file = tmpfile(), *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	if (!file || !maps)
		abort();
	while (fgets(line, sizeof line, maps))
		fputs(line, file);
	fclose(maps);
	for (unsigned i = 0; i < n; i++)
		fprintf(file, "0x%llx\n", (unsigned long long)(uintptr_t)cmd_symbols + i);
	rewind(file);
	if (dup2(fileno(file), STDIN_FILENO) < 0)
		abort();
	fclose(file);
	clearerr(stdin);
	rewind(stdin);
}

static uint64_t name(unsigned n)
{
	struct options options = { 0 };
	ask(n);
	uint64_t before = cost_taken();
	if (cmd_symbols(&options))
		abort();
	return cost_taken() - before;
}

int main(void)
{
	if (!freopen("/dev/null", "w", stdout))
		return 1;
	return cost_compare("--symbols", name, 1000);
}
