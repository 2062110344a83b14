#include "input/debuginfod.h"

#include <stddef.h>

/* Something to point at; it holds nothing. */
struct jp_debuginfod {
	char nothing;
};

static struct jp_debuginfod none;

struct jp_debuginfod *jp_debuginfod_new(void)
{
	return &none;
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
	(void)client;
}
