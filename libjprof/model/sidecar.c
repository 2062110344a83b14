/* The agent's side-car of a dump: docs/agent.md. */
#include <string.h>

#include "base/error.h"
#include "input/json.h"
#include "model/profile.h"

enum { longest_id = 2 * 64 };

static bool is_build_id(const char *text)
{
	size_t len = text ? strlen(text) : 0;
	return len && len <= longest_id && strspn(text, "0123456789abcdef") == len;
}

/* The object whose first mapping begins where the file was loaded. A program that is not position-independent has
 * the load address 0: its path has to do. */
static uint32_t object_of(const struct jprof_profile *p, jp_json *object)
{
	uint64_t base = 0;
	const char *path = jp_json_text(object, "path");
	if (jp_json_hex(object, "base", &base) && base)
		for (size_t i = 0; i < p->mapping_count; i++)
			if (p->mappings[i].map.start == base)
				return p->mappings[i].object;
	for (uint32_t i = 0; path && i < jp_object_count(p); i++)
		if (!strcmp(jp_string(p, p->objects[i].path), path))
			return i;
	return JP_NONE;
}

static int take(struct jprof_profile *p, jp_json *object)
{
	const char *build_id = jp_json_text(object, "build_id");
	uint32_t id = is_build_id(build_id) ? object_of(p, object) : JP_NONE;
	if (id == JP_NONE || p->objects[id].build_id != JP_NONE)
		return 0;
	p->objects[id].build_id = jp_intern_str(&p->strings, build_id);
	return p->objects[id].build_id == JP_NONE ? -1 : 0;
}

int jprof_profile_sidecar(struct jprof_profile *profile, const void *data, size_t len, const char *name,
                          struct jprof_error *err)
{
	struct json_object *jp_cleanup(jp_json_release) json = NULL;
	int rc = jp_json_parse(data, len, name, &json, err);
	if (rc)
		return rc;
	jp_json *objects = jp_json_get(json, "objects");
	for (size_t i = 0; i < jp_json_length(objects); i++)
		if (take(profile, jp_json_at(objects, i)))
			return jp_error_nomem(err);
	return 0;
}
