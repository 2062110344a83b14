#include "base/checksum.h"

#include <stdlib.h>

struct summed_source {
	struct jp_bytesource source;
	struct jp_bytesource *of;
	struct jp_checksum *sum;
};

struct jp_checksum jp_checksum_none(void)
{
	return (struct jp_checksum){ 0, UINT64_C(0xcbf29ce484222325) };
}

void jp_checksum_add(struct jp_checksum *sum, const void *data, size_t len)
{
	const unsigned char *bytes = data;
	uint64_t fnv = sum->fnv;
	for (size_t i = 0; i < len; i++)
		fnv = (fnv ^ bytes[i]) * UINT64_C(0x100000001b3);
	sum->fnv = fnv;
	sum->size += len;
}

static int pull_summed(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	struct summed_source *s = (struct summed_source *)source;
	int rc = s->of->pull(s->of, to, room, got, err);
	if (!rc)
		jp_checksum_add(s->sum, to, *got);
	return rc;
}

static void close_summed(struct jp_bytesource *source)
{
	jp_bytesource_close(((struct summed_source *)source)->of);
	free(source);
}

struct jp_bytesource *jp_checksum_source(struct jp_bytesource *of, struct jp_checksum *sum)
{
	struct summed_source *s = malloc(sizeof *s);
	if (!s)
		return NULL;
	*s = (struct summed_source){ { pull_summed, close_summed }, of, sum };
	return &s->source;
}
