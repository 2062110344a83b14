#include "model/nameless.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { longest_label = 400 };

static const char mark[] = "+0x";

/* "0x" and hex digits, as printf makes them. */
static char *put_offset(char *to, const char *before, uint64_t offset)
{
	char digits[16];
	size_t n = 0;
	do
		digits[n++] = "0123456789abcdef"[offset & 15];
	while (offset >>= 4);
	while (*before)
		*to++ = *before++;
	while (n)
		*to++ = digits[--n];
	*to = '\0';
	return to;
}

size_t jp_nameless_label(const struct jprof_profile *p, uint32_t object)
{
	const char *base = jp_basename(jp_string(p, p->objects[object].path));
	size_t stem = jp_stem_length(base), len = stem;
	for (uint32_t i = 0; i < jp_object_count(p); i++) {
		const char *other = jp_basename(jp_string(p, p->objects[i].path));
		if (jp_stem_length(other) == stem && !memcmp(other, base, stem) && strcmp(other, base))
			len = strlen(base);
	}
	return len < longest_label ? len : longest_label;
}

const char *jp_nameless_name(const struct jp_code *code, const struct jp_location *l, char name[jp_nameless_size])
{
	size_t len = code->objects[l->object].unmapped ? 0 : code->objects[l->object].label;
	memcpy(name, jp_basename(jp_code_object(code, l->object)), len);
	put_offset(name + len, code->objects[l->object].unmapped ? mark + 1 : mark, l->offset);
	return name;
}

/* ---- which are the only ones of their name -------------------------------------------------------- */

/* What a name comes from. */
struct nameless_key {
	uint64_t offset;
	uint32_t base;     /* id of what stands before the offset */
	uint32_t location; /* JP_NONE: a function's name */
};

struct settling {
	struct jprof_profile *profile;
	struct jp_intern bases;
	uint32_t *base; /* by object: of those with nameless locations; else JP_NONE */
	struct nameless_key *keys;
	size_t key_cap;
	struct jp_index ids;
	bool alike; /* two objects have one base */
};

static uint64_t hash_nameless(uint64_t seed, const void *item)
{
	const struct nameless_key *key = item;
	return jp_hash_mix(jp_hash_mix(seed, key->base), key->offset);
}

static bool same_nameless(const void *a, const void *b)
{
	const struct nameless_key *x = a, *y = b;
	return x->offset == y->offset && x->base == y->base;
}

static bool is_nameless(const struct jp_location *l)
{
	return !l->frame_count;
}

/* 0, 1 if there are nameless locations at all, or -1. */
static int find_bases(struct settling *s)
{
	struct jprof_profile *p = s->profile;
	bool any = false;
	s->base = jp_none_array(jp_object_count(p));
	for (uint32_t i = 0; s->base && i < jp_location_count(p); i++) {
		uint32_t object = p->locations[i].object, known = s->bases.count;
		if (!is_nameless(&p->locations[i]) || s->base[object] != JP_NONE)
			continue;
		struct jp_object *o = &p->objects[object];
		o->label = o->unmapped ? 0 : (uint32_t)jp_nameless_label(p, object);
		s->base[object] = jp_intern(&s->bases, jp_basename(jp_string(p, o->path)), o->label);
		if (s->base[object] == JP_NONE)
			return -1;
		s->alike = s->alike || s->base[object] != known;
		any = true;
	}
	return s->base ? any : -1;
}

/* Reads BASE+0xOFFSET, or 0xOFFSET. */
static bool read_nameless(const struct settling *s, struct jp_span name, struct nameless_key *key)
{
	size_t end = name.len, digits = 0;
	uint64_t offset = 0;
	for (; end && strchr("0123456789abcdef", name.ptr[end - 1]) && name.ptr[end - 1]; end--, digits++)
		if (digits < 16)
			offset |= (uint64_t)(strchr("0123456789abcdef", name.ptr[end - 1]) - "0123456789abcdef")
			          << 4 * digits;
	if (!digits || digits > 16 || end < 2 || name.ptr[end - 1] != 'x' || name.ptr[end - 2] != '0')
		return false;
	size_t len = end - 2;
	if (len && name.ptr[--len] != '+')
		return false;
	*key = (struct nameless_key){ .offset = offset, .location = JP_NONE };
	key->base = jp_intern_find(&s->bases, name.ptr, len);
	return key->base != JP_NONE;
}

static int store_name(struct jprof_profile *p, uint32_t location)
{
	const struct jp_code code = jp_code_of(p);
	char name[jp_nameless_size];
	if (!is_nameless(&p->locations[location]))
		return 0;
	jp_nameless_name(&code, &p->locations[location], name);
	return jp_frame_add(p, location, jp_function_named(p, name, name, name, NULL), 0, false);
}

static int add_nameless_key(struct settling *s, const struct nameless_key *key)
{
	static const struct jp_index_kind kind = { sizeof *key, hash_nameless, same_nameless };
	bool known;
	if (jp_array_push(s->keys, s->ids.count, s->key_cap))
		return -1;
	uint32_t id = jp_index_id(&s->ids, &kind, s->keys, key, &known);
	if (id == JP_NONE)
		return -1;
	if (!known) {
		s->keys[id] = *key;
		return 0;
	}
	if (s->keys[id].location != JP_NONE && store_name(s->profile, s->keys[id].location))
		return -1;
	return key->location == JP_NONE ? 0 : store_name(s->profile, key->location);
}

/* The functions that are called like a nameless location might be. */
static int add_functions(struct settling *s)
{
	const struct jprof_profile *p = s->profile;
	for (uint32_t i = 0; i < jp_function_count(p); i++) {
		uint32_t name = p->functions[i].name;
		struct jp_span text = { jp_string(p, name), jp_intern_len(&p->strings, name) };
		struct nameless_key key;
		if (read_nameless(s, text, &key) && add_nameless_key(s, &key))
			return -1;
	}
	return 0;
}

int jp_nameless_settle(struct jprof_profile *p)
{
	struct settling s = { .profile = p };
	int rc = find_bases(&s);
	if (rc > 0)
		rc = add_functions(&s);
	for (uint32_t i = 0, n = jp_location_count(p); !rc && (s.alike || s.ids.count) && i < n; i++) {
		const struct jp_location *l = &p->locations[i];
		if (is_nameless(l))
			rc = add_nameless_key(&s, &(struct nameless_key){
						      .offset = l->offset, .base = s.base[l->object], .location = i });
	}
	jp_intern_release(&s.bases);
	jp_index_release(&s.ids);
	free(s.base);
	free(s.keys);
	return rc;
}
