/* A profile of any file: which format it is decides who reads it. */
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/opts.h"
#include "bundle/bundle.h"
#include "input/dumpopen.h"
#include "input/sniff.h"
#include "input/unpack.h"
#include "model/build.h"

static int parse_dump(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                      const struct jprof_profile_opts *opts, struct jprof_profile **profile, struct jprof_error *err)
{
	struct jprof_dump *dump;
	int rc = jp_dump_parse(data, len, name, damage, &dump, err);
	if (rc)
		return rc;
	rc = jp_profile_from_dump(dump, opts, profile, err);
	jprof_dump_free(dump);
	return rc;
}

static int parse_bundle(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                        const struct jprof_profile_opts *opts, struct jprof_profile **profile, struct jprof_error *err)
{
	struct jprof_bundle *bundle;
	int rc = jp_bundle_parse(data, len, name, damage, &bundle, err);
	if (rc)
		return rc;
	rc = jp_profile_from_bundle(bundle, opts, profile, err);
	jprof_bundle_free(bundle);
	return rc;
}

static int parse(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                 const struct jprof_profile_opts *opts, struct jprof_profile **profile, struct jprof_error *err)
{
	switch (jp_sniff(data, len)) {
	case JP_FORMAT_BUNDLE: return parse_bundle(data, len, name, damage, opts, profile, err);
	case JP_FORMAT_PPROF: return jp_profile_from_pprof(data, len, name, damage, opts, profile, err);
	default: return parse_dump(data, len, name, damage, opts, profile, err);
	}
}

int jprof_profile_parse(const void *data, size_t len, const char *name, const struct jprof_profile_opts *given,
                        struct jprof_profile **profile, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) unpacked = { 0 };
	struct jprof_error damage = { 0 };
	struct jprof_profile_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	opts.size = sizeof opts;
	name = name ? name : "";
	if (!jp_is_packed(data, len))
		return parse(data, len, name, NULL, &opts, profile, err);
	rc = jp_unpack(data, len, name, &jp_unpack_default, &unpacked, &damage, err);
	if (!rc && damage.code && !unpacked.len)
		rc = jp_error(err, JPROF_E_FORMAT, name, 0,
		              "the compressed data is cut or damaged from its start on; copy it again");
	return rc ? rc : parse(unpacked.text, unpacked.len, name, &damage, &opts, profile, err);
}

int jprof_profile_open(const char *path, const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                       struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct stat st;
	int rc = jp_file_read(path, &text, &st, err);
	if (!rc)
		rc = jprof_profile_parse(text.text, text.len, strcmp(path, "-") ? path : "<stdin>", opts, profile, err);
	if (!rc && S_ISREG(st.st_mode) && !(*profile)->mtime)
		(*profile)->mtime = st.st_mtime;
	return rc;
}
