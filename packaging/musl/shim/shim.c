/* Stands for the libraries argp, fts and obstack, which musl lacks and elfutils' configure insists on.
 * Nothing that jprof uses comes here: argp serves dwfl_standard_argp() of command line programs, fts the
 * search for kernel modules, obstack the disassembler's generator. */
#include <argp.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>

int argp_parse(void)
{
	abort();
}
void argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state, (void)format, abort();
}
void argp_help(const struct argp *argp, FILE *stream, unsigned flags, char *name)
{
	(void)argp, (void)stream, (void)flags, (void)name, abort();
}
void argp_failure(const struct argp_state *state, int status, int errnum, const char *format, ...)
{
	(void)state, (void)status, (void)errnum, (void)format, abort();
}

FTS *fts_open(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **))
{
	(void)paths, (void)options, (void)compare;
	errno = ENOSYS;
	return NULL;
}
/* fts_open never gives an FTS to call these with. */
FTSENT *fts_read(FTS *fts)
{
	(void)fts, abort();
}
int fts_set(FTS *fts, FTSENT *entry, int action)
{
	(void)fts, (void)entry, (void)action, abort();
}
int fts_close(FTS *fts)
{
	(void)fts, abort();
}

void _obstack_free(void)
{
	abort();
}
