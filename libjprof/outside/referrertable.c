#include "outside/referrertable.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/search.h"

enum { most_owners = 8192, owner_places = 4 * most_owners };

int jp_referrertable_open(struct jp_referrertable *t)
{
	t->owners = calloc(most_owners, sizeof *t->owners);
	t->known = calloc(owner_places, sizeof *t->known);
	t->count = 1;
	return t->owners && t->known ? 0 : -1;
}

void jp_referrertable_release(struct jp_referrertable *t)
{
	free(t->owners);
	free(t->known);
}

unsigned jp_referrertable_named(struct jp_referrertable *t, enum jp_referrer_kind kind, const char *name)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->owners[i].kind == kind && !strcmp(t->owners[i].name, name))
			return (unsigned)i;
	if (t->count + JP_REFERRER_OTHER >= most_owners && *name)
		return jp_referrertable_named(t, kind, "");
	if (t->count == most_owners)
		return 0;
	t->owners[t->count] = (struct jp_referrer){ .kind = kind };
	strncat(t->owners[t->count].name, name, sizeof t->owners[t->count].name - 1);
	return (unsigned)t->count++;
}

static bool is_own_class(const struct jp_rubycensus *c, const char *name)
{
	for (size_t i = 0; c && i < c->class_count; i++)
		if (c->classes[i].own && !strcmp(c->classes[i].name, name))
			return true;
	return false;
}

unsigned jp_referrertable_object(struct jp_referrertable *t, const uint64_t words[4])
{
	struct jp_rubyowner ruby;
	if (!jp_rubyowner_of(words, &ruby)) /* what Ruby is about to end is an object, too */
		return words[0] & 31 ? jp_referrertable_named(t, JP_REFERRER_RUBY, "") : 0;
	size_t i = (ruby.key * 0x9e3779b97f4a7c15U >> 32) % owner_places;
	while (t->known[i].owner && t->known[i].key != ruby.key)
		i = (i + 1) % owner_places;
	if (t->known[i].owner)
		return t->known[i].owner;
	if (t->known_count == owner_places / 2)
		return jp_referrertable_named(t, ruby.code ? JP_REFERRER_CODE : JP_REFERRER_RUBY, "");
	t->known_count++;
	jp_rubyowner_name(t->source, t->pages, t->names, words, &ruby);
	unsigned owner = jp_referrertable_named(t, ruby.code ? JP_REFERRER_CODE : JP_REFERRER_RUBY, ruby.name);
	t->owners[owner].own = !ruby.code && is_own_class(t->census, ruby.name);
	t->known[i].key = ruby.key;
	t->known[i].owner = (uint16_t)owner;
	return owner;
}

static int own_then_larger(const void *a, const void *b)
{
	const struct jp_referrer *x = a, *y = b;
	if (x->own != y->own)
		return x->own ? -1 : 1;
	return jp_order_by(y->bytes, x->bytes, strcmp(x->name, y->name));
}

void jp_referrertable_sort(struct jp_referrertable *t)
{
	qsort(t->owners, t->count, sizeof *t->owners, own_then_larger);
}
