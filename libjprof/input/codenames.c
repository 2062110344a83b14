#include "input/codenames.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "input/codeimage.h"
#include "machine/registered.h"

/* A function and the only one that calls it. */
struct only_call {
	uint64_t start; /* first, for jp_last_up_to */
	uint64_t caller;
};

struct jp_codenames {
	struct jp_registered_names registered;
	struct only_call *calls; /* ascending */
	size_t call_count, call_cap;
};

static int take_calls(struct jp_codenames *names, const struct jp_image *image, const struct jp_references *references)
{
	for (size_t i = 0; i < image->function_count; i++) {
		const struct jp_function_uses *uses = &references->uses[i];
		uint64_t start = image->functions[i].start;
		if (!uses->calls || uses->several || uses->taken || jp_image_symbol_at(image, start))
			continue;
		if (jp_array_push(names->calls, names->call_count, names->call_cap))
			return -1;
		names->calls[names->call_count++] = (struct only_call){ start, image->functions[uses->caller].start };
	}
	return 0;
}

struct jp_codenames *jp_codenames_new(const struct jp_objfile *file, bool callers)
{
	struct jp_codenames *names = calloc(1, sizeof *names);
	struct jp_codeimage code = { 0 };
	struct jp_references references = { 0 };
	int rc = names ? jp_codeimage_read(file, &code) : -1;
	if (!rc)
		rc = jp_registered_find(&code.image, &references, &names->registered);
	if (!rc && callers && !references.uses)
		rc = jp_references_find(&code.image, NULL, 0, &references);
	if (!rc && callers)
		rc = take_calls(names, &code.image, &references);
	jp_references_release(&references);
	jp_codeimage_release(&code);
	if (!rc)
		return names;
	jp_codenames_free(names);
	return NULL;
}

void jp_codenames_free(struct jp_codenames *names)
{
	if (!names)
		return;
	jp_registered_release(&names->registered);
	free(names->calls);
	free(names);
}

bool jp_codenames_start(const struct jp_codenames *names, size_t i, uint64_t *start)
{
	if (i >= names->registered.count)
		return false;
	*start = names->registered.items[i].start;
	return true;
}

const char *jp_codenames_at(const struct jp_codenames *names, uint64_t start)
{
	const struct jp_registered_names *r = &names->registered;
	const struct jp_registered_name *n = jp_last_up_to(r->items, r->count, sizeof *r->items, start);
	return n && n->start == start ? n->name : NULL;
}

bool jp_codenames_caller(const struct jp_codenames *names, uint64_t start, uint64_t *caller)
{
	const struct only_call *c = jp_last_up_to(names->calls, names->call_count, sizeof *names->calls, start);
	if (!c || c->start != start)
		return false;
	*caller = c->caller;
	return true;
}
