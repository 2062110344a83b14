#include "model/fileproof.h"

#include <ctype.h>
#include <string.h>

#include "model/build.h"

static const char *const doubts[] = {
	[JP_DOUBT_NONE] = "none", [JP_DOUBT_UNPROVEN] = "unproven", [JP_DOUBT_CHANGED] = "changed"
};

/* ---- build-ids ------------------------------------------------------------------------------------------------ */

static bool is_of_file(const struct jp_object *o)
{
	return o->kind == JP_MAP_FILE || o->kind == JP_MAP_DELETED;
}

/* In lower case, where none is known yet; anything but hexadecimal digits is none. */
static int set_build_id(struct jprof_profile *p, uint32_t *to, struct jp_span build_id)
{
	enum { longest = 128 };
	char id[longest + 1];
	if (!build_id.len || build_id.len > longest || *to != JP_NONE)
		return 0;
	for (size_t i = 0; i < build_id.len; i++) {
		if (!isxdigit((unsigned char)build_id.ptr[i]))
			return 0;
		id[i] = (char)tolower((unsigned char)build_id.ptr[i]);
	}
	*to = jp_intern(&p->strings, id, build_id.len);
	return *to == JP_NONE ? -1 : 0;
}

static int set_told_id(struct jprof_profile *p, uint32_t object, const char *build_id)
{
	struct jp_object *o = &p->objects[object];
	return is_of_file(o) ? set_build_id(p, &o->build_id, (struct jp_span){ build_id, strlen(build_id) }) : 0;
}

int jp_build_id_at_path(struct jprof_profile *p, const char *path, const char *build_id)
{
	uint32_t id = jp_intern_find(&p->strings, path, strlen(path));
	int rc = 0;
	for (uint32_t i = 0; !rc && id != JP_NONE && i < jp_object_count(p); i++)
		if (p->objects[i].path == id)
			rc = set_told_id(p, i, build_id);
	return rc;
}

int jp_build_id_at(struct jprof_profile *p, uint64_t address, const char *build_id)
{
	for (size_t i = 0; i < p->mapping_count; i++)
		if (address >= p->mappings[i].map.start && address < p->mappings[i].map.limit)
			return set_told_id(p, p->mappings[i].object, build_id);
	return 0;
}

/* ---- lines written ---------------------------------------------------------------------------------------------- */

const char *jp_fileproof_ran(const struct jp_code *code, uint32_t object)
{
	const struct jp_object *o = &code->objects[object];
	bool unproven = o->proof == JPROF_PROOF_UNVERIFIED || o->build_id == o->unproven_id;
	return unproven ? "" : jp_code_string(code, o->build_id);
}

bool jp_fileproof_put(const struct jp_code *code, uint32_t object, bool maps, struct jp_strbuf *out)
{
	const struct jp_object *o = &code->objects[object];
	bool unproven = o->proof == JPROF_PROOF_UNVERIFIED && o->unproven_id == JP_NONE;
	const char *ran = jp_fileproof_ran(code, object), *refused = jp_code_string(code, o->refused_id),
		   *gave = jp_code_string(code, unproven ? o->build_id : o->unproven_id);
	if (!is_of_file(o) || !(o->doubt || *ran || *gave || *refused || (o->inode && !maps)))
		return false;
	jp_strbuf_printf(out, JP_FILEPROOF_BEGIN "%s\t%s\t%s\t%s\t", doubts[o->doubt], ran, gave, refused);
	jp_strbuf_printf(out, "%u:%u:%llu\t", maps ? 0 : o->dev_major, maps ? 0 : o->dev_minor,
	                 maps ? 0 : (unsigned long long)o->inode);
	return true;
}

/* ---- lines read ---------------------------------------------------------------------------------------------------
 */

struct fileproof {
	enum jp_doubt doubt;
	struct jp_span ran, gave, refused;
	uint64_t place[3]; /* device, in two parts, and inode */
};

static bool is_spelled(struct jp_span span, const char *word)
{
	return span.len == strlen(word) && jp_span_starts(span, word);
}

/* Eats all fields but the path. False where one is faulty. */
static bool read_fileproof(struct jp_span *line, struct fileproof *e)
{
	struct jp_span doubt = jp_span_field(line), place;
	*e = (struct fileproof){ 0 };
	e->ran = jp_span_field(line);
	e->gave = jp_span_field(line);
	e->refused = jp_span_field(line);
	place = jp_span_field(line);
	while (e->doubt < JP_DOUBT_CHANGED && !is_spelled(doubt, doubts[e->doubt]))
		e->doubt++;
	for (int i = 0; i < 3; i++)
		if ((i && !jp_span_char(&place, ':')) || jp_span_decimal(&place, &e->place[i]) != JP_NUMBER_OK)
			return false;
	return is_spelled(doubt, doubts[e->doubt]) && !place.len && e->place[0] <= UINT32_MAX &&
	       e->place[1] <= UINT32_MAX;
}

static int take_fileproof(struct jprof_profile *p, uint32_t object, const struct fileproof *e)
{
	struct jp_object *o = &p->objects[object];
	o->doubt = e->doubt > o->doubt ? e->doubt : o->doubt;
	if (!o->inode) {
		o->dev_major = (uint32_t)e->place[0];
		o->dev_minor = (uint32_t)e->place[1];
		o->inode = e->place[2];
	}
	return set_build_id(p, &o->build_id, e->ran) || set_build_id(p, &o->unproven_id, e->gave) ||
	               set_build_id(p, &o->refused_id, e->refused)
	           ? -1
	           : 0;
}

/* Of two builds of a path a line is of the one with its build-id. */
static bool is_meant(const struct jprof_profile *p, uint32_t object, const struct fileproof *e)
{
	const struct jp_object *o = &p->objects[object];
	return !e->ran.len || o->build_id == JP_NONE || is_spelled(e->ran, jp_string(p, o->build_id));
}

/* The first build of the path, and the one with the line's id if that is another; by file offset and by address in the
 * file. *meant: there is one. */
static int take_where_meant(struct jprof_profile *p, struct jp_object like, const struct fileproof *e, bool *meant)
{
	uint32_t id = e->ran.len ? jp_intern_find(&p->strings, e->ran.ptr, e->ran.len) : JP_NONE;
	for (int i = 0; i < 4; i++) {
		like.image = i & 1;
		uint32_t object = i < 2 || id != JP_NONE ? jp_object_find(p, &like, i < 2 ? JP_NONE : id) : JP_NONE;
		if (object == JP_NONE || !is_meant(p, object, e))
			continue;
		*meant = true;
		if (take_fileproof(p, object, e))
			return -1;
	}
	return 0;
}

int jp_fileproof_take(struct jprof_profile *p, struct jp_span line, bool make)
{
	struct fileproof e;
	bool meant = false;
	if (!read_fileproof(&line, &e) || !line.len)
		return 0;
	struct jp_object like = { .path = jp_intern(&p->strings, line.ptr, strnlen(line.ptr, line.len)) };
	if (like.path == JP_NONE)
		return -1;
	like.kind = jp_object_kind_of(jp_string(p, like.path));
	if (!is_of_file(&like))
		return 0;
	int rc = take_where_meant(p, like, &e, &meant);
	if (rc || meant || !make || !e.doubt)
		return rc;
	like.placeless = true;
	uint32_t made = jp_object_id(p, &like);
	return made == JP_NONE ? -1 : take_fileproof(p, made, &e);
}

/* ---- of another profile -------------------------------------------------------------------------------------------
 */

/* The id of another profile's string here; `failed` is set when memory is short. */
static uint32_t same_string(struct jprof_profile *profile, const struct jprof_profile *from, uint32_t id, bool *failed)
{
	if (id == JP_NONE)
		return id;
	uint32_t here = jp_intern_str(&profile->strings, jp_string(from, id));
	*failed = *failed || here == JP_NONE;
	return here;
}

int jp_object_bundled(struct jprof_profile *profile, uint32_t object, const struct jprof_profile *from,
                      const struct jp_object *like)
{
	struct jp_object *o = &profile->objects[object];
	bool failed = false;
	if (o->bundled)
		return 0;
	o->bundled = true;
	o->proof = like->proof;
	o->program = like->program;
	o->allocator = like->allocator;
	o->entry_prefix = same_string(profile, from, like->entry_prefix, &failed);
	o->reason = same_string(profile, from, like->reason, &failed);
	o->advice = like->advice;
	o->unproven_id = same_string(profile, from, like->unproven_id, &failed);
	o->doubt = like->doubt > o->doubt ? like->doubt : o->doubt;
	return failed ? -1 : 0;
}

int jp_fileproof_merge(struct jprof_profile *to, uint32_t object, const struct jprof_profile *from,
                       const struct jp_object *like)
{
	struct jp_object *o = &to->objects[object];
	bool failed = false;
	o->doubt = like->doubt > o->doubt ? like->doubt : o->doubt;
	o->by_id_only = o->by_id_only || like->by_id_only;
	if (o->unproven_id == JP_NONE)
		o->unproven_id = same_string(to, from, like->unproven_id, &failed);
	if (o->refused_id == JP_NONE)
		o->refused_id = same_string(to, from, like->refused_id, &failed);
	return failed ? -1 : 0;
}
