/* Titles as set by
 *   Puma      "puma 5.6.5 (tcp://0.0.0.0:9292) [app]", "puma: cluster worker 0: 4711 [app]"
 *   Unicorn   "unicorn master -c config.rb", "unicorn worker[0] -c config.rb"; also "unicorn_rails ..."
 *   Sidekiq   "sidekiq 6.4.1 app [0 of 10 busy]"
 *   Resque    "resque-2.2.0: Waiting for *", "resque-2.2.0: Forked 4712 at ..." */
#include "collect/roles.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *start;
	struct jp_title role;
} titles[] = {
	{ "puma: cluster worker ", { "puma", "worker" } },
	{ "puma: ", { "puma", "" } },
	{ "puma ", { "puma", "" } },
	{ "unicorn master", { "unicorn", "master" } },
	{ "unicorn worker[", { "unicorn", "worker" } },
	{ "unicorn_rails master", { "unicorn", "master" } },
	{ "unicorn_rails worker[", { "unicorn", "worker" } },
	{ "sidekiq ", { "sidekiq", "" } },
	{ "resque-", { "resque", "" } },
};

static const char *const scripts[] = { "puma", "unicorn", "unicorn_rails", "sidekiq", "resque" };

static const char *word_base(const char *word, size_t *len)
{
	const char *base = word;
	size_t n = strcspn(word, " ");
	for (const char *p = word; p < word + n; p++)
		if (*p == '/')
			base = p + 1;
	*len = n - (size_t)(base - word);
	return base;
}

/* "ruby3.1 /usr/bin/puma -w 2": the first word that is no option after a Ruby is the script. */
static const char *script_of(const char *cmdline)
{
	size_t len;
	const char *base = word_base(cmdline, &len);
	if (len < 4 || strncmp(base, "ruby", 4))
		return NULL;
	for (const char *p = base + len; *p;) {
		p += strspn(p, " ");
		if (*p != '-')
			return p;
		p += strcspn(p, " ");
	}
	return NULL;
}

struct jp_title jp_title_role(const char *title, const char *cmdline)
{
	for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
		if (!strncmp(title, titles[i].start, strlen(titles[i].start)))
			return titles[i].role;
	size_t len;
	const char *script = script_of(cmdline);
	const char *base = script ? word_base(script, &len) : "";
	for (size_t i = 0; script && i < sizeof scripts / sizeof *scripts; i++)
		if (len == strlen(scripts[i]) && !strncmp(base, scripts[i], len))
			return (struct jp_title){ i == 2 ? "unicorn" : scripts[i], "" };
	return (struct jp_title){ "", "" };
}
