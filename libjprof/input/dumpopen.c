#include "input/dumpopen.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "input/gperf.h"
#include "input/heapfile.h"
#include "input/rawfile.h"
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

static int parse_any(struct jp_parse *p, struct jp_stream *stream)
{
	struct jp_span head = jp_stream_head(stream);
	jp_reader_init_window(&p->reader, &stream->window);
	switch (jp_sniff(head.ptr, head.len)) {
	case JP_FORMAT_HEAP: return jp_parse_heap(p);
	case JP_FORMAT_GPERF: return jp_parse_gperf(p);
	case JP_FORMAT_RAW: return jp_parse_raw(p);
	default: return jp_sniff_refuse(head.ptr, head.len, p->dump->name, p->err);
	}
}

int jp_dump_read(struct jp_stream *stream, struct jprof_dump **out, struct jprof_error *err)
{
	struct jp_parse p = { .dump = calloc(1, sizeof *p.dump), .err = err, .damage = &stream->damage };
	if (!p.dump)
		return jp_error_nomem(err);
	p.dump->mtime = stream->mtime;
	p.dump->name = strdup(stream->name);
	int rc = p.dump->name ? parse_any(&p, stream) : jp_error_nomem(err);
	free(p.stack);
	if (stream->window.rc)
		rc = jp_stream_trouble(stream, err);
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
	return rc ? rc : jp_dump_read(&stream, out, err);
}
