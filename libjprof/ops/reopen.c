#include "ops/reopen.h"

#include "base/error.h"

static struct jp_file_mark mark_of(const struct jp_objfile *file)
{
	const struct stat *st = &file->st;
	return (struct jp_file_mark){ st->st_dev, st->st_ino, (uint64_t)st->st_size, st->st_mtim.tv_sec,
		                      st->st_mtim.tv_nsec };
}

static bool is_same(const struct jp_file_mark *a, const struct jp_file_mark *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->size == b->size && a->seconds == b->seconds &&
	       a->nanoseconds == b->nanoseconds;
}

static int remember(struct jprof_profile *p, const char *text, uint32_t *id)
{
	*id = text ? jp_intern_str(&p->strings, text) : JP_NONE;
	return text && *id == JP_NONE ? -1 : 0;
}

int jp_remember_file(struct jprof_profile *p, uint32_t object, const struct jp_objfile *file)
{
	struct jp_object *o = &p->objects[object];
	if (file->root.opener)
		return 0;
	o->file_mark = mark_of(file);
	return remember(p, file->path, &o->file) || remember(p, file->root.path, &o->file_root) ? -1 : 0;
}

int jp_remember_where(struct jprof_profile *p, const struct jp_debug_where *where)
{
	return remember(p, where->root.path, &p->debug_root) || remember(p, where->dirs, &p->debug_dirs) ||
	               remember(p, where->files, &p->debug_files)
	           ? -1
	           : 0;
}

static const char *string_or_null(const struct jp_code *code, uint32_t id)
{
	return id == JP_NONE ? NULL : jp_code_string(code, id);
}

struct jp_debug_where jp_where_remembered(const struct jp_code *code)
{
	return (struct jp_debug_where){ .root = { .path = string_or_null(code, code->debug_root) },
		                        .dirs = string_or_null(code, code->debug_dirs),
		                        .files = string_or_null(code, code->debug_files) };
}

/* Why there is no file. */
static int refuse(const struct jp_code *code, const struct jp_object *o, struct jprof_error *err)
{
	const char *path = jp_code_string(code, o->path), *reason = jp_code_string(code, o->reason);
	if (o->proof == JPROF_PROOF_INPUT)
		return jp_error(
		    err, JPROF_E_UNSUPPORTED, path, 0,
		    "was not needed for names, which came with the profile, and nothing proves that the file "
		    "here is the one that ran; give the heap dump itself");
	if (o->bundled)
		return jp_advise(
		    err, JPROF_ADVICE_FILE,
		    jp_error(
			err, JPROF_E_UNSUPPORTED, path, 0,
			"the bundle has its names, not its code, and the file that ran is not found here; give it"));
	return jp_advise(err, JPROF_ADVICE_FILE,
	                 jp_error(err, JPROF_E_UNSUPPORTED, *path ? path : NULL, 0,
	                          "%s, so there is no code to show; give the file that ran",
	                          *reason ? reason : "its code lies in no file"));
}

int jp_reopen(const struct jp_code *code, uint32_t object, struct jp_objfile **file, struct jprof_error *err)
{
	const struct jp_object *o = &code->objects[object];
	if (o->file == JP_NONE)
		return refuse(code, o, err);
	int rc = jp_objfile_open((struct jp_root){ .path = string_or_null(code, o->file_root) },
	                         jp_code_string(code, o->file), file, err);
	if (rc)
		return rc;
	struct jp_file_mark now = mark_of(*file);
	if (is_same(&now, &o->file_mark))
		return 0;
	jp_objfile_close(*file);
	return jp_advise(err, JPROF_ADVICE_AGAIN,
	                 jp_error(err, JPROF_E_UNSUPPORTED, jp_code_string(code, o->file), 0,
	                          "was replaced after its names were read"));
}
