#include "report/members.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/names.h"
#include "cli/say.h"
#include "cli/terminal.h"

static void put_time(int64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[64];
	struct tm tm;
	if (seconds > 0 && gmtime_r(&t, &tm) && strftime(text, sizeof text, ", %Y-%m-%d %H:%M:%S UTC", &tm))
		fputs(text, stdout);
}

static void put_member_label(const char *label)
{
	if (*label) {
		printf(", label ");
		put_name(label);
	}
}

/* The number behind "\nKEY:" of a file of /proc; a file begins with a line of another kind, or with the key. */
static bool find_number(const char *text, const char *key, unsigned long long *number)
{
	size_t len = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (!strncmp(line, key, len) && line[len] == ':')
			return sscanf(line + len + 1, "%llu", number) == 1;
	return false;
}

/* In KiB; false: it was not gathered. */
static bool find_rss(const struct jprof_bundle *b, size_t i, unsigned long long *rss)
{
	const char *smaps = jprof_bundle_file(b, i, "smaps_rollup", NULL),
		   *status = jprof_bundle_file(b, i, "status", NULL);
	return (smaps && find_number(smaps, "Rss", rss)) || (status && find_number(status, "VmRSS", rss));
}

/* Sampled objects in use, as the head of a report counts them; false: that is not known. */
static bool find_samples(const struct jprof_bundle *b, size_t i, double *samples)
{
	struct jprof_profile *profile;
	struct jprof_range range;
	struct jprof_error err;
	int rc = jprof_bundle_profile(b, i, NULL, &profile, &err);
	if (rc == JPROF_E_NOMEM)
		say_error(&err);
	if (rc)
		return false;
	jprof_profile_range(profile, JPROF_INUSE_SPACE, &range);
	*samples = range.samples;
	jprof_profile_free(profile);
	return !isnan(range.error);
}

static void put_number(bool known, int width, int digits, double number)
{
	if (known)
		printf("%*.*f", width, digits, number);
	else
		printf("%*s", width, "-");
}

/* How many columns of a member's line stand before its title. */
static unsigned columns_before_title(const struct jprof_bundle_member *m)
{
	size_t name = strlen(m->name), role = strlen(m->role);
	return 54 + (unsigned)(name > 12 ? name - 12 : 0) + (unsigned)(role > 8 ? role - 8 : 0);
}

/* Of a title as much as its line has room for. */
static void put_short_title(const struct jprof_bundle_member *m, const char *title)
{
	unsigned columns = terminal_size().columns, before = columns_before_title(m);
	terminal_put_cut(stdout, title, columns > before + 20 ? columns - before : 20);
	putchar('\n');
}

/* `all`: with its label, its time, and whether it has names. */
static void put_member(const struct jprof_bundle *b, size_t i, bool all)
{
	const struct jprof_bundle_member *m = jprof_bundle_member(b, i);
	unsigned long long rss = 0;
	double samples = 0;
	printf("  ");
	put_name(m->name);
	printf("%*s", strlen(m->name) < 12 ? 12 - (int)strlen(m->name) : 0, "");
	put_number(m->pid, 9, 0, (double)m->pid);
	bool sampled = find_samples(b, i, &samples), resident = find_rss(b, i, &rss);
	put_number(sampled, 10, 0, samples);
	put_number(resident, 10, 1, (double)rss / 1024);
	printf("  ");
	put_name(*m->role ? m->role : "-");
	printf("%*s ", strlen(m->role) < 8 ? 8 - (int)strlen(*m->role ? m->role : "-") : 0, "");
	const char *title = *m->title ? m->title : *m->program ? m->program : "-";
	if (!all) {
		put_short_title(m, title);
		return;
	}
	put_name(title);
	if (strcmp(m->label, jprof_bundle_info(b)->label) != 0)
		put_member_label(m->label);
	put_time(m->time);
	printf("%s\n", jprof_bundle_file(b, i, "symbols.pb.gz", NULL) ? ", named by the bundle" : "");
}

size_t put_members(const char *path, const struct jprof_bundle *b, size_t most)
{
	size_t count = jprof_bundle_count(b), shown = count > most ? most : count;
	const struct jprof_bundle_info *info = jprof_bundle_info(b);
	printf("%-10s ", "bundle");
	put_name(path);
	printf("\n%-10s ", "made by");
	put_name(*info->tool ? info->tool : "(not known)");
	put_member_label(info->label);
	put_time(info->time);
	printf("\n%-10s %zu\n", "members", jprof_bundle_count(b));
	printf("  %-12s %8s %9s %9s  %-8s %s\n", "name", "pid", "samples", "RSS MB", "role", "title");
	for (size_t i = 0; i < shown; i++)
		put_member(b, i, most == SIZE_MAX);
	if (shown < count)
		printf("  %zu more: jprof info --all\n", count - shown);
	return 4 + shown + (shown < count);
}
