#include "input/packnames.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "input/packmatch.h"
#include "input/packorder.h"

struct jp_packnames {
	struct jp_objfile *object;
	const struct jp_open_file *files;
	size_t count;
	struct jp_namepack packs[jp_most_packs]; /* of the files; without functions where one is none */
	size_t read;                             /* so many of them */
	struct jp_codefile file;
	struct jp_fingerprints prints;
	struct jp_packexports exports;
	bool in_order;             /* the file has the order of `pack` around all that was asked for, */
	struct jp_packorder order; /* ... which is this; else, once all functions are `matched`, */
	bool matched;
	struct jp_packmatch match; /* ... this is the best, if one fits */
	const struct jp_namepack *pack;
};

/* A code; what is wrong is remarked. */
static int read_pack(struct jp_objfile *object, const struct jp_open_file *from, struct jp_namepack *pack)
{
	struct jprof_error err = { 0 };
	struct stat st;
	if (fstat(from->fd, &st) || st.st_size < 0 || st.st_size > jp_namepack_most_bytes) {
		jp_objfile_remark(object, "%s is larger than a pack of names may be", from->path);
		return JPROF_E_FORMAT;
	}
	char *bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return JPROF_E_NOMEM;
	bool whole = jp_elf_read_at(from->fd, 0, bytes, (size_t)st.st_size);
	int rc = whole ? jp_namepack_read(bytes, (size_t)st.st_size, pack, &err)
	               : jp_error(&err, JPROF_E_IO, NULL, 0, "cannot be read");
	free(bytes);
	if (rc && rc != JPROF_E_NOMEM)
		jp_objfile_remark(object, "%s %s", from->path, err.text);
	if (rc)
		jp_namepack_release(pack);
	return rc;
}

static bool is_better(const struct jp_packmatch *match, const struct jp_packmatch *best)
{
	return match->fits && (!best->fits || match->count > best->count);
}

static int try_pack(struct jp_packnames *names, size_t i)
{
	struct jp_packmatch match;
	if (jp_packmatch_find(&names->packs[i], &names->file, &names->prints, &names->exports, &match)) {
		free(match.named);
		return -1;
	}
	if (!match.fits && names->count == 1)
		jp_objfile_remark(
		    names->object,
		    "the names of %s are not used: it is of another build, %zu of %zu functions are alike",
		    names->files[i].path, match.alike, names->prints.count);
	if (is_better(&match, &names->match)) {
		struct jp_packmatch before = names->match;
		names->match = match;
		names->pack = &names->packs[i];
		match = before;
	}
	free(match.named);
	return 0;
}

static int find_best(struct jp_packnames *names)
{
	names->matched = true;
	if (jp_fingerprints_make(&names->prints))
		return -1;
	for (; names->read < names->count; names->read++)
		if (read_pack(names->object, &names->files[names->read], &names->packs[names->read]) == JPROF_E_NOMEM)
			return -1;
	for (size_t i = 0; i < names->count; i++)
		if (names->packs[i].functions && try_pack(names, i))
			return -1;
	if (!names->match.fits && names->count > 1)
		jp_objfile_remark(names->object,
		                  "the names of %zu packs, as %s, are not used: they are of other builds", names->count,
		                  names->files[0].path);
	return 0;
}

/* The first pack whose order the file has, if there is one; others are not read then. */
static int find_ordered(struct jp_packnames *names)
{
	int ordered = 0;
	for (size_t i = 0; !ordered && i < names->count; i++) {
		int rc = read_pack(names->object, &names->files[i], &names->packs[i]);
		if (rc == JPROF_E_NOMEM)
			return -1;
		names->pack = &names->packs[i];
		names->read = i + 1;
		jp_packorder_release(&names->order);
		if (!rc)
			ordered = jp_packorder_find(&names->order, names->pack, &names->prints, &names->exports);
	}
	names->in_order = ordered == 1;
	return ordered < 0 ? -1 : 0;
}

static int read_code_file(struct jp_packnames *names)
{
	struct jp_codesymbol *symbols = NULL;
	size_t count = 0;
	return jp_codefile_read(names->object, &names->file) || jp_fingerprints_begin(&names->file, &names->prints) ||
	               jp_codesymbols_read(names->object, SHT_DYNSYM, &names->file.arena, &symbols, &count) ||
	               jp_packexports_make(&names->exports, symbols, count)
	           ? -1
	           : 0;
}

struct jp_packnames *jp_packnames_new(struct jp_objfile *object, const struct jp_open_file *files, size_t count)
{
	struct jp_packnames *names = calloc(1, sizeof *names);
	if (!names)
		return NULL;
	names->object = object;
	names->files = files;
	names->count = count;
	if (!read_code_file(names) && !find_ordered(names))
		return names;
	jp_packnames_free(names);
	return NULL;
}

bool jp_packnames_fit(const struct jp_packnames *names)
{
	return names && (names->in_order || names->match.fits);
}

static int name_in_order(struct jp_packnames *names, size_t function, const char **name)
{
	enum jp_place_verdict verdict;
	if (jp_packorder_judge(&names->order, function, &verdict))
		return -1;
	names->in_order = verdict != JP_PLACE_OTHER;
	*name = verdict == JP_PLACE_SAME ? names->pack->functions[names->order.place[function]].name : "";
	return 0;
}

int jp_packnames_at(struct jp_packnames *names, uint64_t start, const char **name)
{
	size_t function = jp_codefile_function(&names->file, start);
	*name = "";
	if (function == SIZE_MAX || names->file.functions[function].start != start)
		return 0;
	if (names->in_order && name_in_order(names, function, name))
		return -1;
	if (names->in_order)
		return 0;
	if (!names->matched && find_best(names))
		return -1;
	if (names->match.fits && names->match.named[function] != UINT32_MAX)
		*name = names->pack->functions[names->match.named[function]].name;
	return 0;
}

void jp_packnames_free(struct jp_packnames *names)
{
	if (!names)
		return;
	free(names->match.named);
	jp_packorder_release(&names->order);
	for (size_t i = 0; i < names->count; i++)
		jp_namepack_release(&names->packs[i]);
	jp_packexports_release(&names->exports);
	jp_fingerprints_release(&names->prints);
	jp_codefile_release(&names->file);
	free(names);
}
