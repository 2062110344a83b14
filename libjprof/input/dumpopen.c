#include "input/dumpopen.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "input/gperf.h"
#include "input/heapfile.h"
#include "input/rawfile.h"
#include "input/sniff.h"
#include "input/unpack.h"

static void add_up(struct jprof_dump *dump)
{
	double value[JPROF_COUNTERS];
	for (size_t i = 0; i < dump->totals.count; i++) {
		jp_scale_record(dump->scaling, dump->info.rate, dump->totals.items[i].count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->info.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->per_thread.count; i++) {
		jp_scale_record(dump->scaling, dump->info.rate, dump->per_thread.items[i].count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->threads[dump->per_thread.items[i].thread].pub.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->info.threads; i++)
		dump->threads[i].pub.name = jp_intern_get(&dump->names, dump->threads[i].name);
	dump->info.has_alloc = dump->info.total[JPROF_ALLOC_OBJECTS] > 0;
}

bool jprof_dump_probe(const void *data, size_t len)
{
	return jp_sniff(data, len) != JP_FORMAT_UNKNOWN;
}

static int parse_text(struct jp_parse *p, const void *data, size_t len)
{
	jp_reader_init(&p->reader, data, len);
	switch (jp_sniff(data, len)) {
	case JP_FORMAT_HEAP: return jp_parse_heap(p);
	case JP_FORMAT_GPERF: return jp_parse_gperf(p);
	case JP_FORMAT_RAW: return jp_parse_raw(p);
	default: return jp_sniff_refuse(data, len, p->dump->name, p->err);
	}
}

static int parse_any(struct jp_parse *p, const void *data, size_t len)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) unpacked = { 0 };
	if (!jp_is_packed(data, len))
		return parse_text(p, data, len);
	int rc = jp_unpack(data, len, p->dump->name, &jp_unpack_default, &unpacked, &p->damage, p->err);
	if (!rc && p->damage.code && !unpacked.len)
		rc = jp_error(p->err, JPROF_E_FORMAT, p->dump->name, 0,
		              "the compressed data is cut or damaged from its start on; copy it again");
	return rc ? rc : parse_text(p, unpacked.text, unpacked.len);
}

int jp_dump_parse(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                  struct jprof_dump **out, struct jprof_error *err)
{
	struct jp_parse p = { .dump = calloc(1, sizeof *p.dump), .err = err };
	if (!p.dump)
		return jp_error_nomem(err);
	if (damage)
		p.damage = *damage;
	p.dump->name = strdup(name ? name : "");
	int rc = p.dump->name ? parse_any(&p, data, len) : jp_error_nomem(err);
	free(p.stack);
	if (rc) {
		jprof_dump_free(p.dump);
		return rc;
	}
	add_up(p.dump);
	*out = p.dump;
	return 0;
}

int jprof_dump_parse(const void *data, size_t len, const char *name, struct jprof_dump **out, struct jprof_error *err)
{
	return jp_dump_parse(data, len, name, NULL, out, err);
}

int jprof_dump_open(const char *path, struct jprof_dump **dump, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct stat st;
	int rc = jp_file_read(path, &text, &st, err);
	if (!rc)
		rc = jprof_dump_parse(text.text, text.len, strcmp(path, "-") ? path : "<stdin>", dump, err);
	if (!rc && S_ISREG(st.st_mode))
		(*dump)->mtime = st.st_mtime;
	return rc;
}
