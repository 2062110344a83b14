#include "input/learnnames.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "input/finder.h"
#include "input/packnames.h"

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
	return jp_order_by(x->content, y->content, jp_order_by(x->size, y->size, jp_order(x->named, y->named)));
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

static int fill_pack(struct learning *l)
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
	}
	return pack->functions ? keep_callees(l) : -1;
}

static void free_packnames(struct jp_packnames **names)
{
	jp_packnames_free(*names);
}

/* ---- who answers ------------------------------------------------------------------------------------------- */

/* What packs call each function of a file; names of none that fits. */
static int fill_by_packs(struct jp_objfile *object, const struct jp_name_request *request, struct jp_namepack *pack)
{
	struct jp_codefile jp_cleanup(jp_codefile_release) file = { 0 };
	struct jp_packnames jp_cleanup(free_packnames) *names =
	    jp_packnames_new(object, request->packs, request->pack_count);
	pack->label = (struct jp_namepack_label){
		.machine = object->headers.machine, .soname = "", .version = "", .source = "", .distribution = ""
	};
	if (!names || jp_codefile_read(object, &file))
		return JPROF_E_NOMEM;
	pack->functions = jp_arena_alloc(&pack->arena, (file.function_count + 1) * sizeof *pack->functions);
	pack->count = pack->functions ? (uint32_t)file.function_count : 0;
	for (uint32_t i = 0; i < pack->count; i++) {
		const char *name;
		if (jp_packnames_at(names, file.functions[i].start, &name))
			return JPROF_E_NOMEM;
		pack->functions[i] =
		    (struct jp_packed_function){ .name = jp_arena_dup(&pack->arena, name, strlen(name)) };
		if (!pack->functions[i].name)
			return JPROF_E_NOMEM;
	}
	return pack->functions ? 0 : JPROF_E_NOMEM;
}

static int learn_pack(const struct jp_objfile *object, const struct jp_objfile *debug, struct jp_namepack *pack)
{
	struct learning jp_cleanup(learning_release) l = { .pack = pack };
	const struct jp_objfile *holder = debug && !jp_objfile_has_symtab(object) ? debug : object;
	pack->label = (struct jp_namepack_label){
		.machine = object->headers.machine, .version = "", .source = "", .distribution = ""
	};
	pack->label.soname = jp_codefile_soname(object, &pack->arena);
	return !pack->label.soname ||
	               jp_codesymbols_read(holder, SHT_SYMTAB, &pack->arena, &l.symbols, &l.symbol_count) ||
	               jp_codefile_read(object, &l.file) || jp_fingerprints_begin(&l.file, &l.prints) ||
	               jp_fingerprints_make(&l.prints) || fill_pack(&l)
	           ? JPROF_E_NOMEM
	           : 0;
}

int jp_learn_answer(const struct jp_name_request *request, struct jp_strbuf *out)
{
	struct jp_objfile jp_cleanup(jp_objfile_closed) *object = NULL, jp_cleanup(jp_objfile_closed) *debug = NULL;
	struct jp_namepack jp_cleanup(jp_namepack_release) pack = { 0 };
	int rc = jp_objfile_borrow(request->object.fd, request->object.path, &object, NULL);
	if (!rc && request->debug.fd >= 0)
		rc = jp_objfile_borrow(request->debug.fd, request->debug.path, &debug, NULL);
	if (rc)
		return rc == JPROF_E_NOMEM ? rc : JPROF_E_IO;
	rc = request->pack_count ? fill_by_packs(object, request, &pack) : learn_pack(object, debug, &pack);
	return rc || jp_namepack_write(&pack, out, NULL) ? JPROF_E_NOMEM : 0;
}

/* ---- who asks ---------------------------------------------------------------------------------------------- */

static struct jp_open_file learned_file(const struct jp_objfile *file)
{
	return (struct jp_open_file){ .fd = file ? file->fd : -1, .path = file ? file->path : NULL };
}

static struct jp_name_request pack_request(const struct jp_objfile *object, const struct jp_objfile *debug)
{
	return (struct jp_name_request){
		.object = learned_file(object), .debug = learned_file(debug), .shared = { .fd = -1 }, .learn = true
	};
}

static int ask_for_pack(const struct jp_objfile *object, const struct jp_name_request *request,
                        const struct jprof_name_finder *finder, struct jp_namepack *pack, struct jprof_error *err)
{
	struct jprof_error why = { 0 };
	void *answer;
	size_t len;
	int rc = jp_finder_find(finder, request, &answer, &len, &why);
	bool answered = !rc;
	if (answered)
		rc = jp_namepack_read(answer, len, pack, &why);
	free(answer);
	if (rc == JPROF_E_NOMEM)
		return jp_error_nomem(err);
	if (rc || pack->label.machine != object->headers.machine)
		return jp_error(err, JPROF_E_UNSUPPORTED, object->path, 0, "has no names to learn: %s",
		                answered ? "the answer to the question for them is damaged" : why.text);
	return 0;
}

static bool has_names(const struct jp_namepack *pack)
{
	for (uint32_t i = 0; i < pack->count; i++)
		if (*pack->functions[i].name)
			return true;
	return false;
}

int jp_names_learn(const struct jp_objfile *object, const struct jp_objfile *debug,
                   const struct jprof_name_finder *finder, struct jp_namepack *pack, struct jprof_error *err)
{
	unsigned machine = object->headers.machine;
	*pack = (struct jp_namepack){ 0 };
	if ((machine != EM_X86_64 && machine != EM_AARCH64) || object->headers.big_endian)
		return jp_error(err, JPROF_E_UNSUPPORTED, object->path, 0,
		                "is code of another machine than x86-64 or AArch64");
	if (debug && strcmp(object->build_id, debug->build_id) != 0)
		return jp_error(err, JPROF_E_FORMAT, debug->path, 0, "has another build-id than %s", object->path);
	if (!jp_objfile_has_symtab(object) && !(debug && jp_objfile_has_symtab(debug)))
		return jp_error(
		    err, JPROF_E_FORMAT, object->path, 0,
		    "has no .symtab to learn names from: give a build that is not stripped, or its debug file");
	const struct jp_name_request request = pack_request(object, debug);
	int rc = finder                            ? ask_for_pack(object, &request, finder, pack, err)
	         : learn_pack(object, debug, pack) ? jp_error_nomem(err)
	                                           : 0;
	return rc || has_names(pack)
	           ? rc
	           : jp_error(err, JPROF_E_FORMAT, object->path, 0, "has no function that .eh_frame and .symtab know");
}

static int count_packed(const struct jp_objfile *object, const struct jp_name_request *request,
                        const struct jprof_name_finder *finder, size_t *named, size_t *functions,
                        struct jprof_error *err)
{
	struct jp_namepack jp_cleanup(jp_namepack_release) pack = { 0 };
	struct jp_objfile jp_cleanup(jp_objfile_closed) *own = NULL;
	int rc = finder ? ask_for_pack(object, request, finder, &pack, err)
	                : jp_objfile_borrow(object->fd, object->path, &own, err);
	if (!rc && !finder && fill_by_packs(own, request, &pack))
		rc = jp_error_nomem(err);
	for (uint32_t i = 0; !rc && i < pack.count; i++)
		*named += *pack.functions[i].name != 0;
	*functions = rc || !*named ? 0 : pack.count;
	return rc;
}

int jp_names_packed(const struct jp_objfile *object, const struct jp_packfiles *packs,
                    const struct jprof_name_finder *finder, size_t *named, size_t *functions, struct jprof_error *err)
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	struct jp_name_request request = pack_request(object, NULL);
	const char *soname = jp_codefile_soname(object, &arena);
	*named = *functions = 0;
	if (!soname)
		return jp_error_nomem(err);
	request.pack_count = jp_packfiles_open(packs, object->headers.machine, soname, request.packs);
	int rc = request.pack_count ? count_packed(object, &request, finder, named, functions, err) : 0;
	for (size_t i = 0; i < request.pack_count; i++)
		jp_file_close(&request.packs[i].fd);
	return rc;
}
