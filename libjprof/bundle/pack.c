/* The headers are those of POSIX ustar; libarchive compresses. */
#include "bundle/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { block = 512 };

struct jp_pack {
	struct archive *archive;
	struct jp_strbuf *out; /* NULL: what comes is not wanted any more */
	bool failed;           /* memory was short for it */
};

/* POSIX.1-1988; numbers are octal digits. */
struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct ustar) == block, "a header is one block");

static la_ssize_t take_packed(struct archive *archive, void *context, const void *data, size_t len)
{
	struct jp_pack *pack = context;
	(void)archive;
	if (pack->out)
		jp_strbuf_add(pack->out, data, len);
	pack->failed = pack->failed || (pack->out && pack->out->failed);
	return (la_ssize_t)len;
}

static int failed(const struct jp_pack *pack, struct jprof_error *err)
{
	const char *why = archive_error_string(pack->archive);
	if (pack->failed || !why || archive_errno(pack->archive) == ENOMEM)
		return jp_error_nomem(err);
	return jp_error(err, JPROF_E_WRITE, NULL, 0, "the bundle cannot be compressed: %s", why);
}

/* Where libarchive was built without zstd it adds a filter that would start a program, and says so by another result
 * than ARCHIVE_OK: such an archive must not be used. */
static int add_filter(struct archive *archive, enum jprof_compression compression)
{
	if (compression != JPROF_COMPRESS_GZIP)
		return archive_write_add_filter_zstd(archive);
	int rc = archive_write_add_filter_gzip(archive);
	return rc == ARCHIVE_OK ? archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) : rc;
}

static int open_stream(struct jp_pack *pack)
{
	struct archive *a = pack->archive;
	struct archive_entry *entry = archive_entry_new();
	if (!entry)
		return ARCHIVE_FATAL;
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_pathname(entry, "data");
	int rc = archive_write_set_format_raw(a);
	if (rc == ARCHIVE_OK)
		rc = archive_write_set_bytes_in_last_block(a, 1);
	if (rc == ARCHIVE_OK)
		rc = archive_write_open(a, pack, NULL, take_packed, NULL);
	if (rc == ARCHIVE_OK)
		rc = archive_write_header(a, entry);
	archive_entry_free(entry);
	return rc;
}

static struct archive *new_archive(enum jprof_compression compression, int *rc)
{
	struct archive *a = archive_write_new();
	*rc = a ? add_filter(a, compression) : ARCHIVE_FATAL;
	if (*rc == ARCHIVE_OK || compression != JPROF_COMPRESS_BEST)
		return a;
	archive_write_free(a);
	return new_archive(JPROF_COMPRESS_GZIP, rc);
}

int jp_pack_open(enum jprof_compression compression, struct jp_strbuf *out, struct jp_pack **result,
                 struct jprof_error *err)
{
	int rc;
	if ((unsigned)compression > JPROF_COMPRESS_GZIP)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "there is no compression %u; jprof.h has those that there are", (unsigned)compression);
	struct jp_pack *pack = calloc(1, sizeof *pack);
	if (!pack)
		return jp_error_nomem(err);
	pack->out = out;
	pack->archive = new_archive(compression, &rc);
	if (!pack->archive)
		rc = jp_error_nomem(err);
	else if (rc != ARCHIVE_OK)
		rc = jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
		              "this libarchive was built without zstd; make the bundle with gzip");
	else if (open_stream(pack) != ARCHIVE_OK)
		rc = failed(pack, err);
	if (rc)
		jp_pack_drop(pack);
	else
		*result = pack;
	return rc;
}

int jp_pack_put(struct jp_pack *pack, const void *data, size_t len, struct jprof_error *err)
{
	const char *from = data;
	while (len) {
		la_ssize_t n = archive_write_data(pack->archive, from, len);
		if (n <= 0 || pack->failed)
			return failed(pack, err);
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

int jp_pack_header(struct jp_pack *pack, const char *name, uint64_t size, struct jprof_error *err)
{
	struct ustar h = { .mode = "0000644", .uid = "0000000", .gid = "0000000", .mtime = "00000000000" };
	const unsigned char *bytes = (const unsigned char *)&h;
	unsigned sum = 0;
	if (size >> 33)
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0, "has more than 8 GB, which a tar cannot hold");
	snprintf(h.name, sizeof h.name, "%s", name);
	snprintf(h.size, sizeof h.size, "%011llo", (unsigned long long)size);
	h.type = '0';
	memcpy(h.magic, "ustar", sizeof h.magic);
	memcpy(h.version, "00", sizeof h.version);
	memset(h.checksum, ' ', sizeof h.checksum);
	for (size_t i = 0; i < sizeof h; i++)
		sum += bytes[i];
	snprintf(h.checksum, sizeof h.checksum, "%06o", sum);
	return jp_pack_put(pack, &h, sizeof h, err);
}

static int put_zeros(struct jp_pack *pack, size_t len, struct jprof_error *err)
{
	static const char zeros[2 * block];
	return jp_pack_put(pack, zeros, len, err);
}

int jp_pack_pad(struct jp_pack *pack, uint64_t size, struct jprof_error *err)
{
	return put_zeros(pack, (block - size % block) % block, err);
}

int jp_pack_end(struct jp_pack *pack, struct jprof_error *err)
{
	return put_zeros(pack, 2 * (size_t)block, err);
}

int jp_pack_close(struct jp_pack *pack, struct jprof_error *err)
{
	int rc = archive_write_close(pack->archive) == ARCHIVE_OK && !pack->failed ? 0 : failed(pack, err);
	jp_pack_drop(pack);
	return rc;
}

/* Freeing an archive that is open writes what is left. (archive_write_fail would leak: libarchive 3.6.) */
void jp_pack_drop(struct jp_pack *pack)
{
	if (!pack)
		return;
	pack->out = NULL;
	archive_write_free(pack->archive);
	free(pack);
}
