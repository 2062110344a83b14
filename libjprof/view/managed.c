#include "view/managed.h"

#include <stdlib.h>

#include "model/slotsamples.h"
#include "view/owner.h"

enum manager { is_nobody, is_ruby, is_library_of_others, is_ruby_extension, is_someone };

uint8_t *jp_managers_of(const struct jp_code *code)
{
	uint8_t *managers = calloc((size_t)code->object_count + 1, 1);
	for (uint32_t i = 0; managers && i < code->object_count; i++) {
		enum jp_role role = jp_role_of(code, i);
		managers[i] = is_someone;
		if (jp_is_slot_object(jp_code_object(code, i)))
			managers[i] = is_ruby;
		else if (role == JP_ROLE_SYSTEM)
			managers[i] = is_nobody;
		else if (!code->objects[i].unmapped && jp_is_ruby_file(jp_code_object(code, i)))
			managers[i] = is_ruby;
		else if (role == JP_ROLE_FOREIGN)
			managers[i] = jp_is_extension(code, i) ? is_ruby_extension : is_library_of_others;
	}
	return managers;
}

bool jp_is_managed(const struct jp_code *code, const uint8_t *managers, const uint32_t *places, size_t depth)
{
	size_t i = 0;
	while (i < depth && managers[code->locations[places[i]].object] == is_nobody)
		i++;
	if (i < depth && managers[code->locations[places[i]].object] == is_library_of_others)
		while (i < depth && managers[code->locations[places[i]].object] != is_ruby)
			if (managers[code->locations[places[i++]].object] == is_ruby_extension)
				return true;
	return i < depth && managers[code->locations[places[i]].object] == is_ruby;
}
