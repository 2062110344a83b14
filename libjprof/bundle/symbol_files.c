/* symbols.json says by letters how each address was named, in the order of the addresses: the names themselves are
 * in the profile.proto beside it. */
#include "bundle/symbol_files.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "base/search.h"
#include "bundle/symbol_words.h"
#include "render/render.h"

struct order {
	uint32_t *by_address; /* locations, one for each address */
	uint32_t *by_offset;  /* the same, by object and offset */
	size_t count;
};

struct place_key {
	uint64_t first, second;
	uint32_t location;
};

static int by_place_key(const void *a, const void *b)
{
	const struct place_key *x = a, *y = b;
	return jp_order_by(x->first, y->first, jp_order_by(x->second, y->second, jp_order(x->location, y->location)));
}

static size_t sort_by_address(const struct jprof_profile *p, struct place_key *keys, uint32_t *to)
{
	size_t n = 0, count = 0;
	for (uint32_t i = 0; i < jp_location_count(p); i++)
		if (p->locations[i].source != JPROF_SOURCE_RUBY) /* these have no address */
			keys[n++] = (struct place_key){ p->locations[i].address, 0, i };
	qsort(keys, n, sizeof *keys, by_place_key);
	for (size_t i = 0; i < n; i++)
		if (!i || keys[i].first != keys[i - 1].first)
			to[count++] = keys[i].location;
	return count;
}

static int sort(const struct jprof_profile *p, struct order *o)
{
	size_t room = (size_t)jp_location_count(p) + 1;
	struct place_key *keys = calloc(room, sizeof *keys);
	o->by_address = calloc(room, sizeof *o->by_address);
	o->by_offset = calloc(room, sizeof *o->by_offset);
	if (!keys || !o->by_address || !o->by_offset) {
		free(keys);
		return -1;
	}
	o->count = sort_by_address(p, keys, o->by_address);
	for (size_t i = 0; i < o->count; i++) {
		const struct jp_location *l = &p->locations[o->by_address[i]];
		keys[i] = (struct place_key){ l->object, l->offset, o->by_address[i] };
	}
	qsort(keys, o->count, sizeof *keys, by_place_key);
	for (size_t i = 0; i < o->count; i++)
		o->by_offset[i] = keys[i].location;
	free(keys);
	return 0;
}

static void put_symbol_text(struct jp_strbuf *out, const char *key, const char *text)
{
	if (!*text)
		return;
	jp_strbuf_printf(out, ", \"%s\": ", key);
	jp_json_put_text(out, text);
}

static void put_flag(struct jp_strbuf *out, const char *key, bool flag)
{
	if (flag)
		jp_strbuf_printf(out, ", \"%s\": true", key);
}

/* From which offset on how much is to be added for the address in the object file. */
static void put_vaddrs(const struct jprof_profile *p, const uint32_t *locations, size_t count, struct jp_strbuf *out)
{
	uint64_t last = 0;
	bool any = false;
	for (size_t i = 0; i < count; i++) {
		const struct jp_location *l = &p->locations[locations[i]];
		uint64_t vaddr = jp_location_vaddr(p, locations[i]), add = vaddr - l->offset;
		if (!vaddr || (any && add == last))
			continue;
		jp_strbuf_printf(out, "%s{\"from\": \"0x%llx\", \"add\": \"0x%llx\"}", any ? ", " : ", \"vaddr\": [",
		                 (unsigned long long)l->offset, (unsigned long long)add);
		last = add;
		any = true;
	}
	if (any)
		jp_strbuf_str(out, "]");
}

static void put_symbol_object(const struct jprof_profile *p, const uint32_t *locations, size_t count,
                              struct jp_strbuf *out)
{
	const struct jp_location *first = &p->locations[*locations];
	const struct jp_object *o = &p->objects[first->object];
	jp_strbuf_printf(out, "{\"address\": \"0x%llx\"", (unsigned long long)first->address);
	put_symbol_text(out, "path", jp_string(p, o->path));
	put_symbol_text(out, "build_id", jp_string(p, o->build_id));
	put_symbol_text(out, "proof", jp_symbols_proof_word(o->proof));
	put_flag(out, "changed", o->doubt == JP_DOUBT_CHANGED);
	put_flag(out, "program", o->program);
	put_flag(out, "allocator", o->allocator);
	if (o->entry_prefix != JP_NONE) {
		jp_strbuf_str(out, ", \"entry_prefix\": ");
		jp_json_put_text(out, jp_string(p, o->entry_prefix));
	}
	put_symbol_text(out, "reason", jp_string(p, o->reason));
	put_symbol_text(out, "advice", jp_advice_text(o->advice));
	put_vaddrs(p, locations, count, out);
	jp_strbuf_str(out, "}");
}

static void put_symbols_json(const struct jprof_profile *p, const struct order *o, struct jp_strbuf *out)
{
	jp_strbuf_printf(out, "{\"jprof_symbols\": %d,\n  \"sources\": \"", jp_symbols_version);
	for (size_t i = 0; i < o->count; i++) {
		char letter = jp_symbols_letter(p, o->by_address[i]);
		jp_strbuf_add(out, &letter, 1);
	}
	jp_strbuf_str(out, "\",\n  \"objects\": [");
	for (size_t first = 0, end; first < o->count; first = end) {
		uint32_t object = p->locations[o->by_offset[first]].object;
		for (end = first; end < o->count && p->locations[o->by_offset[end]].object == object;)
			end++;
		jp_strbuf_str(out, first ? ",\n    " : "\n    ");
		put_symbol_object(p, o->by_offset + first, end - first, out);
	}
	jp_strbuf_str(out, p->gems.count ? "],\n  \"gems\": [" : "]");
	for (uint32_t i = 0; i < p->gems.count; i++) {
		jp_strbuf_str(out, i ? ", {\"gem\": " : "{\"gem\": ");
		jp_json_put_text(out, jp_intern_get(&p->gems, i));
		jp_strbuf_str(out, "}");
	}
	jp_strbuf_str(out, p->gems.count ? "]" : "");
	jp_strbuf_str(out, "}\n");
}

int jp_symbols_render(const struct jprof_profile *profile, struct jp_strbuf *proto, struct jp_strbuf *json,
                      struct jprof_error *err)
{
	struct order order = { 0 };
	int rc = sort(profile, &order) ? jp_error_nomem(err) : 0;
	if (!rc)
		rc = jp_render_names(profile, proto, err);
	if (!rc) {
		put_symbols_json(profile, &order, json);
		rc = json->failed || proto->failed ? jp_error_nomem(err) : 0;
	}
	free(order.by_address);
	free(order.by_offset);
	return rc;
}

static bool is_build_proven(const struct jp_object *o)
{
	return o->build_id != JP_NONE && (o->proof == JPROF_PROOF_INODE || o->proof == JPROF_PROOF_BUILD_ID);
}

void jp_symbols_build_ids(const struct jprof_profile *p, struct jp_strbuf *out)
{
	for (uint32_t i = 0; i < jp_object_count(p); i++) {
		const struct jp_object *o = &p->objects[i];
		if (!is_build_proven(o))
			continue;
		jp_strbuf_str(out, out->len ? ", {\"path\": " : "{\"path\": ");
		jp_json_put_text(out, jp_string(p, o->path));
		jp_strbuf_str(out, ", \"build_id\": ");
		jp_json_put_text(out, jp_string(p, o->build_id));
		jp_strbuf_str(out, "}");
	}
}
