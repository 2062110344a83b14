#include "input/packnames.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/error.h"
#include "input/packmatch.h"

enum { largest_pack = 16 << 20 };

struct jp_packnames {
	struct jp_codefile file;
	struct jp_fingerprints prints;
	struct jp_codesymbol *exports;
	size_t export_count;
	struct jp_namepack pack; /* the best */
	struct jp_packmatch match;
};

/* A pack that is tried. */
struct pack_trial {
	struct jp_namepack pack;
	struct jp_packmatch match;
};

static void trial_release(struct pack_trial *trial)
{
	jp_namepack_release(&trial->pack);
	free(trial->match.named);
	*trial = (struct pack_trial){ 0 };
}

/* A code; what is wrong is remarked. */
static int read_pack(struct jp_objfile *object, const struct jp_open_file *from, struct jp_namepack *pack)
{
	struct jprof_error err = { 0 };
	struct stat st;
	if (fstat(from->fd, &st) || st.st_size < 0 || st.st_size > largest_pack) {
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
	return rc;
}

static bool is_better(const struct pack_trial *trial, const struct jp_packnames *names)
{
	return trial->match.fits && (!names->match.fits || trial->match.count > names->match.count);
}

static int try_pack(struct jp_packnames *names, struct jp_objfile *object, const struct jp_open_file *from, bool alone)
{
	struct pack_trial jp_cleanup(trial_release) trial = { 0 };
	int rc = read_pack(object, from, &trial.pack);
	if (rc)
		return rc == JPROF_E_NOMEM ? -1 : 0;
	if (jp_packmatch_find(&trial.pack, &names->file, &names->prints, names->exports, names->export_count,
	                      &trial.match))
		return -1;
	if (!trial.match.fits && alone)
		jp_objfile_remark(
		    object, "the names of %s are not used: it is of another build, %zu of %zu functions are alike",
		    from->path, trial.match.alike, names->prints.count);
	if (is_better(&trial, names)) {
		struct pack_trial before = { names->pack, names->match };
		names->pack = trial.pack;
		names->match = trial.match;
		trial = before;
	}
	return 0;
}

static int find_best(struct jp_packnames *names, struct jp_objfile *object, const struct jp_open_file *packs,
                     size_t count)
{
	if (jp_codefile_read(object, &names->file) || jp_fingerprints_make(&names->file, &names->prints) ||
	    jp_codesymbols_read(object, SHT_DYNSYM, &names->file.arena, &names->exports, &names->export_count))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (try_pack(names, object, &packs[i], count == 1))
			return -1;
	if (!names->match.fits && count > 1)
		jp_objfile_remark(object, "the names of %zu packs, as %s, are not used: they are of other builds",
		                  count, packs[0].path);
	return 0;
}

struct jp_packnames *jp_packnames_new(struct jp_objfile *object, const struct jp_open_file *packs, size_t count)
{
	struct jp_packnames *names = calloc(1, sizeof *names);
	if (names && find_best(names, object, packs, count)) {
		jp_packnames_free(names);
		return NULL;
	}
	return names;
}

const char *jp_packnames_at(const struct jp_packnames *names, uint64_t start)
{
	size_t function = jp_codefile_function(&names->file, start);
	if (!names->match.fits || function == SIZE_MAX || names->file.functions[function].start != start ||
	    names->match.named[function] == UINT32_MAX)
		return NULL;
	const char *name = names->pack.functions[names->match.named[function]].name;
	return *name ? name : NULL;
}

void jp_packnames_free(struct jp_packnames *names)
{
	if (!names)
		return;
	free(names->match.named);
	jp_namepack_release(&names->pack);
	jp_fingerprints_release(&names->prints);
	jp_codefile_release(&names->file);
	free(names);
}
