/* Target: bundles. What is read has members with a dump, and can be asked for; no file is opened
 * that it names. */
#include <string.h>

#include "bundle/bundle.h"
#include "fuzz.h"

static void ask(const struct jprof_bundle *b, size_t i)
{
	const struct jprof_bundle_member *m = jprof_bundle_member(b, i);
	const char *const texts[] = { m->name, m->boot_id, m->program, m->title, m->role, m->label };
	struct jprof_profile *p;
	struct jprof_error err = { 0 };
	size_t len;
	for (size_t t = 0; t < jp_count(texts); t++)
		must(texts[t]);
	const char *dump = jprof_bundle_file(b, i, "dump.heap", &len);
	must(dump && !dump[len]);
	must(jprof_bundle_find(b, m->name, 0) <= i);
	int rc = jprof_bundle_profile(b, i, NULL, &p, &err);
	must(!rc || (*err.text && !strchr(err.text, '\n')));
	if (rc)
		return;
	const struct jprof_symbolize_opts nowhere = { .size = sizeof nowhere, .sysroot = "/proc/self/fdinfo" };
	must(!jprof_profile_symbolize(p, &nowhere, NULL));
	const struct jprof_view_opts opts = { .size = sizeof opts, .fold = JPROF_FOLD_VM };
	struct jprof_view *view;
	must(!jprof_view_new(p, &opts, &view, NULL));
	jprof_view_free(view);
	jprof_profile_free(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jprof_bundle *b;
	struct jprof_profile *p;
	struct jprof_error err = { 0 };
	int rc = jprof_bundle_parse(data, size, "fuzz", &b, &err);
	must(!rc || (*err.text && !strchr(err.text, '\n')));
	if (rc)
		return 0;
	must(jprof_bundle_count(b) > 0);
	for (size_t i = 0; i < jprof_bundle_count(b); i++)
		ask(b, i);
	jprof_bundle_free(b);
	const struct jprof_profile_opts dumpless = { .size = sizeof dumpless, .dumpless = size % 2 };
	if (!jprof_profile_parse(data, size, "fuzz", &dumpless, &p, &err))
		jprof_profile_free(p);
	return 0;
}
