/* It is loaded when code is to be read, for it weighs more than all else that jprof links. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "input/capstonelib.h"

/* Its file name ends in the number of its API. */
#define CAPSTONE_TEXT(number) #number
#define CAPSTONE_NUMBER(number) CAPSTONE_TEXT(number)
#define CAPSTONE_SONAME "libcapstone.so." CAPSTONE_NUMBER(CS_API_MAJOR)
#define CAPSTONE_PACKAGES "libcapstone" CAPSTONE_NUMBER(CS_API_MAJOR) " (Debian) or capstone (Alpine)"

int jp_capstone_load(struct jp_capstone *c, struct jprof_error *err)
{
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "cs_open", &c->open },     { "cs_option", &c->option },
		{ "cs_malloc", &c->malloc }, { "cs_disasm_iter", &c->disasm_iter },
		{ "cs_free", &c->free },     { "cs_close", &c->close },
	};
	errno = 0;
	void *symbol = c->library = dlopen(CAPSTONE_SONAME, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; symbol && i < jp_count(wanted); i++) {
		symbol = dlsym(c->library, wanted[i].name);
		memcpy(wanted[i].function, &symbol, sizeof symbol);
	}
	if (symbol)
		return 0;
	if (errno == ENOMEM)
		return jp_error_nomem(err);
	return jp_advise(err, JPROF_ADVICE_FORMAT,
	                 jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
	                          "disasm needs capstone: %.300s; install " CAPSTONE_PACKAGES, dlerror()));
}

void jp_capstone_unload(struct jp_capstone *c)
{
	if (c->library)
		dlclose(c->library);
}
