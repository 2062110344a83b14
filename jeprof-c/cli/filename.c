#include "cli/filename.h"

#include <stddef.h>
#include <string.h>

#include "cli/say.h"

/* Endings that mean one thing to whoever opens the file; any other ending says nothing. */
static const struct {
	const char *ending;
	const char *formats; /* each with a blank on both sides */
	const char *means, *give;
} meanings[] = {
	{ ".jprof", " bundle ", "snapshots (jprof snap, jprof bundle)", "" },
	{ ".jnames", " names ", "packs of names", "" },
	{ ".heap", " raw ", "dumps (and for --raw)", "" },
	{ ".pb.gz", " proto ", "--proto", "that option, or " },
	{ ".pb", " proto ", "--proto", "that option, or " },
	{ ".svg", " svg flame web ", "--svg and --flame", "one of these, or " },
	{ ".html", " html ", "--html", "that option, or " },
	{ ".pdf", " pdf ", "--pdf", "that option, or " },
	{ ".png", " png ", "--png", "that option, or " },
	{ ".gif", " gif ", "--gif", "that option, or " },
	{ ".ps", " ps ", "--ps", "that option, or " },
	{ ".dot", " dot ", "--dot", "that option, or " },
	{ ".csv", " csv ", "--csv", "that option, or " },
	{ ".json", " json speedscope dhat ", "--json, --speedscope and --dhat", "one of these, or " },
};

static bool has_ending(const char *path, const char *ending)
{
	size_t len = strlen(path), end = strlen(ending);
	return len > end && !strcmp(path + len - end, ending);
}

static bool is_among(const char *formats, const char *format)
{
	size_t len = strlen(format);
	for (const char *at = formats; (at = strstr(at, format)); at += len)
		if (at[-1] == ' ' && at[len] == ' ')
			return true;
	return false;
}

bool filename_fits(const char *path, const char *format)
{
	for (size_t i = 0; path && i < sizeof meanings / sizeof *meanings; i++) {
		if (!has_ending(path, meanings[i].ending) || is_among(meanings[i].formats, format))
			continue;
		say("%s: such a name is for %s, and this is %s; give %sanother name", path, meanings[i].means,
		    !strcmp(format, "bundle")  ? "a snapshot"
		    : !strcmp(format, "names") ? "a pack of names"
		                               : format,
		    meanings[i].give);
		return false;
	}
	return true;
}
