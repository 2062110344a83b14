#include "input/codenames.h"

#include <stdlib.h>

#include "base/search.h"
#include "input/codeimage.h"
#include "machine/registered.h"

struct jp_codenames {
	struct jp_registered_names registered;
};

struct jp_codenames *jp_codenames_new(const struct jp_objfile *file)
{
	struct jp_codenames *names = calloc(1, sizeof *names);
	struct jp_codeimage code = { 0 };
	struct jp_references references = { 0 };
	int rc = names ? jp_codeimage_read(file, &code) : -1;
	if (!rc)
		rc = jp_registered_find(&code.image, &references, &names->registered);
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
