/* libdebuginfod is loaded when it is needed first: linked in, it and libcurl would take longer to start than
 * most dumps to read. Its code is never unloaded, since libcurl's state is the process's. */
#include "input/debuginfod.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"

enum { default_patience = 30, max_patience = 3600 };

/* The functions of it that are used. */
struct library {
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
	__typeof__(debuginfod_set_user_data) *set_user_data;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
};

struct jp_debuginfod {
	struct library library;
	debuginfod_client *client;
	long patience; /* seconds without progress before a query is given up */
	time_t since;  /* of the last progress */
	long last;     /* what the progress was */
	bool cut;      /* the query under way was given up */
	char trouble[256];
	char urls[160]; /* as much of them as messages hold */
};

static bool load(struct library *library)
{
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "debuginfod_begin", &library->begin },
		{ "debuginfod_end", &library->end },
		{ "debuginfod_find_debuginfo", &library->find_debuginfo },
		{ "debuginfod_set_user_data", &library->set_user_data },
		{ "debuginfod_set_progressfn", &library->set_progressfn },
	};
	void *handle = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	for (size_t i = 0; handle && i < jp_count(wanted); i++) {
		void *symbol = dlsym(handle, wanted[i].name);
		if (!symbol)
			handle = NULL;
		else
			memcpy(wanted[i].function, &symbol, sizeof symbol);
	}
	return handle;
}

static time_t now(void)
{
	struct timespec t = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* What set_user_data gave; the library is loaded by now. */
static struct jp_debuginfod *user_data(debuginfod_client *client)
{
	__typeof__(debuginfod_get_user_data) *get = NULL;
	void *handle = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_NOLOAD);
	void *symbol = handle ? dlsym(handle, "debuginfod_get_user_data") : NULL;
	memcpy(&get, &symbol, sizeof get);
	if (handle)
		dlclose(handle);
	return get ? get(client) : NULL;
}

/* libdebuginfod's own time-out begins with the connection, and counts anew with each of its retries: this one,
 * a little later, ends both. It is called about once a second, with the bytes received as soon as a server
 * answers; before that with a counter that grows by one. */
static int on_progress(debuginfod_client *client, long done, long all)
{
	struct jp_debuginfod *d = user_data(client);
	if (!d)
		return 1;
	if (done > d->last + 1 || (all > 0 && done > d->last))
		d->since = now();
	d->last = done;
	d->cut = d->cut || now() - d->since > d->patience + 1;
	return d->cut;
}

static long patience_of(const char *text)
{
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;
	if (n <= 0)
		return default_patience;
	return n < max_patience ? n : max_patience;
}

static void start(struct jp_debuginfod *d)
{
	if (!load(&d->library)) {
		snprintf(d->trouble, sizeof d->trouble, "no server is asked: %s is not installed", DEBUGINFOD_SONAME);
		return;
	}
	d->client = d->library.begin();
	if (!d->client) {
		snprintf(d->trouble, sizeof d->trouble, "libdebuginfod could not be started");
		return;
	}
	d->library.set_user_data(d->client, d);
	d->library.set_progressfn(d->client, on_progress);
}

struct jp_debuginfod *jp_debuginfod_new(void)
{
	struct jp_debuginfod *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	d->patience = patience_of(getenv(DEBUGINFOD_TIMEOUT_ENV_VAR));
	if (!urls || !urls[strspn(urls, " ")]) {
		snprintf(d->trouble, sizeof d->trouble, "no server is known: set DEBUGINFOD_URLS");
		return d;
	}
	snprintf(d->urls, sizeof d->urls, "%s", urls);
	start(d);
	return d;
}

static void give_up(struct jp_debuginfod *d, int code)
{
	if (d->cut || code == ETIME) /* by us, or by libdebuginfod itself */
		snprintf(d->trouble, sizeof d->trouble,
		         "no answer within %ld s from %s; not asked again (DEBUGINFOD_TIMEOUT sets it)", d->patience,
		         d->urls);
	else
		snprintf(d->trouble, sizeof d->trouble, "%s: %s; not asked again", d->urls, strerror(code));
}

char *jp_debuginfod_find(struct jp_debuginfod *d, const char *build_id)
{
	char *path = NULL;
	if (*d->trouble)
		return NULL;
	d->since = now();
	d->last = 0;
	d->cut = false;
	int fd = d->library.find_debuginfo(d->client, (const unsigned char *)build_id, 0, &path);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	if (fd != -ENOENT || d->cut)
		give_up(d, -fd);
	free(path);
	return NULL;
}

const char *jp_debuginfod_trouble(const struct jp_debuginfod *d)
{
	return *d->trouble ? d->trouble : NULL;
}

void jp_debuginfod_free(struct jp_debuginfod *d)
{
	if (d && d->client)
		d->library.end(d->client);
	free(d);
}
