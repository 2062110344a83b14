#include "view/walk.h"

#include <stdlib.h>

#include "view/origin.h"

int jp_walk_init(struct jp_walk *w, const struct jprof_view *view)
{
	*w = (struct jp_walk){ .view = view };
	w->frames = calloc(view->deepest + 1, sizeof *w->frames);
	w->rows = calloc((view->longest > view->deepest ? view->longest : view->deepest) + 1, sizeof *w->rows);
	return w->frames && w->rows ? 0 : -1;
}

void jp_walk_frames(struct jp_walk *w, uint32_t id)
{
	const struct jp_view_stack *stack = &w->view->stacks[id];
	w->depth = 0;
	for (uint32_t i = 0; i < stack->depth; i++) {
		uint32_t count, first = jp_place_frames(w->view, stack, i, &count);
		for (uint32_t f = 0; f < count; f++)
			w->frames[w->depth++] = first + f;
	}
	w->inner = jp_view_has_sites(w->view) ? jp_origins_site(w->view->origins, w->frames, w->depth) : 0;
}

void jp_walk_rows(struct jp_walk *w, uint32_t id)
{
	const struct jp_view_path *path = w->view->paths ? &w->view->paths[id] : NULL;
	jp_walk_frames(w, id);
	if (path)
		w->inner = path->inner;
	w->length = path ? path->length : w->depth;
	for (uint32_t i = 0; i < w->length; i++)
		w->rows[i] = path ? path->rows[i] : jp_row_of_frame(w->view, w->frames[i]);
}

void jp_walk_release(struct jp_walk *w)
{
	free(w->frames);
	free(w->rows);
}
