#include "input/splitunit.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/dwpackage.h"

struct split_die {
	uint64_t id;
	Dwarf_Die die;
};

/* A file that was given. */
struct split_source {
	int fd;
	struct jp_elffile file; /* none: it is no ELF file */
	Dwarf *dwarf;           /* NULL: none that can be read */
	bool package, shares;
	struct split_die *units;
	size_t count, cap;
};

struct jp_splits {
	const struct jp_split_answer *answers;
	size_t answer_count;
	struct split_source **sources;
	size_t source_count, source_cap;
	struct jp_reply_want *wants;
	size_t want_count, want_cap;
	struct jp_reply_loss *losses;
	size_t loss_count, loss_cap;
	struct jp_arena arena; /* texts of losses */
};

struct jp_splits *jp_splits_new(void)
{
	return calloc(1, sizeof(struct jp_splits));
}

void jp_splits_free(struct jp_splits *s)
{
	for (size_t i = 0; s && i < s->source_count; i++) {
		dwarf_end(s->sources[i]->dwarf);
		jp_elffile_close(&s->sources[i]->file);
		free(s->sources[i]->units);
		free(s->sources[i]);
	}
	if (s) {
		jp_arena_release(&s->arena);
		free(s->sources);
		free(s->wants);
		free(s->losses);
	}
	free(s);
}

void jp_splits_answer(struct jp_splits *s, const struct jp_split_answer *answers, size_t count)
{
	s->answers = answers;
	s->answer_count = count;
}

/* ---- files that were given ---------------------------------------------------------------------- */

/* 0, also of a file that cannot be read; -1 when memory is short. */
static int read_split_source(struct split_source *source, const struct jp_open_file *given)
{
	int rc = jp_elffile_borrow(given->fd, given->path, &source->file);
	if (rc)
		return rc == JPROF_E_NOMEM ? -1 : 0;
	source->shares = jp_elffile_shares(&source->file);
	source->package = jp_elffile_section(&source->file, ".debug_cu_index");
	if (!source->package || jp_dwpackage_readable())
		source->dwarf = dwarf_begin_elf(source->file.elf, DWARF_C_READ, NULL);
	/* Units are looked for by their id, which the skeleton has, too. */
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;
	while (source->dwarf && !dwarf_get_units(source->dwarf, unit, &unit, NULL, &type, &die, NULL)) {
		uint64_t id;
		if (type != DW_UT_split_compile || dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL))
			continue;
		if (jp_array_push(source->units, source->count, source->cap))
			return -1;
		source->units[source->count++] = (struct split_die){ id, die };
	}
	return 0;
}

static struct split_source *split_source_of(struct jp_splits *s, const struct jp_open_file *given)
{
	for (size_t i = s->source_count; i-- > 0;)
		if (s->sources[i]->fd == given->fd)
			return s->sources[i];
	struct split_source *source = calloc(1, sizeof *source);
	if (!source || jp_array_push(s->sources, s->source_count, s->source_cap)) {
		free(source);
		return NULL;
	}
	source->fd = given->fd;
	s->sources[s->source_count++] = source;
	return read_split_source(source, given) ? NULL : source;
}

static struct split_die *unit_in(const struct split_source *source, uint64_t id)
{
	for (size_t i = 0; i < source->count; i++)
		if (source->units[i].id == id)
			return &source->units[i];
	return NULL;
}

/* ---- wants and losses --------------------------------------------------------------------------- */

static bool is_same_or_none(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* `what` (NULL: nothing) and why, once for each unit. */
static int lose(struct jp_splits *s, uint64_t unit, const char *what, const char *why)
{
	char text[512];
	for (size_t i = 0; i < s->loss_count; i++)
		if (s->losses[i].unit == unit)
			return 0;
	snprintf(text, sizeof text, "%.380s%s%s", what ? what : "", what ? " " : "", why);
	const char *copy = jp_arena_dup(&s->arena, text, strlen(text));
	if (!copy || jp_array_push(s->losses, s->loss_count, s->loss_cap))
		return -1;
	s->losses[s->loss_count++] = (struct jp_reply_loss){ unit, copy };
	return 0;
}

const struct jp_reply_want *jp_splits_wants(const struct jp_splits *s, uint32_t *count)
{
	*count = (uint32_t)s->want_count;
	return s->wants;
}

const struct jp_reply_loss *jp_splits_losses(const struct jp_splits *s, uint32_t *count)
{
	*count = (uint32_t)s->loss_count;
	return s->losses;
}

/* ---- one unit ----------------------------------------------------------------------------------- */

static const char *skeleton_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	return dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const struct jp_split_answer *answer_to(const struct jp_splits *s, const struct jp_reply_want *want)
{
	for (size_t i = 0; i < s->answer_count; i++)
		if (s->answers[i].unit == want->unit && is_same_or_none(s->answers[i].name, want->name))
			return &s->answers[i];
	return NULL;
}

/* Why none of the given files has it. A .dwo that is there should have been it. */
static int lose_given(struct jp_splits *s, const struct jp_split_answer *answer)
{
	const struct jp_open_file *package = NULL;
	for (unsigned i = 0; i < answer->count; i++) {
		const struct split_source *source = split_source_of(s, &answer->files[i]);
		if (!source)
			return -1;
		if (!source->package)
			return lose(s, answer->unit, answer->name, "is of another build, or damaged");
		package = &answer->files[i];
	}
	return lose(s, answer->unit, package ? package->path : answer->name,
	            jp_dwpackage_readable() ? "is a DWARF package of another build, or damaged"
	                                    : "is a DWARF package, which this libdw cannot read");
}

static int find_among(struct jp_splits *s, const struct jp_elffile *holder, Dwarf_Die *skeleton,
                      const struct jp_split_answer *answer, struct jp_split_unit *found, enum jp_split_state *state)
{
	*state = JP_SPLIT_LOST;
	if (answer->why)
		return lose(s, answer->unit, NULL, answer->why);
	for (unsigned i = 0; i < answer->count; i++) {
		struct split_source *source = split_source_of(s, &answer->files[i]);
		struct split_die *unit = source ? unit_in(source, answer->unit) : NULL;
		if (!source)
			return -1;
		if (!unit)
			continue;
		/* libdw would open what it shares with, whatever that is. */
		if (source->shares)
			return lose(s, answer->unit, answer->name, "shares parts with another file (dwz)");
		found->die = unit->die;
		jp_split_ranges_init(&found->ranges, holder, skeleton, &source->file, &unit->die);
		*state = JP_SPLIT_FOUND;
		return 0;
	}
	return lose_given(s, answer);
}

int jp_splits_find(struct jp_splits *s, const struct jp_elffile *holder, Dwarf_Die *skeleton,
                   struct jp_split_unit *found, enum jp_split_state *state)
{
	struct jp_reply_want want = { .name = skeleton_string(skeleton, DW_AT_dwo_name),
		                      .dir = skeleton_string(skeleton, DW_AT_comp_dir) };
	if (!want.name)
		want.name = skeleton_string(skeleton, DW_AT_GNU_dwo_name);
	if (dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &want.unit, NULL, NULL))
		want.name = NULL;
	if (!want.name) {
		*state = JP_SPLIT_LOST;
		return lose(s, want.unit, "a .dwo file", "has no name");
	}
	const struct jp_split_answer *answer = answer_to(s, &want);
	if (answer)
		return find_among(s, holder, skeleton, answer, found, state);
	*state = JP_SPLIT_WANTED;
	for (found->want = 0; found->want < s->want_count; found->want++)
		if (s->wants[found->want].unit == want.unit && is_same_or_none(s->wants[found->want].name, want.name))
			return 0;
	if (jp_array_push(s->wants, s->want_count, s->want_cap))
		return -1;
	s->wants[s->want_count++] = want;
	return 0;
}
