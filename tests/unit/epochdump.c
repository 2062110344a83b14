#include "epochdump.h"

#include "base/checksum.h"

static char *text_of_epochs(const struct epoch_part *parts, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);
	fprintf(out, "heap_v2/1048576\n  t*: 1: 64 [0: 0]\n  t1: 1: 64 [0: 0] one\n");
	for (const struct epoch_part *p = parts; p->n; p++) {
		fprintf(out, "@ 0x%x", 0x401000 + 0x100 * p->site);
		if (p->epoch)
			fprintf(out, " 0x%llx", 0x7f0000000000ULL + 2 * (0x40400 + p->epoch) + 1);
		fprintf(out, "\n  t*: %u: %u [0: 0]\n  t1: %u: %u [0: 0]\n", p->n, 64 * p->n, p->n, 64 * p->n);
	}
	fprintf(out, "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 7 /bin/subject\n"
	             "7f0000000000-7f0000480800 ---s 00000000 00:01 2050 /memfd:jprof-ids:1 (deleted)\n");
	fclose(out);
	return text;
}

struct jprof_profile *profile_of_epochs(const struct epoch_part *parts, unsigned pid, unsigned time, const char *lines,
                                        const char *thread)
{
	struct jprof_profile_opts opts = { .size = sizeof opts, .thread = thread };
	struct jp_checksum sum = jp_checksum_none();
	struct jprof_profile *p = NULL;
	struct jprof_error err = { 0 };
	char *table = NULL;
	size_t len;
	char *text = text_of_epochs(parts, &len);
	FILE *out = open_memstream(&table, &opts.table_len);
	jp_checksum_add(&sum, text, len);
	fprintf(out,
	        "jprof-table 1\nprocess %u 5 boot\ndump %zu %llx\nids 7f0000000000 0 40000 40400 240400\nruby - off\n"
	        "time %u.000\n%send 0\n",
	        pid, len, (unsigned long long)sum.fnv, time, lines);
	fclose(out);
	opts.table = table;
	if (jprof_profile_parse(text, len, "test.heap", &opts, &p, &err))
		fail_msg("%s", err.text);
	free(text);
	free(table);
	return p;
}
