#include "input/debuginfod.h"

#include <stdlib.h>

/* Something to point at; it holds nothing. */
struct jp_debuginfod {
	char nothing;
};

struct jp_debuginfod *jp_debuginfod_new(void)
{
	return calloc(1, sizeof(struct jp_debuginfod));
}

char *jp_debuginfod_find(struct jp_debuginfod *client, const char *build_id)
{
	(void)client;
	(void)build_id;
	return NULL;
}

const char *jp_debuginfod_trouble(const struct jp_debuginfod *client)
{
	(void)client;
	return "no server is asked: jprof was built without libdebuginfod";
}

void jp_debuginfod_free(struct jp_debuginfod *client)
{
	free(client);
}
