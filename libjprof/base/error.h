/* Filling in a struct jprof_error. */
#pragma once

#include "base/macros.h"
#include "jprof.h"

/* Sets *err (which may be NULL) and returns `code`. `path` may be NULL, `line` 0: not known.
 * Texts too long for the struct are cut; what people may not be shown (jprof_visible_len) is \xNN. */
int jp_error(struct jprof_error *err, int code, const char *path, unsigned line, const char *fmt, ...) jp_printf(5, 6);

/* Adds what would help to the error that was just set with this code, which is returned:
 * return jp_advise(err, JPROF_ADVICE_MAPS, jp_error(err, ...)); */
int jp_advise(struct jprof_error *err, enum jprof_advice advice, int code);

/* What object files want, in words; "" for other advice. The way back takes a text that begins so, as bundles have. */
const char *jp_advice_text(enum jprof_advice advice);
enum jprof_advice jp_advice_of(const char *text);

/* 0 if none of these is NULL; else JPROF_E_ARGUMENT, which names the function. For what others call:
 * if (jp_null(err, view, format)) return JPROF_E_ARGUMENT; */
#define jp_null(err, ...) jp_null_of(err, __func__, (const void *const[]){ __VA_ARGS__, jp_no_more })
int jp_null_of(struct jprof_error *err, const char *function, const void *const *given);
extern const char jp_no_more[];

/* The error for memory that could not be had. */
static inline int jp_error_nomem(struct jprof_error *err)
{
	jp_error(err, JPROF_E_NOMEM, NULL, 0, "out of memory");
	return JPROF_E_NOMEM;
}
