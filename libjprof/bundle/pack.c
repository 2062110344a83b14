/* The headers are those of POSIX ustar; zstd or zlib compresses. */
#include "bundle/pack.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"

enum { block = 512, packed_piece = 1 << 16, with_gzip_header = 15 + 16, gzip_memory = 8 };

struct jp_pack {
	struct jp_strbuf *out;
	ZSTD_CCtx *zstd; /* NULL: zlib compresses */
	z_stream z;
};

/* POSIX.1-1988; numbers are octal digits. */
struct ustar {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100];
	char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
};
_Static_assert(sizeof(struct ustar) == block, "a header is one block");

static int open_zstd_stream(struct jp_pack *pack)
{
	pack->zstd = ZSTD_createCCtx();
	return !pack->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(pack->zstd, ZSTD_c_checksumFlag, 1)) ? -1 : 0;
}

int jp_pack_open(enum jprof_compression compression, struct jp_strbuf *out, struct jp_pack **result,
                 struct jprof_error *err)
{
	if ((unsigned)compression > JPROF_COMPRESS_GZIP)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "there is no compression %u; jprof.h has those that there are", (unsigned)compression);
	struct jp_pack *pack = calloc(1, sizeof *pack);
	if (!pack)
		return jp_error_nomem(err);
	pack->out = out;
	/* zlib's own header of gzip has no time. */
	bool good = compression == JPROF_COMPRESS_GZIP
	                ? deflateInit2(&pack->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, with_gzip_header, gzip_memory,
	                               Z_DEFAULT_STRATEGY) == Z_OK
	                : !open_zstd_stream(pack);
	if (!good) {
		jp_pack_drop(pack);
		return jp_error_nomem(err);
	}
	*result = pack;
	return 0;
}

/* Both put all of the input into the stream, and with `end` its end. -1: memory is short, which is all that can fail.
 */
static int put_zstd(struct jp_pack *pack, const void *data, size_t len, bool end)
{
	ZSTD_inBuffer in = { data, len, 0 };
	size_t rest;
	do {
		char made[packed_piece];
		ZSTD_outBuffer to = { made, sizeof made, 0 };
		rest = ZSTD_compressStream2(pack->zstd, &to, &in, end ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(rest))
			return -1;
		jp_strbuf_add(pack->out, made, to.pos);
	} while (in.pos < in.size || (end && rest));
	return pack->out->failed ? -1 : 0;
}

static int put_gzip(struct jp_pack *pack, const void *data, size_t len, bool end)
{
	const unsigned char *from = data;
	int status;
	do {
		unsigned char made[packed_piece];
		uInt n = len < UINT_MAX ? (uInt)len : UINT_MAX;
		pack->z.next_in = (Bytef *)from;
		pack->z.avail_in = n;
		pack->z.next_out = made;
		pack->z.avail_out = sizeof made;
		status = deflate(&pack->z, end && n == len ? Z_FINISH : Z_NO_FLUSH);
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return -1;
		from += n - pack->z.avail_in;
		len -= n - pack->z.avail_in;
		jp_strbuf_add(pack->out, made, sizeof made - pack->z.avail_out);
	} while (len || (end && status != Z_STREAM_END));
	return pack->out->failed ? -1 : 0;
}

static int put_stream(struct jp_pack *pack, const void *data, size_t len, bool end, struct jprof_error *err)
{
	int rc = pack->zstd ? put_zstd(pack, data, len, end) : put_gzip(pack, data, len, end);
	return rc ? jp_error_nomem(err) : 0;
}

int jp_pack_put(struct jp_pack *pack, const void *data, size_t len, struct jprof_error *err)
{
	return len ? put_stream(pack, data, len, false, err) : 0;
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
	int rc = put_stream(pack, "", 0, true, err);
	jp_pack_drop(pack);
	return rc;
}

void jp_pack_drop(struct jp_pack *pack)
{
	if (!pack)
		return;
	ZSTD_freeCCtx(pack->zstd);
	deflateEnd(&pack->z);
	free(pack);
}
