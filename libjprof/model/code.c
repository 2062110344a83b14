#include "model/code.h"

#include <string.h>

const char jp_too_lean[] = "the profile is lean: of it there are views without errors, tables, text and coverage; "
			   "call jprof_profile_symbolize without .lean";

struct jp_code jp_code_of(const struct jprof_profile *p)
{
	return (struct jp_code){
		.strings = &p->strings,
		.directories = &p->directories,
		.gems = &p->gems,
		.objects = p->objects,
		.locations = p->locations,
		.vaddrs = p->vaddrs,
		.vaddr_count = p->vaddr_count,
		.functions = p->functions,
		.frames = p->frames,
		.mappings = p->mappings,
		.object_count = jp_object_count(p),
		.location_count = jp_location_count(p),
		.function_count = jp_function_count(p),
		.frame_count = (uint32_t)p->frame_count,
		.mapping_count = (uint32_t)p->mapping_count,
		.lean = p->lean,
		.allocator = p->allocator_hint,
		.debug_root = p->debug_root,
		.debug_dirs = p->debug_dirs,
		.debug_files = p->debug_files,
	};
}

uint64_t jp_code_vaddr(const struct jp_code *code, const struct jp_location *location)
{
	size_t id = (size_t)(location - code->locations);
	return id < code->vaddr_count ? code->vaddrs[id] : 0;
}

const char *jp_code_string(const struct jp_code *code, uint32_t id)
{
	return id == JP_NONE ? "" : jp_intern_get(code->strings, id);
}

const char *jp_code_object(const struct jp_code *code, uint32_t object)
{
	return jp_code_string(code, code->objects[object].path);
}

const char *jp_code_file(const struct jp_code *code, uint32_t function)
{
	return jp_code_string(code, code->functions[function].file);
}

const char *jp_code_name(const struct jp_code *code, uint32_t function, bool full)
{
	const struct jp_function *f = &code->functions[function];
	return jp_code_string(code, full ? f->name : f->brief);
}

uint32_t jp_code_program(const struct jp_code *code)
{
	for (size_t i = 0; i < code->mapping_count; i++) {
		const struct jp_mapping *m = &code->mappings[i];
		const char *name = jp_basename(jp_code_object(code, m->object));
		bool library = strstr(name, ".so") || !strncmp(name, "ld-", 3);
		enum jp_map_kind kind = code->objects[m->object].kind;
		if (m->map.executable && !library && (kind == JP_MAP_FILE || kind == JP_MAP_DELETED))
			return m->object;
	}
	return JP_NONE;
}
