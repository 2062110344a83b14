/* Packs of names for other builds: see jprof_names_learn. */
#include "base/error.h"
#include "base/opts.h"
#include "input/learnnames.h"

static void label(struct jp_namepack *pack, const struct jprof_names_opts *o)
{
	if (o->soname)
		pack->label.soname = o->soname;
	if (o->version)
		pack->label.version = o->version;
	if (o->source)
		pack->label.source = o->source;
	if (o->distribution)
		pack->label.distribution = o->distribution;
}

int jprof_names_learn(const char *path, const char *debug_path, const struct jprof_names_opts *given,
                      jprof_write_fn *write, void *context, struct jprof_error *err)
{
	struct jp_objfile jp_cleanup(jp_objfile_closed) *file = NULL, jp_cleanup(jp_objfile_closed) *debug = NULL;
	struct jp_namepack jp_cleanup(jp_namepack_release) pack = { 0 };
	struct jp_strbuf jp_cleanup(jp_strbuf_release) out = { 0 };
	struct jprof_names_opts opts;
	if (jp_null(err, path) || (!write && jp_null(err, NULL)))
		return JPROF_E_ARGUMENT;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (!rc)
		rc = jp_objfile_open((struct jp_root){ 0 }, path, &file, err);
	if (!rc && debug_path)
		rc = jp_objfile_open((struct jp_root){ 0 }, debug_path, &debug, err);
	if (!rc)
		rc = jp_names_learn(file, debug, opts.finder, &pack, err);
	if (rc)
		return rc;
	label(&pack, &opts);
	if (!*pack.label.soname)
		return jp_error(
		    err, JPROF_E_ARGUMENT, path, 0,
		    "has a soname that cannot be read, by which a pack is found: say what the file is called");
	rc = jp_namepack_write(&pack, &out, err);
	if (!rc && write(context, out.text, out.len))
		rc = jp_error(err, JPROF_E_WRITE, NULL, 0, "the pack cannot be written");
	return rc;
}
