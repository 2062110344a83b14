/* The difference of two bundles, process by process: each member is compared with the same process in the base, or with
 * the one whose place it took, and the differences are added up. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/strbuf.h"
#include "bundle/bundle.h"
#include "model/build.h"
#include "model/pairs.h"
#include "ops/merge.h"

/* The members of a bundle that are asked for. */
struct member_list {
	const struct jprof_bundle *bundle;
	size_t *index;
	size_t count;
};

struct comparing {
	struct jprof_profile_opts opts;
	struct member_list now, base;
	struct jp_compared compared;
	struct jprof_profile *sum;
	size_t read[2], common; /* members of now and of the base that have the thread; stacks that both sides have */
	struct jprof_error no_thread; /* of the member that was last found without the thread */
};

static int list_members(struct member_list *list, const struct jprof_bundle *bundle, const char *wanted,
                        struct jp_process **processes, struct jprof_error *err)
{
	list->bundle = bundle;
	list->index = calloc(bundle->count + 1, sizeof *list->index);
	*processes = calloc(bundle->count + 1, sizeof **processes);
	if (!list->index || !*processes)
		return jp_error_nomem(err);
	for (size_t i = jprof_bundle_find(bundle, wanted, 0); i < bundle->count;
	     i = jprof_bundle_find(bundle, wanted, i + 1)) {
		(*processes)[list->count] = jp_process_of_member(&bundle->members[i].pub);
		list->index[list->count++] = i;
	}
	return list->count ? 0 : jp_no_member(bundle, wanted, err);
}

/* The profile of a member; NULL where it does not have the thread that is asked for. */
static int read_one(struct comparing *c, bool base, size_t i, struct jprof_profile **profile, struct jprof_error *err)
{
	const struct member_list *list = base ? &c->base : &c->now;
	struct jprof_error fault = { 0 };
	*profile = NULL;
	int rc = jprof_bundle_profile(list->bundle, list->index[i], &c->opts, profile, &fault);
	c->read[base] += !rc;
	if (rc == JPROF_E_ARGUMENT && c->opts.thread) {
		c->no_thread = fault;
		return 0;
	}
	if (rc && err)
		*err = fault;
	return rc;
}

/* Adds a profile, which is freed, or makes it the sum. */
static int add_up_members(struct comparing *c, struct jprof_profile *profile, struct jprof_error *err)
{
	struct jp_merging how = { .factor = 1, .part = true };
	if (!c->sum) {
		c->sum = profile;
		return 0;
	}
	int rc = jp_profile_merge_as(c->sum, profile, &how, err);
	jprof_profile_free(profile);
	return rc;
}

static int subtract(struct comparing *c, struct jprof_profile *from, const struct jprof_profile *base, bool same,
                    struct jprof_error *err)
{
	struct jp_merging how = { .factor = -1, .part = true, .replaced = !same };
	int rc = jp_profile_merge_as(from, base, &how, err);
	c->common += how.common;
	return rc;
}

/* One process now, less the one that it is compared with. */
static int add_pair(struct comparing *c, size_t i, struct jprof_error *err)
{
	struct jp_pair pair = c->compared.pairs[i];
	struct jprof_profile *now, *base = NULL;
	int rc = read_one(c, false, i, &now, err);
	if (!rc && pair.with != jp_alone)
		rc = read_one(c, true, pair.with, &base, err);
	if (!rc && !now && base && !(now = jp_profile_empty()))
		rc = jp_error_nomem(err);
	if (!rc && base)
		rc = subtract(c, now, base, pair.same, err);
	jprof_profile_free(base);
	if (rc)
		jprof_profile_free(now);
	return rc || !now ? rc : add_up_members(c, now, err);
}

/* One that is there no more. */
static int subtract_alone(struct comparing *c, size_t i, struct jprof_error *err)
{
	struct jprof_profile *base;
	int rc = read_one(c, true, i, &base, err);
	if (rc || !base)
		return rc;
	if (!c->sum && !(c->sum = jp_profile_empty()))
		rc = jp_error_nomem(err);
	rc = rc ? rc : subtract(c, c->sum, base, false, err);
	jprof_profile_free(base);
	return rc;
}

static int add_pairs(struct comparing *c, struct jprof_error *err)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < c->now.count; i++)
		rc = add_pair(c, i, err);
	for (size_t i = 0; !rc && i < c->base.count; i++)
		if (c->compared.base_pairs[i].with == jp_alone)
			rc = subtract_alone(c, i, err);
	if (!rc && !c->sum) {
		rc = c->no_thread.code;
		if (err)
			*err = c->no_thread;
	}
	return rc;
}

/* "17 (master), 21 (worker)" */
static char *names_in_list(const struct member_list *list)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	for (size_t i = 0; i < list->count; i++) {
		const struct jprof_bundle_member *m = &list->bundle->members[list->index[i]].pub;
		jp_strbuf_printf(&text, *m->role ? "%s%s (%s)" : "%s%s", i ? ", " : "", m->name, m->role);
	}
	return text.failed ? NULL : strdup(text.text);
}

static int note_damage(struct jprof_profile *sum, const struct jprof_bundle *bundle)
{
	return bundle->warning.code ? jp_note_error(sum, &bundle->warning) : 0;
}

/* What the whole is of. */
static int finish_comparing(struct comparing *c)
{
	struct jprof_profile *sum = c->sum;
	bool same;
	free(sum->members);
	sum->members = names_in_list(&c->now);
	sum->info.members = sum->members ? sum->members : "";
	sum->base_input = jp_intern_str(&sum->strings, c->base.bundle->name);
	return !sum->members || sum->base_input == JP_NONE || jp_profile_set_input(sum, c->now.bundle->name) ||
	               note_damage(sum, c->now.bundle) || note_damage(sum, c->base.bundle) ||
	               jp_merge_note(sum, c->read[0] && c->read[1], c->common, &same)
	           ? -1
	           : 0;
}

int jprof_bundle_difference(const struct jprof_bundle *bundle, const struct jprof_bundle *base,
                            const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                            struct jprof_error *err)
{
	struct comparing c = { 0 };
	if (jp_null(err, bundle, base, profile))
		return JPROF_E_ARGUMENT;
	int rc = jp_opts_take(&c.opts, sizeof c.opts, opts, err);
	if (rc)
		return rc;
	c.opts.size = sizeof c.opts;
	rc = list_members(&c.now, bundle, c.opts.member, &c.compared.now, err);
	rc = rc ? rc : list_members(&c.base, base, c.opts.member, &c.compared.base, err);
	c.compared.count = c.now.count;
	c.compared.base_count = c.base.count;
	if (!rc && jp_compared_pair(&c.compared))
		rc = jp_error_nomem(err);
	rc = rc ? rc : add_pairs(&c, err);
	if (!rc && finish_comparing(&c))
		rc = jp_error_nomem(err);
	if (rc)
		jprof_profile_free(c.sum);
	else
		*profile = c.sum;
	jp_compared_release(&c.compared);
	free(c.now.index);
	free(c.base.index);
	return rc;
}
