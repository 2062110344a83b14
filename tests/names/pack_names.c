/* usage: pack_names [-x] PACK FILE: which of the file's functions the pack names, as lines START NAME, for packs.py.
 * Before them a line: how many functions the file and the pack have, are alike, got a name; of those that export one,
 * how many got one and how many another; whether the pack fits. With -x the names that the file exports are held
 * against it, as jprof does; else nothing is known of the file but its code. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "input/packmatch.h"

struct matched {
	struct jp_namepack pack;
	struct jp_objfile *object;
	struct jp_codefile file;
	struct jp_fingerprints prints;
	struct jp_codesymbol *exports;
	size_t export_count;
	struct jp_packmatch match;
};

static int open_both(struct matched *m, char **argv, struct jprof_error *err)
{
	struct jp_strbuf bytes = { 0 };
	int rc = jp_file_read(argv[0], &bytes, NULL, err);
	if (!rc)
		rc = jp_namepack_read(bytes.text, bytes.len, &m->pack, err);
	jp_strbuf_release(&bytes);
	if (!rc)
		rc = jp_objfile_open((struct jp_root){ 0 }, argv[1], &m->object, err);
	return rc;
}

static int match_both(struct matched *m, bool exports)
{
	return jp_codefile_read(m->object, &m->file) || jp_fingerprints_make(&m->file, &m->prints) ||
	       (exports && jp_codesymbols_read(m->object, SHT_DYNSYM, &m->file.arena, &m->exports, &m->export_count)) ||
	       jp_packmatch_find(&m->pack, &m->file, &m->prints, m->exports, m->export_count, &m->match);
}

int main(int argc, char **argv)
{
	struct matched m = { 0 };
	struct jprof_error err = { 0 };
	bool exports = argc > 1 && !strcmp(argv[1], "-x");
	argv += exports;
	argc -= exports;
	int rc = argc == 3 ? open_both(&m, argv + 1, &err) : -1;
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	else if ((rc = match_both(&m, exports)))
		fprintf(stderr, "memory is short\n");
	for (size_t i = 0; !rc && i < m.prints.count; i++) {
		if (!i)
			printf("%zu %" PRIu32 " %zu %zu %zu %zu %s\n", m.prints.count, m.pack.count, m.match.alike,
			       m.match.count, m.match.exports, m.match.wrong, m.match.fits ? "fits" : "differs");
		if (m.match.named[i] != UINT32_MAX)
			printf("%" PRIx64 " %s\n", m.file.functions[i].start, m.pack.functions[m.match.named[i]].name);
	}
	free(m.match.named);
	jp_fingerprints_release(&m.prints);
	jp_codefile_release(&m.file);
	jp_namepack_release(&m.pack);
	jp_objfile_close(m.object);
	return rc ? 1 : 0;
}
