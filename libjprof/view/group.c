#include "view/group.h"

#include <string.h>

#include "view/owner.h"

static bool is_ruby(const char *path)
{
	const char *base = jp_basename(path);
	return !strncmp(base, "libruby", 7) ||
	       (!strncmp(base, "ruby", 4) && !base[4 + strspn(base + 4, "0123456789.-")]);
}

bool jp_maps_ruby(const struct jp_code *code)
{
	for (uint32_t i = 0; i < code->object_count; i++)
		if (!code->objects[i].unmapped && is_ruby(jp_code_object(code, i)))
			return true;
	return false;
}

/* Whose extension it is, where a stack passes one; else the library. */
static void put_foreign(const struct jp_group_stack *s, uint32_t owner, struct jp_strbuf *out)
{
	uint32_t extension = jp_innermost_extension(s->code, s->objects, s->native);
	jp_object_label(s->code, extension == JP_NONE ? owner : extension, out);
}

void jp_put_group(const struct jp_group_stack *s, bool has_ruby, bool group, struct jp_strbuf *out)
{
	size_t place = s->native ? jp_owner_place(s->code, s->objects, s->native) : 0;
	uint32_t owner = s->objects[place];
	enum jp_role role = s->native ? jp_role_of(s->code, owner) : JP_ROLE_RUNTIME;
	bool extended = s->native && jp_innermost_extension(s->code, s->objects, s->native) != JP_NONE;
	const char *kind = has_ruby ? "other libraries" : "libraries";
	if (role == JP_ROLE_FOREIGN && extended && has_ruby)
		kind = "native gems";
	else if (role == JP_ROLE_PROGRAM)
		kind = "own code";
	else if (role == JP_ROLE_RUNTIME)
		kind = has_ruby ? "Ruby's data and code" : "interpreter";
	jp_strbuf_str(out, kind);
	if (!group)
		return;
	jp_strbuf_str(out, ": ");
	if (role == JP_ROLE_FOREIGN)
		put_foreign(s, owner, out);
	else
		jp_object_label(s->code, owner, out);
}
