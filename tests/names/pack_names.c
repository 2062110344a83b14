/* usage: pack_names [-x | -o] PACK FILE: which of the file's functions the pack names, as lines START NAME, for
 * packs.py. Before them a line: how many functions the file and the pack have, are alike, got a name; of those that
 * export one, how many got one and how many another; whether the pack fits. With -x the names that the file exports are
 * held against it, as jprof does; else nothing is known of the file but its code. With -o only what the file's order
 * says of functions that are not exported; the last line is "order", or "differs" where it is not the pack's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/search.h"
#include "input/packmatch.h"
#include "input/packorder.h"

struct matched {
	struct jp_namepack pack;
	struct jp_objfile *object;
	struct jp_codefile file;
	struct jp_fingerprints prints;
	struct jp_codesymbol *symbols;
	size_t symbol_count;
	struct jp_packexports exports;
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

static int read_both(struct matched *m, bool exports)
{
	return jp_codefile_read(m->object, &m->file) || jp_fingerprints_begin(&m->file, &m->prints) ||
	       (exports && jp_codesymbols_read(m->object, SHT_DYNSYM, &m->file.arena, &m->symbols, &m->symbol_count)) ||
	       jp_packexports_make(&m->exports, m->symbols, m->symbol_count);
}

static int match_both(struct matched *m)
{
	if (jp_fingerprints_make(&m->prints) ||
	    jp_packmatch_find(&m->pack, &m->file, &m->prints, &m->exports, &m->match))
		return -1;
	printf("%zu %" PRIu32 " %zu %zu %zu %zu %s\n", m->prints.count, m->pack.count, m->match.alike, m->match.count,
	       m->match.exports, m->match.wrong, m->match.fits ? "fits" : "differs");
	for (size_t i = 0; i < m->prints.count; i++)
		if (m->match.named[i] != UINT32_MAX)
			printf("%" PRIx64 " %s\n", m->file.functions[i].start,
			       m->pack.functions[m->match.named[i]].name);
	return 0;
}

static bool is_exported(const struct matched *m, uint64_t start)
{
	size_t at = jp_count_below(m->symbols, m->symbol_count, sizeof *m->symbols, start);
	return at < m->symbol_count && m->symbols[at].value == start;
}

/* In the order of a file that has the pack's; else "differs". Where functions came or went it is silent. */
static int follow_order(struct matched *m)
{
	struct jp_packorder order;
	enum jp_place_verdict verdict = JP_PLACE_OTHER;
	int found = jp_packorder_find(&order, &m->pack, &m->prints, &m->exports);
	for (size_t i = 0; found == 1 && i < m->prints.count; i++) {
		if (is_exported(m, m->file.functions[i].start))
			continue;
		if (jp_packorder_judge(&order, i, &verdict))
			found = -1;
		else if (verdict == JP_PLACE_SAME)
			printf("%" PRIx64 " %s\n", m->file.functions[i].start, m->pack.functions[order.place[i]].name);
	}
	puts(found ? "order" : "differs");
	jp_packorder_release(&order);
	return found < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct matched m = { 0 };
	struct jprof_error err = { 0 };
	bool order = argc > 1 && !strcmp(argv[1], "-o"), exports = order || (argc > 1 && !strcmp(argv[1], "-x"));
	argv += exports;
	argc -= exports;
	int rc = argc == 3 ? open_both(&m, argv + 1, &err) : -1;
	if (rc)
		fprintf(stderr, "%s\n", err.text);
	else if ((rc = read_both(&m, exports) || (order ? follow_order(&m) : match_both(&m))))
		fprintf(stderr, "memory is short\n");
	free(m.match.named);
	jp_packexports_release(&m.exports);
	jp_fingerprints_release(&m.prints);
	jp_codefile_release(&m.file);
	jp_namepack_release(&m.pack);
	jp_objfile_close(m.object);
	return rc ? 1 : 0;
}
