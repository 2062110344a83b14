#include "ids.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An id is twice the place of a name, or an odd number for what has none. */
struct ids {
	Agraph_t *g;
	char **names; /* of agstrdup, as libcgraph takes its names to be; the graph frees them */
	size_t count, cap;
	IDTYPE nameless;
};

static void *ids_open(Agraph_t *g, Agdisc_t *disc)
{
	(void)disc;
	struct ids *ids = calloc(1, sizeof *ids);
	if (ids)
		ids->g = g;
	return ids;
}

static void ids_close(void *state)
{
	struct ids *ids = state;
	if (ids)
		free(ids->names);
	free(ids);
}

static bool keep_id_name(struct ids *ids, char *name)
{
	if (ids->count == ids->cap) {
		size_t cap = ids->cap ? 2 * ids->cap : 64;
		char **names = reallocarray(ids->names, cap, sizeof *names);
		if (!names)
			return false;
		ids->names = names;
		ids->cap = cap;
	}
	ids->names[ids->count] = agstrdup(ids->g, name);
	return ids->names[ids->count] && ++ids->count;
}

/* 0 where there is none, and none is to be made or can be. */
static GV_ID_RESULT ids_map(void *state, int type, char *name, IDTYPE *id, int make)
{
	struct ids *ids = state;
	(void)type;
	if (!ids || (!name && !make))
		return 0;
	if (!name) {
		*id = 2 * ids->nameless++ + 1;
		return 1;
	}
	for (size_t i = ids->count; i-- > 0;)
		if (!strcmp(ids->names[i], name)) {
			*id = 2 * i;
			return 1;
		}
	if (!make || !keep_id_name(ids, name))
		return 0;
	*id = 2 * (ids->count - 1);
	return 1;
}

static void ids_free(void *state, int type, IDTYPE id)
{
	(void)state, (void)type, (void)id;
}

static char *ids_print(void *state, int type, IDTYPE id)
{
	struct ids *ids = state;
	(void)type;
	return id % 2 || id / 2 >= ids->count ? NULL : ids->names[id / 2];
}

static void ids_register(void *state, int type, void *object)
{
	(void)state, (void)type, (void)object;
}

/* Before Graphviz 14 there is .alloc, too, which only agidnode and its like call. */
static Agiddisc_t numbers = {
	.open = ids_open,
	.map = ids_map,
	.free = ids_free,
	.print = ids_print,
	.close = ids_close,
	.idregister = ids_register,
};
Agdisc_t dot_ids = { .id = &numbers };
