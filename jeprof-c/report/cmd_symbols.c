/* jprof --symbols: standard input holds the text of a /proc/PID/maps and hexadecimal addresses, one a
 * line; each address gets a line with its function's short name, or ??. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "cli/cachedir.h"
#include "cli/names.h"
#include "cli/packdirs.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "commands.h"
#include "report/options.h"

/* What was read. */
struct symbol_request {
	unsigned long long *addresses;
	size_t count, cap;
	char *maps; /* text */
	size_t maps_len;
};

static bool add_address(struct symbol_request *r, unsigned long long address)
{
	if (r->count == r->cap) {
		size_t cap = r->cap ? 2 * r->cap : 256;
		void *grown = reallocarray(r->addresses, cap, sizeof *r->addresses);
		if (!grown)
			return false;
		r->addresses = grown;
		r->cap = cap;
	}
	r->addresses[r->count++] = address;
	return true;
}

/* A line of maps has a dash after its first number; an address is all of its line. */
static bool read_request(struct symbol_request *r)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *maps = shortage_note(textstream_open(&r->maps, &r->maps_len));
	bool good = maps;
	while (good && shortage_line(&line, &cap, stdin) >= 0) {
		char *end;
		unsigned long long address = strtoull(line, &end, 16);
		if (end != line && *end == '-')
			fputs(line, maps);
		else if (end != line && strspn(end, " \t\r\n") == strlen(end))
			good = add_address(r, address);
	}
	free(line);
	if (maps && !shortage_close(maps, &r->maps))
		good = false;
	return good && !shortage_noted();
}

/* A dump with one stack of one frame for each address: the innermost frame is looked up as it is. */
static char *as_dump(const struct symbol_request *r, size_t *len)
{
	struct jp_strbuf text = { 0 };
	jp_strbuf_str(&text, "heap_v2/1\n");
	for (size_t i = 0; i < r->count; i++)
		jp_strbuf_printf(&text, "@ 0x%llx\n  t*: 1: 64 [0: 0]\n", r->addresses[i]);
	jp_strbuf_printf(&text, "\nMAPPED_LIBRARIES:\n%.*s", (int)r->maps_len, r->maps);
	*len = text.len;
	return shortage_take(&text);
}

/* What an address is called. */
struct name {
	unsigned long long address;
	const char *name; /* the profile's */
};

static int by_address(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	return jp_order(x->address, y->address);
}

/* The names of all stacks by address, to be freed; NULL when memory is short. */
static struct name *names_of(const struct jprof_profile *profile, size_t *count)
{
	size_t stacks = jprof_profile_stacks(profile);
	struct name *names = calloc(stacks + 1, sizeof *names);
	*count = 0;
	for (size_t i = 0; names && i < stacks; i++) {
		struct jprof_frame frames[64];
		size_t n = jprof_profile_frames(profile, i, frames, 64);
		if (n && n <= 64 && frames[0].named)
			names[(*count)++] = (struct name){ frames[0].address, frames[n - 1].function };
	}
	if (names)
		qsort(names, *count, sizeof *names, by_address);
	return names;
}

static int answer(const struct symbol_request *r, const struct options *o)
{
	struct jprof_error err = { .text = "out of memory" };
	struct jprof_dump *dump = NULL;
	struct jprof_profile *profile = NULL;
	char *dirs = o->no_packs ? NULL : pack_dirs(), *cache = o->no_cache ? NULL : cache_dir();
	struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                             .names = o->no_packs ? NULL : o->names,
		                             .names_dirs = dirs,
		                             .cache = cache,
		                             .finder = sandbox_finder(o->no_sandbox),
		                             .sysroot = o->sysroot,
		                             .lib_prefix = o->lib_prefix };
	struct name *names = NULL;
	size_t len, count = 0;
	char *text = as_dump(r, &len);
	int rc = text ? jprof_dump_parse(text, len, "<stdin>", &dump, &err) : JPROF_E_NOMEM;
	if (!rc)
		rc = jprof_profile_take(dump, NULL, &profile, &err);
	if (!rc)
		rc = jprof_profile_symbolize(profile, &opts, &err);
	if (!rc && !(names = names_of(profile, &count)))
		rc = JPROF_E_NOMEM;
	if (rc)
		say_error(&err);
	for (size_t i = 0; !rc && i < r->count; i++) {
		struct name key = { .address = r->addresses[i] };
		const struct name *found = bsearch(&key, names, count, sizeof key, by_address);
		put_name(found ? found->name : "??");
		putchar('\n');
	}
	free(names);
	free(dirs);
	free(cache);
	jprof_profile_free(profile);
	jprof_dump_free(dump);
	free(text);
	return rc ? 1 : 0;
}

int cmd_symbols(const struct options *o)
{
	struct symbol_request r = { 0 };
	int status = 1;
	if (!read_request(&r))
		say("standard input cannot be read, or is too large");
	else if (!r.count)
		say("standard input holds no addresses; give the text of a /proc/PID/maps and addresses, one a line");
	else
		status = answer(&r, o);
	free(r.addresses);
	free(r.maps);
	return status;
}
