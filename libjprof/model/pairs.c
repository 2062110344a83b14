#include "model/pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "model/identity.h"

enum { most_named = 6 }; /* processes in one line */

/* ---- who is who ------------------------------------------------------------------------------------------ */

/* The program by the name that people have for it: "puma" of "puma: cluster worker 0: 17", "ruby" of /usr/bin/ruby3.1,
 * "resque" of "resque-2.2.0: Waiting for *". */
static size_t program_word(const struct jp_process *process, const char **word)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-+";
	const char *from = *process->title ? process->title : process->program;
	for (const char *p = from + strcspn(from, " "); p > from; p--)
		if (p[-1] == '/') {
			from = p;
			break;
		}
	*word = from;
	size_t len = strspn(from, letters);
	while (len && from[len - 1] == '-')
		len--;
	return len;
}

static bool have_same_program(const struct jp_process *a, const struct jp_process *b)
{
	const char *one, *other;
	size_t len = program_word(a, &one);
	return len == program_word(b, &other) && !strncmp(one, other, len);
}

/* "puma: cluster worker 3: 17 [app]", "unicorn worker[3] -c config.rb"; -1: it has none. */
static long worker_number(const struct jp_process *process)
{
	const char *at = strcmp(process->role, "worker") ? NULL : strstr(process->title, " worker");
	at = at ? at + strlen(" worker") : "";
	return (*at == ' ' || *at == '[') && at[1] >= '0' && at[1] <= '9' ? strtol(at + 1, NULL, 10) : -1;
}

static bool same_or_unknown(const char *a, const char *b)
{
	return !*a || !*b || !strcmp(a, b);
}

static bool is_same_process(const struct jp_process *a, const struct jp_process *b)
{
	if (!a->pid || a->pid != b->pid || !same_or_unknown(a->boot_id, b->boot_id))
		return false;
	return !a->start_ticks || !b->start_ticks || a->start_ticks == b->start_ticks;
}

/* A place in a service, which one process may take over from another. */
static bool have_same_place(const struct jp_process *a, const struct jp_process *b)
{
	const char *word;
	return program_word(a, &word) && have_same_program(a, b) && !strcmp(a->role, b->role) &&
	       worker_number(a) == worker_number(b);
}

/* ---- pairs ------------------------------------------------------------------------------------------------- */

/* The only process without a pair that has this one's place; jp_alone: there are none, or several. */
static size_t only_one_left(const struct jp_process *list, const struct jp_pair *pairs, size_t count,
                            const struct jp_process *like)
{
	size_t found = jp_alone;
	for (size_t i = 0; i < count; i++)
		if (pairs[i].with == jp_alone && have_same_place(&list[i], like)) {
			if (found != jp_alone)
				return jp_alone;
			found = i;
		}
	return found;
}

static void pair_with(struct jp_compared *c, size_t now, size_t base, bool same)
{
	c->pairs[now] = (struct jp_pair){ base, same };
	c->base_pairs[base] = (struct jp_pair){ now, same };
}

static void pair_with_itself(struct jp_compared *c, size_t now)
{
	for (size_t i = 0; i < c->base_count; i++)
		if (c->base_pairs[i].with == jp_alone && is_same_process(&c->now[now], &c->base[i])) {
			pair_with(c, now, i, true);
			return;
		}
}

/* A dump without a side-car, of which nothing tells whose it is. */
static bool is_anonymous(const struct jp_process *process)
{
	const char *word;
	return !process->pid && !program_word(process, &word);
}

static size_t next_alone(const struct jp_pair *pairs, size_t count, size_t from)
{
	while (from < count && pairs[from].with != jp_alone)
		from++;
	return from;
}

/* Anonymous ones are paired by their names in the bundles, then the last one on each side: whether they are of one
 * process is seen by where their files are mapped, as of two dumps. */
static void pair_anonymous(struct jp_compared *c)
{
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < c->base_count && c->pairs[i].with == jp_alone; k++)
			if (c->base_pairs[k].with == jp_alone && is_anonymous(&c->now[i]) &&
			    is_anonymous(&c->base[k]) && !strcmp(c->now[i].name, c->base[k].name))
				pair_with(c, i, k, true);
	size_t now = next_alone(c->pairs, c->count, 0), base = next_alone(c->base_pairs, c->base_count, 0);
	bool last = now < c->count && base < c->base_count && next_alone(c->pairs, c->count, now + 1) == c->count &&
	            next_alone(c->base_pairs, c->base_count, base + 1) == c->base_count;
	if (last && (is_anonymous(&c->now[now]) || is_anonymous(&c->base[base])))
		pair_with(c, now, base, true);
}

static struct jp_pair *all_alone(size_t count)
{
	struct jp_pair *pairs = calloc(count + 1, sizeof *pairs);
	for (size_t i = 0; pairs && i < count; i++)
		pairs[i].with = jp_alone;
	return pairs;
}

int jp_compared_pair(struct jp_compared *c)
{
	c->pairs = all_alone(c->count);
	c->base_pairs = all_alone(c->base_count);
	if (!c->pairs || !c->base_pairs)
		return -1;
	for (size_t i = 0; i < c->count; i++)
		pair_with_itself(c, i);
	for (size_t i = 0; i < c->count; i++) {
		size_t base = c->pairs[i].with == jp_alone
		                  ? only_one_left(c->base, c->base_pairs, c->base_count, &c->now[i])
		                  : jp_alone;
		if (base != jp_alone && only_one_left(c->now, c->pairs, c->count, &c->now[i]) == i)
			pair_with(c, i, base, false);
	}
	pair_anonymous(c);
	return 0;
}

int jp_compared_of(const struct jprof_profile *difference, struct jp_compared *c)
{
	*c = (struct jp_compared){ 0 };
	c->now = jp_identities(difference, false, &c->count);
	c->base = jp_identities(difference, true, &c->base_count);
	return !c->now || !c->base || jp_compared_pair(c) ? -1 : 0;
}

void jp_compared_release(struct jp_compared *c)
{
	free(c->now);
	free(c->base);
	free(c->pairs);
	free(c->base_pairs);
	*c = (struct jp_compared){ 0 };
}

bool jp_compared_all_same(const struct jp_compared *c)
{
	size_t same = 0;
	for (size_t i = 0; i < c->count; i++)
		same += c->pairs[i].same;
	return !c->count || !c->base_count || (same == c->count && same == c->base_count);
}

bool jp_compared_any_same(const struct jp_compared *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->pairs[i].same)
			return true;
	return false;
}

/* ---- what is said of them ------------------------------------------------------------------------------------ */

/* Whether another one of a list is named. */
static bool put_next(struct jp_strbuf *out, size_t *named)
{
	++*named;
	jp_strbuf_str(out, *named == 1 ? "" : *named <= most_named ? ", " : *named == most_named + 1 ? ", ..." : "");
	return *named <= most_named;
}

static void put_process_name(struct jp_strbuf *out, const struct jp_process *p)
{
	if (*p->name)
		jp_strbuf_str(out, p->name);
	else
		jp_strbuf_printf(out, "%llu", (unsigned long long)p->pid);
}

/* "17 (worker)" */
static void put_with_role(struct jp_strbuf *out, const struct jp_process *p, size_t *named)
{
	if (!put_next(out, named))
		return;
	put_process_name(out, p);
	if (*p->role)
		jp_strbuf_printf(out, " (%s)", p->role);
}

void jp_put_process_label(struct jp_strbuf *out, const struct jp_process *p)
{
	long number = worker_number(p);
	if (number >= 0) {
		jp_strbuf_printf(out, "%s %ld (", p->role, number);
		put_process_name(out, p);
		jp_strbuf_str(out, ")");
	} else {
		put_process_name(out, p);
		if (*p->role)
			jp_strbuf_printf(out, " (%s)", p->role);
	}
}

void jp_put_process_place(struct jp_strbuf *out, const struct jp_process *p)
{
	long number = worker_number(p);
	jp_strbuf_str(out, p->role);
	if (number >= 0)
		jp_strbuf_printf(out, " %ld", number);
}

/* "worker 0: 21 by 45" */
static void put_replaced(struct jp_strbuf *out, const struct jp_process *now, const struct jp_process *base,
                         size_t *named)
{
	long number = worker_number(now);
	if (!put_next(out, named))
		return;
	if (number >= 0)
		jp_strbuf_printf(out, "%s %ld: ", now->role, number);
	else if (*now->role)
		jp_strbuf_printf(out, "%s: ", now->role);
	put_process_name(out, base);
	jp_strbuf_str(out, " by ");
	put_process_name(out, now);
}

static int note_replaced(struct jprof_profile *profile, const struct jp_compared *c)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) list = { 0 };
	size_t named = 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->pairs[i].with != jp_alone && !c->pairs[i].same)
			put_replaced(&list, &c->now[i], &c->base[c->pairs[i].with], &named);
	if (list.failed)
		return -1;
	return named ? jp_note(profile,
	                       "replaced between the two (%.300s): what the old one held is gone and what the new one "
	                       "holds has come, which is no growth of one process",
	                       list.text)
	             : 0;
}

static int note_alone(struct jprof_profile *profile, const struct jp_compared *c)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) came = { 0 };
	struct jp_strbuf jp_cleanup(jp_strbuf_release) went = { 0 };
	size_t new_ones = 0, old_ones = 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->pairs[i].with == jp_alone)
			put_with_role(&came, &c->now[i], &new_ones);
	for (size_t i = 0; i < c->base_count; i++)
		if (c->base_pairs[i].with == jp_alone)
			put_with_role(&went, &c->base[i], &old_ones);
	if (came.failed || went.failed)
		return -1;
	return new_ones || old_ones
	           ? jp_note(
			 profile,
			 "not the same processes (only in the later one: %.200s; only in the base: %.200s): all that "
			 "these hold counts as new, or as gone",
			 new_ones ? came.text : "none", old_ones ? went.text : "none")
	           : 0;
}

static bool has_program(const struct jp_process *list, size_t count, const struct jp_process *like)
{
	const char *word;
	bool found = !program_word(like, &word);
	for (size_t i = 0; i < count && !found; i++)
		found = !program_word(&list[i], &word) || have_same_program(&list[i], like);
	return found;
}

bool jp_compared_one_program(const struct jp_compared *c)
{
	return !c->count || !c->base_count || has_program(c->base, c->base_count, &c->now[0]);
}

static int note_programs(struct jprof_profile *profile, const struct jp_compared *c)
{
	const char *now, *base;
	if (jp_compared_one_program(c))
		return 0;
	int len = (int)program_word(&c->now[0], &now), base_len = (int)program_word(&c->base[0], &base);
	return jp_note(profile,
	               "the later one is of %.*s and the base of %.*s: a difference of two programs is no growth", len,
	               now, base_len, base);
}

/* "shop" of "puma 5.6.5 (tcp://0:80) [shop]": the folder that it was started in. None where that is a release by its
 * time or commit, of which each has another. */
static size_t application_in_title(const struct jp_process *list, size_t count, const char **word)
{
	static const char hexadecimal[] = "0123456789abcdef";
	for (size_t i = 0; i < count; i++) {
		const char *open = strrchr(list[i].title, '['), *end = open ? strchr(open, ']') : NULL;
		size_t len = end && !end[1] ? (size_t)(end - open) - 1 : 0;
		*word = len ? open + 1 : "";
		if (!strncmp(list[i].title, "puma", strlen("puma")) && strspn(*word, hexadecimal) < len)
			return len;
	}
	return 0;
}

/* A folder may have another name in the next deployment, so this is no proof. */
static int note_applications(struct jprof_profile *profile, const struct jp_compared *c)
{
	const char *now, *base;
	size_t len = application_in_title(c->now, c->count, &now),
	       base_len = application_in_title(c->base, c->base_count, &base);
	if (!len || !base_len || (len == base_len && !strncmp(now, base, len)))
		return 0;
	return jp_note(
	    profile,
	    "the later one is of [%.*s] and the base of [%.*s], by their titles: if these are two applications, a "
	    "difference of them is no growth",
	    (int)len, now, (int)base_len, base);
}

static const char *ruby_of(const struct jp_process *list, size_t count)
{
	const char *ruby = "";
	for (size_t i = 0; i < count && !*ruby; i++)
		ruby = list[i].ruby;
	return ruby;
}

static int note_rubies(struct jprof_profile *profile, const struct jp_compared *c)
{
	const char *now = ruby_of(c->now, c->count), *base = ruby_of(c->base, c->base_count);
	if (same_or_unknown(now, base))
		return 0;
	return jp_note(
	    profile,
	    "the later one is of Ruby %.20s and the base of Ruby %.20s: what Ruby itself allocates is not to be "
	    "compared",
	    now, base);
}

int jp_compared_note(struct jprof_profile *profile, const struct jp_compared *c)
{
	if (!c->count || !c->base_count)
		return 0;
	return note_programs(profile, c) || note_applications(profile, c) || note_rubies(profile, c) ||
	               note_replaced(profile, c) || note_alone(profile, c)
	           ? -1
	           : 0;
}
