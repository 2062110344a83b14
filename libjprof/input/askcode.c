#include "input/askcode.h"

#include <string.h>

#include "base/error.h"

static const char *keep_code_text(struct jp_arena *arena, const char *text, bool *failed)
{
	const char *copy = text ? jp_arena_dup(arena, text, strlen(text)) : NULL;
	*failed = *failed || (text && !copy);
	return copy;
}

static int fill_code_place(const struct jp_namereply *reply, const struct jp_reply_place *from, struct jp_arena *arena,
                           struct jp_code_place *to)
{
	bool failed = false;
	*to = (struct jp_code_place){ .start = from->fde_start, .end = from->fde_end };
	if (!from->frame_count)
		return 0;
	const struct jp_reply_frame *inner = &reply->frames[from->frame_first], *outer = inner + from->frame_count - 1;
	const struct jp_reply_function *f = &reply->functions[inner->function];
	to->name = keep_code_text(arena, reply->functions[outer->function].linkage, &failed);
	to->file = keep_code_text(arena, f->file, &failed);
	to->inlined = inner->inlined ? keep_code_text(arena, f->brief, &failed) : NULL;
	to->line = inner->line;
	return failed ? -1 : 0;
}

int jp_ask_code(struct jp_objfile *file, const struct jp_debug_where *where, const uint64_t *vaddrs, size_t count,
                struct jp_arena *arena, struct jp_code_place *places, struct jprof_error *err)
{
	struct jp_asking jp_cleanup(jp_asking_release) asking = {
		.file = file,
		.where = where,
		.ask = { .offsets = vaddrs, .count = count, .image = true, .functions = true },
	};
	int more = 0;
	memset(places, 0, count * sizeof *places);
	while (count && (more = jp_asking_next(&asking)) > 0)
		for (uint32_t i = 0; i < asking.reply.place_count; i++)
			if (asking.reply.places[i].reason != JP_NAMELESS_PENDING &&
			    fill_code_place(&asking.reply, &asking.reply.places[i], arena,
			                    &places[jp_asking_offset(&asking, i)]))
				return -1;
	if (!more && *asking.trouble)
		jp_error(err, JPROF_E_UNSUPPORTED, file->path, 0, "%s", asking.trouble);
	return more;
}
