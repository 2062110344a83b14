/* Memory that is short while names are found for a stripped library: a pack is learned, looked for and read, and the
 * machine code is read for what Ruby calls its functions and who calls them. Each allocation fails once: then there is
 * no answer, and otherwise the whole one. Arguments: the library with its symbols, and stripped. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"
#include "input/findnames.h"
#include "input/namereply.h"
#include "input/packfiles.h"
#include "shortmem.h"

enum { step = 16, most_places = 8192 };

static const char *with_symbols, *stripped;

/* What a job makes, to the last byte. */
typedef int job_fn(void *context, struct jp_strbuf *out);

static int add_bytes(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return ((struct jp_strbuf *)context)->failed ? -1 : 0;
}

/* Any fault of a job is short memory: it says so, or has made everything. */
static void sweep(job_fn *job, void *context)
{
	struct jp_strbuf whole = { 0 };
	shortmem_arm(0);
	assert_int_equal(job(context, &whole), 0);
	size_t calls = shortmem_disarm(), refused = 0;
	assert_true(calls > 10 && whole.len > 100);
	for (size_t failing = 1; failing <= calls; failing++) {
		struct jp_strbuf out = { 0 };
		shortmem_arm(failing);
		int rc = job(context, &out);
		shortmem_disarm();
		refused += rc != 0;
		if (!rc && (out.len != whole.len || memcmp(out.text, whole.text, out.len)))
			fail_msg("allocation %zu of %zu fails: the answer is another one", failing, calls);
		jp_strbuf_release(&out);
	}
	assert_true(refused > calls / 2);
	jp_strbuf_release(&whole);
}

/* ---- learning ---- */

static int learn_job(void *context, struct jp_strbuf *out)
{
	struct jprof_error err = { 0 };
	const struct jprof_names_opts opts = { .size = sizeof opts, .version = "1", .source = "shop" };
	(void)context;
	int rc = jprof_names_learn(with_symbols, NULL, &opts, add_bytes, out, &err);
	assert_true(!rc || rc == JPROF_E_NOMEM || (rc == JPROF_E_WRITE && out->failed));
	return rc;
}

TEST(test_learning)
{
	sweep(learn_job, NULL);
}

/* ---- finding names ---- */

/* A file of this test's own, removed at once: what learning makes. */
static int open_pack(void)
{
	struct jp_strbuf pack = { 0 };
	char path[] = "/tmp/jprof-pack-XXXXXX";
	assert_int_equal(learn_job(NULL, &pack), 0);
	int fd = mkstemp(path);
	assert_true(fd >= 0 && !unlink(path));
	assert_int_equal(write(fd, pack.text, pack.len), pack.len);
	jp_strbuf_release(&pack);
	return fd;
}

static int names_job(void *context, struct jp_strbuf *out)
{
	return jp_find_names(context, out);
}

static unsigned count_source(const struct jp_namereply *reply, enum jprof_source source)
{
	unsigned count = 0;
	for (uint32_t i = 0; i < reply->place_count; i++)
		count += reply->places[i].source == source;
	return count;
}

/* All of the library's code is asked about; `source` must be among the answers. */
static void check_names(struct jp_name_request *request, enum jprof_source source)
{
	struct jp_strbuf out = { 0 };
	struct jp_namereply reply;
	assert_int_equal(names_job(request, &out), 0);
	assert_int_equal(jp_namereply_read(out.text, out.len, &reply), 0);
	assert_true(count_source(&reply, source) > 20);
	jp_namereply_release(&reply);
	jp_strbuf_release(&out);
	sweep(names_job, request);
}

TEST(test_finding)
{
	static uint64_t offsets[most_places];
	int fd = open(stripped, O_RDONLY | O_CLOEXEC);
	struct stat st;
	assert_true(fd >= 0 && !fstat(fd, &st));
	struct jp_name_request request = { .object = { fd, stripped }, .debug.fd = -1, .shared.fd = -1, .image = true };
	for (uint64_t at = 0; at < (uint64_t)st.st_size && request.count < most_places; at += step)
		offsets[request.count++] = at;
	request.offsets = offsets;
	check_names(&request, JPROF_SOURCE_REGISTERED);
	request.packs[0] = (struct jp_open_file){ open_pack(), "shop.jnames" };
	request.pack_count = 1;
	check_names(&request, JPROF_SOURCE_PACK);
	close(request.packs[0].fd);
	close(fd);
}

/* ---- looking for packs ---- */

static int files_job(void *context, struct jp_strbuf *out)
{
	struct jp_packfiles packs = { 0 };
	struct jprof_error err;
	const char *const *where = context;
	int rc = jp_packfiles_add(&packs, where[0], &err);
	assert_true(!rc || rc == JPROF_E_NOMEM);
	if (!rc)
		rc = jp_packfiles_scan(&packs, where[1]);
	for (size_t i = 0; !rc && i < packs.count; i++)
		jp_strbuf_printf(out, "%s %s %s %s\n", packs.items[i].path, packs.items[i].label.soname,
		                 packs.items[i].label.version, packs.items[i].label.source);
	rc = rc || out->failed || packs.refused.failed ? -1 : 0;
	jp_packfiles_release(&packs);
	return rc;
}

TEST(test_looking)
{
	const char *where[] = { SAMPLES "/../packaging/names/libjemalloc_5.3.0-1_debian12_amd64.jnames",
		                SAMPLES "/../packaging/names" };
	sweep(files_job, where);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	with_symbols = argv[1];
	stripped = argv[2];
	return run_listed(NULL, NULL);
}
