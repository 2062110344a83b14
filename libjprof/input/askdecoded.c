#include "input/askdecoded.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/reader.h"
#include "input/callsite.h"
#include "input/decoder.h"
#include "input/finder.h"

/* In one answer: it has less than 8 MB. */
enum { most_decoded = 32 << 10 };

/* ---- who answers ------------------------------------------------------------------------------------------- */

static void free_decoder(struct jp_decoder **decoder)
{
	jp_decoder_free(*decoder);
}

static int put_decoded(struct jp_decoder *decoder, const unsigned char *code, size_t len, uint64_t vaddr,
                       struct jp_strbuf *out)
{
	struct jp_decoded one;
	for (size_t at = 0, i = 0; at < len && i < most_decoded; at += one.size, i++) {
		if (jp_decode(decoder, code + at, len - at, vaddr + at, &one))
			return JPROF_E_NOMEM;
		jp_strbuf_uint(out, one.size, 1);
		jp_strbuf_uint(out, one.target, 8);
		jp_strbuf_add(out, one.text, strlen(one.text) + 1);
	}
	return out->failed ? JPROF_E_NOMEM : 0;
}

int jp_decode_answer(const struct jp_name_request *request, struct jp_strbuf *out)
{
	enum { most_bytes = most_decoded * jp_longest_instruction };
	struct jp_objfile jp_cleanup(jp_objfile_closed) *file = NULL;
	struct jp_decoder jp_cleanup(free_decoder) *decoder = NULL;
	if (request->count != 2)
		return JPROF_E_IO;
	int rc = jp_objfile_borrow(request->object.fd, request->object.path, &file, NULL);
	if (rc)
		return rc == JPROF_E_NOMEM ? rc : JPROF_E_IO;
	rc = jp_decoder_new(jp_machine_of(file), &decoder, NULL);
	uint64_t start = request->offsets[0], len = request->offsets[1] - start;
	unsigned char *code = rc ? NULL : malloc(most_bytes);
	len = len < most_bytes ? len : most_bytes;
	if (!rc && !code)
		rc = JPROF_E_NOMEM;
	if (!rc && len && jp_read_code(file, start, code, (size_t)len))
		rc = put_decoded(decoder, code, (size_t)len, start, out);
	free(code);
	return rc;
}

/* ---- who asks ---------------------------------------------------------------------------------------------- */

static int ask_some(const struct jprof_name_finder *finder, const struct jp_name_request *request, void **answer,
                    size_t *len, struct jprof_error *err)
{
	struct jp_strbuf out = { 0 };
	if (finder)
		return jp_finder_find(finder, request, answer, len, err);
	int rc = jp_decode_answer(request, &out);
	*answer = out.text;
	*len = out.len;
	return rc;
}

/* *vaddr goes on by what was read; no instruction reaches beyond the end. JPROF_E_FORMAT, JPROF_E_NOMEM. */
static int read_decoded(const void *answer, size_t len, uint64_t end, struct jp_arena *arena, uint64_t *vaddr,
                        struct jp_instructions *to)
{
	struct jp_bytes bytes = { .data = answer, .len = len };
	while (bytes.pos < bytes.len) {
		struct jp_instruction one = { .vaddr = *vaddr, .size = (unsigned)jp_bytes_uint(&bytes, 1) };
		one.target = jp_bytes_uint(&bytes, 8);
		const char *text = jp_bytes_cstr(&bytes);
		if (!text || !one.size || one.size > end - *vaddr)
			return JPROF_E_FORMAT;
		one.text = jp_arena_dup(arena, text, strlen(text));
		if (!one.text || jp_array_push(to->items, to->count, to->cap))
			return JPROF_E_NOMEM;
		to->items[to->count++] = one;
		*vaddr += one.size;
	}
	return 0;
}

int jp_ask_decoded(const struct jp_objfile *file, const struct jprof_name_finder *finder, uint64_t start, uint64_t end,
                   struct jp_arena *arena, struct jp_instructions *instructions, struct jprof_error *err)
{
	/* A process that is forked from now on has what decodes. */
	struct jp_decoder jp_cleanup(free_decoder) *decoder = NULL;
	uint64_t offsets[] = { start, end };
	const struct jp_name_request request = { .object = { file->fd, file->path },
		                                 .debug = { .fd = -1 },
		                                 .shared = { .fd = -1 },
		                                 .offsets = offsets,
		                                 .count = 2,
		                                 .image = true,
		                                 .decode = true };
	int rc = jp_decoder_new(jp_machine_of(file), &decoder, err);
	for (bool more = true; !rc && more && offsets[0] < end;) {
		struct jprof_error why = { 0 };
		void *answer = NULL;
		size_t len = 0;
		rc = ask_some(finder, &request, &answer, &len, &why);
		if (!rc)
			rc = read_decoded(answer, len, end, arena, &offsets[0], instructions);
		free(answer);
		more = len;
		if (rc == JPROF_E_NOMEM)
			jp_error_nomem(err);
		else if (rc)
			rc = jp_error(err, JPROF_E_UNSUPPORTED, file->path, 0, "%s",
			              rc == JPROF_E_FORMAT ? "the answer to the question for its code is damaged"
			                                   : why.text);
	}
	return rc;
}
