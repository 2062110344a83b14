#include "cli/trust.h"

#include <stdlib.h>

#include "base/ours.h"
#include "cli/shortage.h"

char *trusted_path(const char *path)
{
	char *real = shortage_note(realpath(path, NULL));
	if (real && jp_path_is_ours(real, &(struct stat){ 0 }))
		return real;
	free(real);
	return NULL;
}
