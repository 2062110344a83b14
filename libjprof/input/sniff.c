#include "input/sniff.h"

#include "base/error.h"
#include "base/reader.h"
#include "input/pprof.h"
#include "input/unpack.h"

enum { magic_at = 257 };

static const char rubyheap_says[] = "lists the objects of a Ruby, as ObjectSpace.dump_all does, and is no heap dump";

/* By the first line that does not begin with %. */
static const struct {
	const char *start;
	enum jp_format format;
	const char *says; /* NULL: it is read */
} known[] = {
	{ "heap_v", JP_FORMAT_HEAP, NULL },
	{ "heap profile:", JP_FORMAT_GPERF, NULL },
	{ "--- symbol", JP_FORMAT_RAW, NULL },
	{ "--- heap", JP_FORMAT_RAW, NULL },
	{ "--- growth", JP_FORMAT_RAW, NULL },
	{ "--- contention", JP_FORMAT_OTHER,
	  "is a contention profile of gperftools: it counts locks, and jprof reads memory" },
	{ "--- Stacks:", JP_FORMAT_OTHER,
	  "is a contention profile of gperftools: it counts locks, and jprof reads memory" },
	{ "--- profile", JP_FORMAT_OTHER, "is a cpu profile of gperftools: it counts time, and jprof reads memory" },
	{ "{\"type\":\"ROOT\"", JP_FORMAT_OTHER, rubyheap_says },
	{ "{\"address\":\"0x", JP_FORMAT_OTHER, rubyheap_says },
	{ "\177ELF", JP_FORMAT_UNKNOWN, "is a program, not a heap dump" },
	{ "#!", JP_FORMAT_UNKNOWN, "is a script, not a heap dump" },
};

/* gperftools' cpu profile: words of 4 or 8 bytes in either order, 0, 3, 0, period, 0. */
static bool is_cpu_profile(const void *data, size_t len)
{
	static const uint64_t head[] = { 0, 3, 0 };
	for (unsigned variant = 0; variant < 4; variant++) {
		struct jp_bytes bytes = { .data = data, .len = len, .big_endian = variant & 1 };
		unsigned size = variant & 2 ? 8 : 4;
		bool same = true;
		for (size_t i = 0; i < jp_count(head); i++)
			same = jp_bytes_uint(&bytes, size) == head[i] && same;
		same = jp_bytes_uint(&bytes, size) && !jp_bytes_uint(&bytes, size) && same;
		if (same && !bytes.bad)
			return true;
	}
	return false;
}

static struct jp_span first_line(const void *data, size_t len)
{
	struct jp_reader reader;
	struct jp_span line = { 0 };
	jp_reader_init(&reader, data, len);
	while (jp_reader_line(&reader, &line))
		if (!jp_span_starts(line, "%"))
			return line;
	return (struct jp_span){ 0 };
}

bool jp_is_tar(const void *data, size_t len)
{
	if (len < jp_tar_block)
		return false;
	struct jp_span at = { (const char *)data + magic_at, len - magic_at };
	return jp_span_starts(at, "ustar");
}

bool jp_is_bundle(const void *data, size_t len)
{
	struct jp_span name = { data, len };
	if (!jp_is_tar(data, len))
		return false;
	(void)jp_span_text(&name, "./");
	return jp_span_text(&name, "bundle.json") && jp_span_char(&name, '\0');
}

enum jp_format jp_sniff(const void *data, size_t len)
{
	struct jp_span first = first_line(data, len);
	if (jp_is_packed(data, len))
		return JP_FORMAT_PACKED;
	if (jp_is_tar(data, len))
		return jp_is_bundle(data, len) ? JP_FORMAT_BUNDLE : JP_FORMAT_OTHER;
	for (size_t i = 0; i < jp_count(known); i++)
		if (jp_span_starts(first, known[i].start))
			return known[i].format;
	if (is_cpu_profile(data, len))
		return JP_FORMAT_OTHER;
	return jp_pprof_probe(data, len) ? JP_FORMAT_PPROF : JP_FORMAT_UNKNOWN;
}

int jp_sniff_refuse(const void *data, size_t len, const char *name, struct jprof_error *err)
{
	struct jp_span first = first_line(data, len);
	if (!len)
		return jp_error(err, JPROF_E_FORMAT, name, 0, "is empty; make a new dump");
	if (jp_is_bundle(data, len))
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0,
		                "is a bundle, which may hold several dumps: it is opened as a profile");
	if (jp_is_tar(data, len))
		return jp_error(err, JPROF_E_FORMAT, name, 0,
		                "is a tar archive, but no bundle of jprof, which begins with bundle.json");
	for (size_t i = 0; i < jp_count(known); i++)
		if (known[i].says && jp_span_starts(first, known[i].start))
			return jp_advise(err,
			                 known[i].says == rubyheap_says         ? JPROF_ADVICE_RUBYHEAP
			                 : known[i].format == JP_FORMAT_UNKNOWN ? JPROF_ADVICE_OPERANDS
			                                                        : JPROF_ADVICE_NONE,
			                 jp_error(err, JPROF_E_FORMAT, name, 1, "%s", known[i].says));
	if (is_cpu_profile(data, len))
		return jp_error(err, JPROF_E_FORMAT, name, 0,
		                "is a cpu profile of gperftools: it counts time, and jprof reads memory");
	if (jp_pprof_probe(data, len))
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0,
		                "is a profile.proto, which is no dump in text: it is opened as a profile");
	return jp_error(err, JPROF_E_FORMAT, name, 1, "is no heap dump: its first line should read \"heap_v2/RATE\"");
}
