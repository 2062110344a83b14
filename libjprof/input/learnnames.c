#include "input/learnnames.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"

struct learning {
	struct jp_codefile file;
	struct jp_fingerprints prints;
	struct jp_codesymbol *symbols;
	size_t symbol_count;
	struct jp_namepack *pack;
	uint32_t *order; /* functions by fingerprint */
};

static void learning_release(struct learning *l)
{
	jp_fingerprints_release(&l->prints);
	jp_codefile_release(&l->file);
	free(l->order);
}

/* Whether a function has these two names because the compiler found two of its functions to be equal, and kept one: in
 * another build either may stand alone. Exported ones are names for the same on purpose. */
static bool is_merged(const struct jp_codesymbol *a, const struct jp_codesymbol *b)
{
	return a->value == b->value && !b->empty && (a->local || b->local) && strcmp(a->name, b->name) != 0;
}

/* The best name of the function that begins there; "": none, or no certain one. */
static const char *best_name(const struct learning *l, uint64_t start)
{
	size_t low = jp_count_below(l->symbols, l->symbol_count, sizeof *l->symbols, start);
	if (low >= l->symbol_count || l->symbols[low].value != start)
		return "";
	for (size_t i = low + 1; i < l->symbol_count && l->symbols[i].value == start; i++)
		if (is_merged(&l->symbols[low], &l->symbols[i]))
			return "";
	return l->symbols[low].name;
}

static int by_fingerprint(const void *a, const void *b, void *functions)
{
	const struct jp_packed_function *f = functions;
	const struct jp_packed_function *x = &f[*(const uint32_t *)a], *y = &f[*(const uint32_t *)b];
	if (x->content != y->content)
		return x->content < y->content ? -1 : 1;
	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return (x->named > y->named) - (x->named < y->named);
}

/* Callees tell apart functions that are alike; of others nobody needs them. */
static int keep_callees(struct learning *l)
{
	struct jp_namepack *pack = l->pack;
	struct jp_packed_function *f = pack->functions;
	l->order = calloc((size_t)pack->count + 1, sizeof *l->order);
	pack->callees = jp_arena_alloc(&pack->arena, (l->prints.callee_count + 1) * sizeof *pack->callees);
	if (!l->order || !pack->callees)
		return -1;
	for (uint32_t i = 0; i < pack->count; i++)
		l->order[i] = i;
	qsort_r(l->order, pack->count, sizeof *l->order, by_fingerprint, f);
	for (uint32_t i = 0; i < pack->count; i++) {
		bool alike = (i && !by_fingerprint(&l->order[i - 1], &l->order[i], f)) ||
		             (i + 1 < pack->count && !by_fingerprint(&l->order[i], &l->order[i + 1], f));
		const struct jp_fingerprint *print = &l->prints.items[l->order[i]];
		if (!alike)
			continue;
		f[l->order[i]].callee_first = pack->callee_count;
		f[l->order[i]].callee_count = print->callee_count;
		for (uint32_t k = 0; k < print->callee_count; k++)
			pack->callees[pack->callee_count++] = l->prints.callees[print->callee_first + k];
	}
	return 0;
}

static int fill_pack(struct learning *l, size_t *named)
{
	struct jp_namepack *pack = l->pack;
	pack->functions = jp_arena_alloc(&pack->arena, (l->prints.count + 1) * sizeof *pack->functions);
	pack->count = (uint32_t)l->prints.count;
	for (uint32_t i = 0; pack->functions && i < pack->count; i++) {
		const struct jp_fingerprint *print = &l->prints.items[i];
		const char *name = best_name(l, l->file.functions[i].start);
		pack->functions[i] = (struct jp_packed_function){
			.content = print->content,
			.named = print->named,
			.size = print->size,
			.name = jp_arena_dup(&pack->arena, name, strlen(name)),
		};
		if (!pack->functions[i].name)
			return -1;
		*named += *name != '\0';
	}
	return pack->functions ? keep_callees(l) : -1;
}

int jp_names_learn(const struct jp_objfile *object, const struct jp_objfile *debug, struct jp_namepack *pack,
                   struct jprof_error *err)
{
	struct learning jp_cleanup(learning_release) l = { .pack = pack };
	const struct jp_objfile *holder = debug && !jp_objfile_has_symtab(object) ? debug : object;
	unsigned machine = object->headers.machine;
	size_t named = 0;
	*pack =
	    (struct jp_namepack){ .label = { .machine = machine, .version = "", .source = "", .distribution = "" } };
	if ((machine != EM_X86_64 && machine != EM_AARCH64) || object->headers.big_endian)
		return jp_error(err, JPROF_E_UNSUPPORTED, object->path, 0,
		                "is code of another machine than x86-64 or AArch64");
	if (debug && strcmp(object->build_id, debug->build_id) != 0)
		return jp_error(err, JPROF_E_FORMAT, debug->path, 0, "has another build-id than %s", object->path);
	pack->label.soname = jp_codefile_soname(object, &pack->arena);
	if (!pack->label.soname || jp_codesymbols_read(holder, SHT_SYMTAB, &pack->arena, &l.symbols, &l.symbol_count) ||
	    jp_codefile_read(object, &l.file) || jp_fingerprints_begin(&l.file, &l.prints) ||
	    jp_fingerprints_make(&l.prints) || fill_pack(&l, &named))
		return jp_error_nomem(err);
	if (!l.symbol_count)
		return jp_error(
		    err, JPROF_E_FORMAT, object->path, 0,
		    "has no .symtab to learn names from: give a build that is not stripped, or its debug file");
	return named
	           ? 0
	           : jp_error(err, JPROF_E_FORMAT, object->path, 0, "has no function that .eh_frame and .symtab know");
}
