#include "input/dumpopen.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "input/gperf.h"
#include "input/heapfile.h"
#include "input/rawfile.h"
#include "input/rubytable.h"
#include "input/sniff.h"
#include "input/stream.h"

static void add_up_totals(struct jprof_dump *dump)
{
	double value[JPROF_COUNTERS];
	struct jp_record record = { 0 };
	for (size_t at = 0; jp_records_next(&dump->totals, &at, &record);) {
		jp_scale_record(dump->scaling, dump->info.rate, record.count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->info.total[c] += value[c];
	}
	record = (struct jp_record){ 0 };
	for (size_t at = 0; jp_records_next(&dump->per_thread, &at, &record);) {
		jp_scale_record(dump->scaling, dump->info.rate, record.count, value);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			dump->threads[record.thread].pub.total[c] += value[c];
	}
	for (size_t i = 0; i < dump->info.threads; i++)
		dump->threads[i].pub.name = jp_intern_get(&dump->names, dump->threads[i].name);
	dump->info.has_alloc = dump->info.total[JPROF_ALLOC_OBJECTS] > 0;
}

bool jprof_dump_probe(const void *data, size_t len)
{
	return data && jp_sniff(data, len) != JP_FORMAT_UNKNOWN;
}

/* The table, if it is that of the dump whose bytes have this sum, or is said to be an earlier one's. */
static int use_table(struct jprof_dump *dump, const struct jp_checksum *sum, const struct jp_table_text *text,
                     struct jprof_error *err)
{
	struct jp_rubytable *table;
	int rc = jp_rubytable_parse(text->bytes.ptr, text->bytes.len, text->name, &table, &dump->table_error);
	if (rc)
		return rc == JPROF_E_NOMEM ? jp_error_nomem(err) : 0;
	table->earlier = text->earlier;
	if (text->earlier || (table->dump.size == sum->size && table->dump.fnv == sum->fnv)) {
		dump->table = table;
		return 0;
	}
	jp_error(&dump->table_error, JPROF_E_FORMAT, text->name, 0,
	         "is the table of another dump, or the dump was changed or cut since");
	jp_rubytable_free(table);
	return 0;
}

int jp_dump_read(struct jp_stream *stream, const struct jp_table_text *table, struct jprof_dump **out,
                 struct jprof_error *err)
{
	struct jp_span head = jp_stream_head(stream);
	struct jp_parse p = { .dump = calloc(1, sizeof *p.dump), .err = err, .damage = &stream->damage };
	bool tabled = table && table->bytes.ptr;
	int rc = !p.dump || !(p.dump->name = strdup(stream->name)) ? jp_error_nomem(err)
	         : tabled                                          ? jp_stream_sum(stream, err)
	                                                           : 0;
	if (rc) {
		jprof_dump_free(p.dump);
		return rc;
	}
	p.dump->mtime = stream->mtime;
	p.dump->table_error = table ? table->error : (struct jprof_error){ 0 };
	jp_reader_init_window(&p.reader, &stream->window);
	switch (jp_sniff(head.ptr, head.len)) {
	case JP_FORMAT_HEAP: rc = jp_parse_heap(&p); break;
	case JP_FORMAT_GPERF: rc = jp_parse_gperf(&p); break;
	case JP_FORMAT_RAW: rc = jp_parse_raw(&p); break;
	default: rc = jp_sniff_refuse(head.ptr, head.len, p.dump->name, err);
	}
	free(p.stack);
	if (stream->window.rc)
		rc = jp_stream_trouble(stream, err);
	if (!rc && tabled) {
		jp_stream_skip(stream);
		rc = use_table(p.dump, &stream->sum, table, err);
	}
	if (rc) {
		jprof_dump_free(p.dump);
		return rc;
	}
	jp_dump_trim(p.dump);
	add_up_totals(p.dump);
	*out = p.dump;
	return 0;
}

int jprof_dump_parse(const void *data, size_t len, const char *name, struct jprof_dump **out, struct jprof_error *err)
{
	if (jp_null(err, out) || (len && jp_null(err, data)))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	int rc = jp_stream_memory(&stream, data, len, name, err);
	return rc ? rc : jp_dump_read(&stream, NULL, out, err);
}

int jprof_dump_open(const char *path, struct jprof_dump **dump, struct jprof_error *err)
{
	if (jp_null(err, path, dump))
		return JPROF_E_ARGUMENT;
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	struct jp_table_text jp_cleanup(jp_table_text_release) table = { 0 };
	int rc = jp_stream_open(&stream, path, err);
	if (!rc)
		rc = jp_tablefile_find(path, &table, err);
	return rc ? rc : jp_dump_read(&stream, &table, dump, err);
}
