#include "view/whose.h"

#include <string.h>

#include "view/origin.h"
#include "view/owner.h"

const struct jp_whose_words jp_whose_words[JP_WHOSE_COUNT] = {
	[JP_WHOSE_APPLICATION] = { "application", "application" }, [JP_WHOSE_GEM] = { "gem", "gems" },
	[JP_WHOSE_STDLIB] = { "stdlib", "Ruby's library" },        [JP_WHOSE_VM] = { "vm", "Ruby VM" },
	[JP_WHOSE_NATIVE] = { "native", "native libraries" },      [JP_WHOSE_UNKNOWN] = { "unknown", "unknown" },
};

enum jp_whose jp_whose_object(const struct jp_code *code, uint32_t object)
{
	const char *path = jp_code_object(code, object);
	if (!*path || code->objects[object].unmapped)
		return JP_WHOSE_UNKNOWN;
	switch (jp_role_of(code, object)) {
	case JP_ROLE_PROGRAM: return JP_WHOSE_APPLICATION;
	case JP_ROLE_RUNTIME: return JP_WHOSE_VM;
	case JP_ROLE_FOREIGN:
		return jp_is_extension(code, object) && (strstr(path, "/gems/") || strstr(path, "/extensions/"))
		           ? JP_WHOSE_GEM
		           : JP_WHOSE_NATIVE;
	case JP_ROLE_SYSTEM: break;
	}
	return JP_WHOSE_NATIVE;
}

enum jp_whose jp_whose_frame(const struct jprof_view *view, uint32_t frame)
{
	static const enum jp_whose of[] = { [JPROF_ORIGIN_NATIVE] = JP_WHOSE_NATIVE,
		                            [JPROF_ORIGIN_APPLICATION] = JP_WHOSE_APPLICATION,
		                            [JPROF_ORIGIN_GEM] = JP_WHOSE_GEM,
		                            [JPROF_ORIGIN_STDLIB] = JP_WHOSE_STDLIB,
		                            [JPROF_ORIGIN_VM] = JP_WHOSE_VM };
	const struct jp_origin *origin = view->origins ? jp_origin_of(view->origins, frame) : NULL;
	if (origin && origin->label)
		return of[origin->origin];
	return jp_whose_object(&view->code, jp_frame_location(view, frame)->object);
}
