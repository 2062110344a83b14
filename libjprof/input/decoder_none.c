/* A build without a disassembler. */
#include "base/error.h"
#include "input/decoder.h"

int jp_decoder_new(int machine, struct jp_decoder **decoder, struct jprof_error *err)
{
	(void)machine;
	(void)decoder;
	return jp_advise(
	    err, JPROF_ADVICE_FORMAT,
	    jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
	             "disasm is not in this build, which was made without capstone; with libcapstone-dev (Debian) or "
	             "capstone-dev (Alpine): meson setup -Dcapstone=enabled"));
}

int jp_decode(struct jp_decoder *decoder, const unsigned char *code, size_t len, uint64_t vaddr,
              struct jp_decoded *decoded)
{
	(void)decoder;
	(void)code;
	(void)len;
	(void)vaddr;
	*decoded = (struct jp_decoded){ .size = 1 };
	return 0;
}

void jp_decoder_free(struct jp_decoder *decoder)
{
	(void)decoder;
}
