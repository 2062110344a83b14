#include "report/order.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/say.h"
#include "cli/shortage.h"

/* ---- times ------------------------------------------------------------------------------------------------ */

/* False: nothing tells, or it is a pipe, which is read once. */
static bool made_of_file(const char *path, struct jprof_made *made)
{
	struct stat st;
	return strcmp(path, "-") != 0 && !stat(path, &st) && S_ISREG(st.st_mode) &&
	       !shortage_note_code(jprof_made_open(path, made, NULL)) && made->first;
}

/* Whether all of a was made before anything of b. Older bundles have whole seconds. */
static bool is_before(const struct jprof_made *a, const struct jprof_made *b)
{
	bool whole = a->last % 1000 == 0 || b->first % 1000 == 0;
	return whole ? a->last / 1000 < b->first / 1000 : a->last < b->first;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat one, other;
	return strcmp(a, "-") != 0 && strcmp(b, "-") != 0 && !stat(a, &one) && !stat(b, &other) &&
	       S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/* ---- order ------------------------------------------------------------------------------------------------ */

/* Puts an item behind all that were made no later. */
static bool sort_in(char **paths, struct jprof_made *made, int i)
{
	int first = i;
	for (; i && is_before(&made[i], &made[i - 1]); i--) {
		char *path = paths[i];
		struct jprof_made time = made[i];
		paths[i] = paths[i - 1];
		made[i] = made[i - 1];
		paths[i - 1] = path;
		made[i - 1] = time;
	}
	return i != first;
}

bool order_series(char **paths, int count)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			if (is_same_file(paths[i], paths[k])) {
				say("%s: is given twice; a snapshot is compared with a later one, not with itself",
				    paths[i]);
				return false;
			}
	struct jprof_made *made = shortage_note(calloc((size_t)count + 1, sizeof *made));
	int known = 0;
	bool turned = false;
	while (made && known < count && made_of_file(paths[known], &made[known]))
		known++;
	for (int i = 1; known == count && i < count; i++)
		turned = sort_in(paths, made, i) || turned;
	free(made);
	if (turned)
		say("the snapshots were not given in the order of their times; they are compared from %s to %s",
		    paths[0], paths[count - 1]);
	return true;
}

bool order_base(char **dumps, int count, struct options *o)
{
	if (!o->diff_base || o->as_jeprof || count != 1)
		return true;
	char *pair[] = { (char *)o->diff_base, dumps[0] };
	bool good = order_series(pair, 2);
	o->diff_base = pair[0];
	dumps[0] = pair[1];
	return good;
}

bool order_is_same(const struct jprof_profile *difference, const char *path, const char *base)
{
	struct jprof_made now, before;
	if (shortage_note_code(jprof_profile_unchanged(difference)) != 1)
		return false;
	if (made_of_file(path, &now) && made_of_file(base, &before) &&
	    (now.first != before.first || now.last != before.last))
		return false;
	say("%s: is the same snapshot as %s: all samples are equal, and nothing says that it was made at another time",
	    path, base);
	return true;
}

bool order_are_alike(const struct jprof_profile *now, const struct jprof_profile *base, const char *path,
                     const char *base_path)
{
	bool has = *jprof_profile_info(now)->format, had = *jprof_profile_info(base)->format;
	if (has != had)
		say("%s: was read from outside, and cannot be compared with %s, which has a profile",
		    has ? base_path : path, has ? path : base_path);
	return has == had;
}
