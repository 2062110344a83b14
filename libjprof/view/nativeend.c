#include "view/nativeend.h"

#include <stdlib.h>
#include <string.h>

/* Ruby's vm.c is one piece of machine code of 200 KB, in which rb_vm_exec is the only name of a stripped Ruby 3.1 that
 * stands in every stack. What it calls without a name lies within this many bytes. */
enum { piece = 65536 };

/* A call of a C function goes through these, from the interpreter's loop inwards: vm.c, vm_insnhelper.c. */
static bool runs_ruby(const char *name)
{
	static const char *const names[] = { "rb_vm_exec", "vm_exec", "vm_exec_core", "vm_exec_loop", "vm_sendish" };
	static const char cfunc[] = "vm_call_cfunc";
	for (size_t i = 0; i < jp_count(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, cfunc, sizeof cfunc - 1);
}

int jp_native_end_init(struct jp_native_end *end, const struct jp_code *code)
{
	*end = (struct jp_native_end){ code, calloc((size_t)code->location_count + 1, sizeof *end->interpreter) };
	for (uint32_t i = 0; end->interpreter && i < code->location_count; i++) {
		const struct jp_location *l = &code->locations[i];
		if (!l->frame_count || l->source == JPROF_SOURCE_RUBY)
			continue;
		uint32_t outermost = l->frame_first + l->frame_count - 1; /* the others are inlined in it */
		end->interpreter[i] = runs_ruby(jp_code_name(code, code->frames[outermost].function, false));
	}
	return end->interpreter ? 0 : -1;
}

void jp_native_end_release(struct jp_native_end *end)
{
	free(end->interpreter);
	end->interpreter = NULL;
}

/* Nameless functions of the interpreter, called by a named one. */
static bool lies_beside(const struct jp_location *l, const struct jp_location *named)
{
	uint64_t low = l->offset < named->offset ? l->offset : named->offset;
	return l->source <= JPROF_SOURCE_FDE && l->object == named->object &&
	       l->offset + named->offset - 2 * low <= piece;
}

uint32_t jp_native_end(const struct jp_native_end *end, const uint32_t *places, uint32_t native)
{
	uint32_t first = 0;
	while (first < native && !end->interpreter[places[first]])
		first++;
	if (first == native)
		return native;
	const struct jp_location *named = &end->code->locations[places[first]];
	while (first && lies_beside(&end->code->locations[places[first - 1]], named))
		first--;
	return first;
}
