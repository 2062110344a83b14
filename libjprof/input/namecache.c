#include "input/namecache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/index.h"
#include "input/answerer.h"
#include "input/finder.h"

static const char namecache_ending[] = ".names", no_build_id[] = "none";
static const char earlier_magic[] = "jprofnmc"; /* how files of the cache began once */

/* The largest file, and for how long after a change a file may change once more without a new time. */
enum { most_stored_bytes = 64 << 20, seconds_to_settle = 2 };

struct jp_namecache {
	int dir;
	uint64_t most;
	struct jp_strbuf answerer; /* the code that answers */
	bool written;
};

int jp_namecache_open(const char *path, uint64_t most, struct jp_namecache **out)
{
	struct jp_namecache *cache = calloc(1, sizeof *cache);
	*out = NULL;
	if (!cache)
		return -1;
	cache->dir = jp_ourdir_open(path, true);
	cache->most = most ? most : jp_namecache_most;
	bool useful = cache->dir >= 0 && jp_answerer_describe(&cache->answerer);
	int rc = cache->answerer.failed ? -1 : 0;
	if (useful)
		*out = cache;
	else
		jp_namecache_close(cache);
	return rc;
}

void jp_namecache_close(struct jp_namecache *cache)
{
	struct jp_ourdir_sum removed;
	if (!cache)
		return;
	if (cache->written)
		(void)!jp_ourdir_trim(cache->dir, jp_is_namecache_file, cache->most, &removed);
	jp_file_close(&cache->dir);
	jp_strbuf_release(&cache->answerer);
	free(cache);
}

/* ---- which files are asked ---------------------------------------------------------------------- */

/* What an answer depends on, but for the offsets. */
struct request_identity {
	struct jp_strbuf text;
	bool fleeting; /* a file of it may have changed just now, or nobody can find it again, or */
	uid_t owner;   /* ... besides root's there are files of this user and of another; 0: of none yet */
};

static void release_identity(struct request_identity *identity)
{
	jp_strbuf_release(&identity->text);
}

static void add_asked_file(struct request_identity *identity, const char *role, const struct jp_open_file *file,
                           time_t now)
{
	struct stat st;
	if (file->fd < 0)
		return;
	if (fstat(file->fd, &st) || !S_ISREG(st.st_mode) || !st.st_nlink) {
		identity->fleeting = true;
		return;
	}
	time_t last = st.st_mtime > st.st_ctime ? st.st_mtime : st.st_ctime;
	bool mixed = st.st_uid && identity->owner && st.st_uid != identity->owner;
	identity->owner = st.st_uid ? st.st_uid : identity->owner;
	identity->fleeting = identity->fleeting || mixed || last > now - seconds_to_settle;
	jp_strbuf_printf(&identity->text, "%s %ju %ju %jd %jd.%ld %jd.%ld %zu ", role, (uintmax_t)st.st_dev,
	                 (uintmax_t)st.st_ino, (intmax_t)st.st_size, (intmax_t)st.st_mtime, st.st_mtim.tv_nsec,
	                 (intmax_t)st.st_ctime, st.st_ctim.tv_nsec, strlen(file->path));
	jp_strbuf_str(&identity->text, file->path);
	jp_strbuf_str(&identity->text, "\n");
}

static void identify(const struct jp_namecache *cache, const struct jp_name_request *q,
                     struct request_identity *identity)
{
	struct timespec now = { 0 };
	identity->fleeting = clock_gettime(CLOCK_REALTIME, &now);
	jp_strbuf_str(&identity->text, cache->answerer.text);
	jp_strbuf_printf(&identity->text, "dwarf %d image %d allocator %d wrappers %d functions %d\n", q->dwarf,
	                 q->image, q->allocator, q->is_wrapper != NULL, q->functions);
	add_asked_file(identity, "object", &q->object, now.tv_sec);
	add_asked_file(identity, "debug", &q->debug, now.tv_sec);
	add_asked_file(identity, "shared", &q->shared, now.tv_sec);
	for (size_t i = 0; i < q->pack_count; i++)
		add_asked_file(identity, "pack", &q->packs[i], now.tv_sec);
}

/* Whether the files are what they were. */
static bool is_as_asked(const struct jp_namecache *cache, const struct jp_name_request *q,
                        const struct request_identity *before)
{
	struct request_identity jp_cleanup(release_identity) after = { 0 };
	identify(cache, q, &after);
	return !after.text.failed && !after.fleeting && after.text.len == before->text.len &&
	       !memcmp(after.text.text, before->text.text, after.text.len);
}

enum { longest_file_name = 160, hash_digits = 16 };

static void name_file(const struct request_identity *identity, const char *build_id, char name[longest_file_name])
{
	snprintf(name, longest_file_name, "%.128s-%0*" PRIx64 "%s", *build_id ? build_id : no_build_id, hash_digits,
	         jp_hash(0, identity->text.text, identity->text.len), namecache_ending);
}

/* Whether name_file makes such names. */
static bool is_namecache_name(const char *name)
{
	static const char hex[] = "0123456789abcdef";
	size_t id = strspn(name, hex);
	if (!strncmp(name, no_build_id, sizeof no_build_id - 1))
		id = sizeof no_build_id - 1;
	return id && name[id] == '-' && strspn(name + id + 1, hex) == hash_digits &&
	       !strcmp(name + id + 1 + hash_digits, namecache_ending);
}

bool jp_is_namecache_file(int dir, const char *name)
{
	char start[8];
	int jp_cleanup(jp_file_close) fd = is_namecache_name(name) ? jp_file_open_in(dir, name) : -1;
	ssize_t len = fd < 0 ? -1 : read(fd, start, sizeof start);
	return jp_is_namereply(start, len < 0 ? 0 : (size_t)len) ||
	       (len == sizeof start && !memcmp(start, earlier_magic, sizeof start));
}

/* ---- a question that is known in part ------------------------------------------------------------ */

/* Which place answers an offset, of those that were kept and of those that were found now. */
struct cached_answer {
	const struct jp_name_request *request;
	const struct jprof_name_finder *finder;
	struct jprof_error *err;
	struct jp_namereply old;
	struct jp_namereply fresh;
	uint64_t *missing; /* that were found now: ascending and different */
	size_t missing_count;
};

static void release_answer(struct cached_answer *a)
{
	jp_namereply_release(&a->old);
	jp_namereply_release(&a->fresh);
	free(a->missing);
}

static int load_stored(const struct jp_namecache *cache, const char *name, const struct request_identity *identity,
                       struct jp_namereply *old)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) bytes = { 0 };
	bool there = jp_ourdir_read(cache->dir, name, most_stored_bytes, &bytes);
	int rc = there ? jp_namereply_read(bytes.text, bytes.len, old) : JPROF_E_FORMAT;
	if (bytes.failed || rc == JPROF_E_NOMEM)
		return JPROF_E_NOMEM;
	if (rc || !old->offsets || strcmp(old->identity, identity->text.text))
		jp_namereply_release(old);
	return 0;
}

/* The kept place that answers the offset; NULL: none. *at moves on: offsets are asked for in ascending order. */
static const struct jp_reply_place *kept_place(const struct cached_answer *a, uint64_t offset, uint32_t *at)
{
	const struct jp_namereply *old = &a->old;
	while (*at < old->place_count && old->offsets[*at] < offset)
		++*at;
	if (*at == old->place_count || old->offsets[*at] != offset)
		return NULL;
	return &old->places[*at];
}

static int list_missing(struct cached_answer *a)
{
	const struct jp_name_request *q = a->request;
	uint32_t at = 0;
	a->missing_count = 0;
	a->missing = calloc(q->count, sizeof *a->missing);
	for (size_t i = 0; a->missing && i < q->count; i++)
		if ((!i || q->offsets[i] != q->offsets[i - 1]) && !kept_place(a, q->offsets[i], &at))
			a->missing[a->missing_count++] = q->offsets[i];
	return a->missing ? 0 : JPROF_E_NOMEM;
}

/* Whether a place is one of those that packs and code are asked for: see `nameless`. */
static bool is_nameless_place(const struct jp_reply_place *place)
{
	return place->source == JPROF_SOURCE_FDE || place->source == JPROF_SOURCE_PACK ||
	       place->source == JPROF_SOURCE_REGISTERED;
}

/* What was said of packs must not be said where none was asked: then all is found anew. */
static bool has_foreign_remarks(const struct cached_answer *a)
{
	bool nameless = false;
	uint32_t at = 0;
	if (a->missing_count || !a->old.place_count || !a->old.nameless || !a->old.remarks)
		return false;
	for (size_t i = 0; !nameless && i < a->request->count; i++)
		nameless = is_nameless_place(kept_place(a, a->request->offsets[i], &at));
	return !nameless;
}

static int ask_missing(struct cached_answer *a)
{
	struct jp_name_request request = *a->request;
	request.offsets = a->missing;
	request.count = a->missing_count;
	return jp_finder_ask(a->finder, &request, &a->fresh, a->err);
}

/* ---- both parts in one --------------------------------------------------------------------------- */

static bool any_in_code(const struct jp_namereply *reply)
{
	for (uint32_t i = 0; i < reply->place_count; i++)
		if (reply->places[i].reason != JP_NAMELESS_OUTSIDE)
			return true;
	return false;
}

static bool any_nameless(const struct jp_namereply *reply)
{
	for (uint32_t i = 0; i < reply->place_count; i++)
		if (is_nameless_place(&reply->places[i]))
			return true;
	return false;
}

/* Frames and functions of both, the kept ones first, and the places by their offsets, in the memory of `all`. Strings
 * stay where they are. */
static int join_parts(const struct cached_answer *a, struct jp_namereply *all)
{
	const struct jp_namereply *old = &a->old, *fresh = &a->fresh;
	size_t places = (size_t)old->place_count + fresh->place_count, next = 0;
	if ((uint64_t)old->frame_count + fresh->frame_count >= UINT32_MAX || places >= UINT32_MAX ||
	    (uint64_t)old->function_count + fresh->function_count >= UINT32_MAX)
		return JPROF_E_NOMEM;
	all->frame_count = old->frame_count + fresh->frame_count;
	all->function_count = old->function_count + fresh->function_count;
	all->frames = jp_arena_alloc(&all->arena, ((size_t)all->frame_count + 1) * sizeof *all->frames);
	all->functions = jp_arena_alloc(&all->arena, ((size_t)all->function_count + 1) * sizeof *all->functions);
	all->places = jp_arena_alloc(&all->arena, (places + 1) * sizeof *all->places);
	all->offsets = jp_arena_alloc(&all->arena, (places + 1) * sizeof *all->offsets);
	if (!all->frames || !all->functions || !all->places || !all->offsets)
		return JPROF_E_NOMEM;
	for (uint32_t i = 0; i < all->frame_count; i++) {
		bool kept = i < old->frame_count;
		all->frames[i] = kept ? old->frames[i] : fresh->frames[i - old->frame_count];
		all->frames[i].function += kept ? 0 : old->function_count;
	}
	for (uint32_t i = 0; i < all->function_count; i++)
		all->functions[i] =
		    i < old->function_count ? old->functions[i] : fresh->functions[i - old->function_count];
	for (uint32_t i = 0; all->place_count < places; all->place_count++) {
		bool kept = next == fresh->place_count || (i < old->place_count && old->offsets[i] < a->missing[next]);
		all->offsets[all->place_count] = kept ? old->offsets[i] : a->missing[next];
		all->places[all->place_count] = kept ? old->places[i] : fresh->places[next];
		all->places[all->place_count].frame_first += kept ? 0 : old->frame_count;
		i += kept;
		next += !kept;
	}
	return 0;
}

/* What stands once in a reply. Remarks are those of the part that asked what the question asks; of the allocator the
 * part knows that has code. */
static void join_heads(const struct cached_answer *a, struct jp_namereply *all)
{
	const struct jp_namereply *old = &a->old, *fresh = &a->fresh;
	bool asked = a->missing_count;
	const struct jp_namereply *newer = asked ? fresh : old;
	const struct jp_namereply *allocator = asked && any_in_code(fresh) ? fresh : old;
	all->dwarf = newer->dwarf;
	all->program = newer->program;
	all->remarks = a->old.nameless && !any_nameless(fresh) ? old->remarks : newer->remarks;
	all->exports_malloc = allocator->exports_malloc;
	all->mallctl = allocator->mallctl;
	all->wants = fresh->wants;
	all->want_count = fresh->want_count;
	all->losses = fresh->losses;
	all->loss_count = fresh->loss_count;
}

/* Leaves the places of the question, in its order. */
static int answer_places(const struct jp_name_request *q, struct jp_namereply *all)
{
	const struct jp_reply_place *joined = all->places;
	const uint64_t *offsets = all->offsets;
	uint32_t at = 0;
	all->offsets = NULL;
	all->place_count = jp_is_refusal(all) ? 0 : (uint32_t)q->count;
	if (jp_is_refusal(all))
		return 0;
	all->places = jp_arena_alloc(&all->arena, (q->count + 1) * sizeof *all->places);
	for (size_t i = 0; all->places && i < q->count; i++) {
		while (offsets[at] < q->offsets[i])
			at++;
		all->places[i] = joined[at];
	}
	if (all->places && !any_in_code(all)) {
		all->exports_malloc = false;
		all->mallctl = NULL;
	}
	return all->places ? 0 : JPROF_E_NOMEM;
}

/* ---- keeping ------------------------------------------------------------------------------------- */

/* Leaves the places that want no more files first, and their frames in the order of the places. */
static int drop_pending(struct jp_namereply *kept, struct jp_arena *arena)
{
	struct jp_reply_frame *frames = jp_arena_alloc(arena, ((size_t)kept->frame_count + 1) * sizeof *frames);
	uint32_t count = 0, used = 0;
	for (uint32_t i = 0; frames && i < kept->place_count; i++) {
		struct jp_reply_place place = kept->places[i];
		if (place.reason == JP_NAMELESS_PENDING)
			continue;
		memcpy(frames + used, kept->frames + place.frame_first, place.frame_count * sizeof *frames);
		place.frame_first = used;
		used += place.frame_count;
		kept->offsets[count] = kept->offsets[i];
		kept->places[count++] = place;
	}
	kept->frames = frames;
	kept->frame_count = used;
	kept->place_count = count;
	kept->want_count = 0;
	return frames ? 0 : JPROF_E_NOMEM;
}

/* Nothing is kept that is too large, or where a unit has lost its .dwo file: what it lost may come back. Nor that debug
 * information is refused: libdw says the same of what is damaged and when memory was short, and memory comes back. */
static int keep_all(struct jp_namecache *cache, const char *name, const struct request_identity *identity,
                    const struct cached_answer *a, struct jp_namereply *kept, struct jp_arena *arena)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) bytes = { 0 };
	if (kept->loss_count || jp_is_refusal(kept) || !is_as_asked(cache, a->request, identity))
		return 0;
	if (drop_pending(kept, arena))
		return JPROF_E_NOMEM;
	kept->nameless = a->old.nameless || any_nameless(&a->fresh);
	kept->identity = identity->text.text;
	jp_namereply_write(kept, &bytes);
	if (!bytes.failed && bytes.len <= most_stored_bytes && bytes.len <= cache->most)
		cache->written = jp_ourdir_write(cache->dir, name, bytes.text, bytes.len) || cache->written;
	return bytes.failed ? JPROF_E_NOMEM : 0;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

/* The question's reply, which takes over what the parts live in. */
static int join_answer(struct jp_namecache *cache, const char *name, const struct request_identity *identity,
                       struct cached_answer *a, struct jp_namereply *reply)
{
	join_heads(a, reply);
	int rc = join_parts(a, reply);
	struct jp_namereply kept = *reply; /* in the memory of the reply */
	if (!rc)
		rc = answer_places(a->request, reply);
	if (!rc && a->missing_count)
		rc = keep_all(cache, name, identity, a, &kept, &reply->arena);
	jp_arena_adopt(&reply->arena, &a->old.arena);
	jp_arena_adopt(&reply->arena, &a->fresh.arena);
	return rc;
}

static int find_in(struct jp_namecache *cache, const char *name, const struct request_identity *identity,
                   struct cached_answer *a, struct jp_namereply *reply)
{
	int rc = load_stored(cache, name, identity, &a->old);
	if (!rc)
		rc = list_missing(a);
	if (!rc && has_foreign_remarks(a))
		return jp_finder_ask(a->finder, a->request, reply, a->err);
	if (!rc && a->missing_count)
		rc = ask_missing(a);
	return rc ? rc : join_answer(cache, name, identity, a, reply);
}

int jp_namecache_find(struct jp_namecache *cache, const char *build_id, const struct jprof_name_finder *finder,
                      const struct jp_name_request *request, struct jp_namereply *reply, struct jprof_error *err)
{
	struct request_identity jp_cleanup(release_identity) identity = { 0 };
	char name[longest_file_name];
	*reply = (struct jp_namereply){ 0 };
	if (!cache || !request->count || request->count >= UINT32_MAX || request->split_count)
		return jp_finder_ask(finder, request, reply, err);
	identify(cache, request, &identity);
	if (identity.text.failed)
		return JPROF_E_NOMEM;
	if (identity.fleeting)
		return jp_finder_ask(finder, request, reply, err);
	struct cached_answer jp_cleanup(release_answer) a = { .request = request, .finder = finder, .err = err };
	name_file(&identity, build_id, name);
	return find_in(cache, name, &identity, &a, reply);
}
