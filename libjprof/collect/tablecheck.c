#include "collect/tablecheck.h"

#include <errno.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/reader.h"

enum { head_bytes = 1 << 13 };

/* What a table says of itself. */
struct table_claim {
	uint64_t pid, start_ticks;
	struct jp_checksum dump;
};

/* The process may hold the file, too, and move its offset: only pread will do. */
static ssize_t read_at_offset(const struct jprof_dump_file *file, char *to, size_t size, uint64_t at)
{
	ssize_t n;
	do
		n = pread(file->fd, to, size, (off_t)at);
	while (n < 0 && errno == EINTR);
	return n;
}

static bool take_claim_number(struct jp_span *line, uint64_t *value)
{
	return jp_span_decimal(line, value) == JP_NUMBER_OK && jp_span_char(line, ' ');
}

/* Both lines are among the first few, which are short. */
static bool read_claim(const struct jprof_dump_file *table, struct table_claim *claim)
{
	char head[head_bytes];
	struct jp_reader reader;
	struct jp_span line;
	bool has_process = false, has_dump = false;
	ssize_t n = read_at_offset(table, head, sizeof head, 0);
	jp_reader_init(&reader, head, n > 0 ? (size_t)n : 0);
	while ((!has_process || !has_dump) && jp_reader_line(&reader, &line) && !reader.cut)
		if (jp_span_text(&line, "process "))
			has_process =
			    take_claim_number(&line, &claim->pid) && take_claim_number(&line, &claim->start_ticks);
		else if (jp_span_text(&line, "dump "))
			has_dump = take_claim_number(&line, &claim->dump.size) &&
			           jp_span_hex(&line, &claim->dump.fnv) == JP_NUMBER_OK && !line.len;
	return has_process && has_dump;
}

/* Of no more than the file had when it was opened: it may be one that grows. */
static bool sum_dump(const struct jprof_dump_file *dump, struct jp_checksum *sum)
{
	char chunk[1 << 14];
	ssize_t n = 1;
	*sum = jp_checksum_none();
	for (uint64_t left; (left = (uint64_t)dump->st.st_size - sum->size) && n > 0;) {
		n = read_at_offset(dump, chunk, left < sizeof chunk ? (size_t)left : sizeof chunk, sum->size);
		if (n > 0)
			jp_checksum_add(sum, chunk, (size_t)n);
	}
	return n > 0;
}

const char *jp_table_doubt(const struct jprof_target *t, const struct jprof_dump_file *table,
                           const struct jprof_dump_file *dump)
{
	struct table_claim claim;
	struct jp_checksum sum;
	if (!read_claim(table, &claim))
		return "it is no table";
	if (claim.pid != (uint64_t)t->ns_pid || claim.start_ticks != t->start_ticks)
		return "it is of another process";
	if (claim.dump.size != (uint64_t)dump->st.st_size || !sum_dump(dump, &sum))
		return "it is of another dump";
	return claim.dump.size == sum.size && claim.dump.fnv == sum.fnv ? NULL : "it is of another dump";
}

/* One that is not of this dump is not ours, and stays where it is. */
int jprof_target_table(const struct jprof_target *t, const struct jprof_dump_file *dump, struct jprof_dump_file **table,
                       struct jprof_error *err)
{
	if (jp_null(err, t, dump, table))
		return JPROF_E_ARGUMENT;
	struct jprof_dump_file *file = NULL;
	int rc = jp_dump_file_beside(t, dump, ".ruby", &file, err);
	if (rc == JPROF_E_NOMEM)
		return rc;
	if (file && jp_table_doubt(t, file, dump)) {
		jprof_dump_file_free(file);
		file = NULL;
	}
	*table = file;
	return 0;
}
