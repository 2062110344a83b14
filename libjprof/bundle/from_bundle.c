/* Profiles of a bundle's members: the dump's own profile, with what the bundle knows of its files and addresses. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/jsonin.h"
#include "base/opts.h"
#include "bundle/bundle.h"
#include "bundle/bundled_names.h"
#include "bundle/member_figures.h"
#include "input/dumpopen.h"
#include "input/sniff.h"
#include "input/stream.h"
#include "input/unpack.h"
#include "model/build.h"
#include "model/fileproof.h"
#include "model/identity.h"
#include "model/pairs.h"

static struct jp_span member_file(const struct jp_bundle_member *m, const char *name)
{
	const struct jp_bundle_file *file = jp_bundle_file(m, name);
	return file ? (struct jp_span){ file->data, file->len } : (struct jp_span){ "", 0 };
}

/* ---- build-ids and names ---------------------------------------------------------------------------- */

/* Which process it was. */
static int take_process(struct jprof_profile *p, jp_json *agent)
{
	const char *boot = jp_json_text(agent, "boot_id"), *program = jp_json_text(agent, "program"),
		   *ruby = jp_json_text(jp_json_get(agent, "ruby"), "version");
	const struct jp_process process = { .pid = jp_json_number(agent, "pid"),
		                            .start_ticks = jp_json_number(agent, "start_ticks"),
		                            .boot_id = boot ? boot : "",
		                            .name = "",
		                            .program = program ? program : "",
		                            .title = "",
		                            .role = "",
		                            .ruby = ruby ? ruby : "",
		                            .invoked = program && !strchr(program, '/') ? program : "" };
	return process.pid ? jp_identity_set(p, &process) : 0;
}

/* Why a Ruby's samples have no Ruby stacks, where the dump has no table that tells. */
static int note_no_stacks(struct jprof_profile *p, jp_json *agent)
{
	jp_json *ruby = jp_json_get(agent, "ruby");
	const char *why = jp_json_text(ruby, "stacks_why"), *version = jp_json_text(agent, "version");
	if (!ruby || jp_json_true(ruby, "stacks") || jp_json_text(agent, "table"))
		return 0;
	if (why)
		return jp_note(p, "no Ruby stacks were taken: %s", why);
	return jp_note(p, "no Ruby stacks were taken: agent %s, which made the dump, takes none",
	               version ? version : "?");
}

/* The agent's side-car tells all objects by load address: its paths need not be those of the maps. It has GC.stat,
 * too. */
static int take_member_sidecar(struct jprof_profile *p, struct jp_span text)
{
	struct jprof_json *jp_cleanup(jp_json_release) agent = NULL;
	struct jprof_error err;
	int rc = text.len ? jp_json_parse(text.ptr, text.len, "", &agent, &err) : JPROF_E_FORMAT;
	if (rc)
		return rc == JPROF_E_NOMEM ? -1 : 0;
	jp_figures_of_sidecar(&p->outside, agent);
	int64_t time = jp_json_seconds(agent, "time");
	if (time)
		p->mtime = p->first_mtime = (time_t)time; /* a copy of the dump's file has another one */
	if (take_process(p, agent) || note_no_stacks(p, agent))
		return -1;
	jp_json *objects = jp_json_get(agent, "objects");
	for (size_t i = 0; i < jp_json_length(objects); i++) {
		jp_json *o = jp_json_at(objects, i);
		const char *path = jp_json_text(o, "path"), *id = jp_json_text(o, "build_id");
		uint64_t base;
		if (id && jp_json_hex(o, "base", &base) && base && jp_build_id_at(p, base, id))
			return -1;
		if (id && path && jp_build_id_at_path(p, path, id))
			return -1;
	}
	return 0;
}

int jprof_profile_sidecar(struct jprof_profile *profile, const void *data, size_t len, struct jprof_error *err)
{
	if (jp_null(err, profile) || (len && jp_null(err, data)))
		return JPROF_E_ARGUMENT;
	if (profile->named)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "names were looked for already: give the side-car before jprof_profile_symbolize");
	profile->outside.now.processes = 1;
	if (take_member_sidecar(profile, (struct jp_span){ data, len }))
		return jp_error_nomem(err);
	jp_figures_of_samples(&profile->outside, profile);
	return 0;
}

static int take_build_ids(struct jprof_profile *p, const struct jp_bundle_member *m)
{
	for (size_t i = 0; i < m->id_count; i++)
		if (jp_build_id_at_path(p, m->ids[i].path, m->ids[i].build_id))
			return -1;
	return take_member_sidecar(p, member_file(m, "agent.json"));
}

/* Names that are damaged are as good as none, and a note says so. */
static int take_names(struct jprof_profile *p, const struct jp_bundle_member *m, const char *name)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) pprof = { 0 };
	struct jp_span packed = member_file(m, "symbols.pb.gz");
	struct jprof_error damage = { 0 }, err;
	if (!packed.len)
		return 0;
	int rc = jp_unpack(packed.ptr, packed.len, name, &jp_unpack_default, &pprof, &damage, &err);
	if (rc == JPROF_E_NOMEM)
		return -1;
	if (rc || damage.code)
		return jp_note(p, "%s: its symbols.pb.gz %s; names are looked for in files", name,
		               rc ? err.text : damage.text);
	return jp_names_take(p, (struct jp_span){ pprof.text, pprof.len }, member_file(m, "symbols.json"));
}

/* ---- one member ----------------------------------------------------------------------------------------- */

/* Messages name the member: FILE:NAME. */
static char *member_title(const struct jprof_bundle *b, const struct jp_bundle_member *m)
{
	char *name;
	return asprintf(&name, "%s:%s", b->name, m->pub.name) < 0 ? NULL : name;
}

/* NAME/maps help where the dump was cut before its own: those are of the same moment. */
static int with_maps(const struct jp_bundle_member *m, struct jprof_maps **maps, struct jprof_profile_opts *opts)
{
	struct jp_span text = member_file(m, "maps");
	struct jprof_error err;
	int rc = text.len && !opts->maps ? jprof_maps_parse(text.ptr, text.len, "maps", maps, &err) : 0;
	opts->maps = opts->maps ? opts->maps : *maps;
	return rc == JPROF_E_NOMEM ? rc : 0;
}

static int from_text(const struct jp_bundle_member *m, struct jp_stream *stream, struct jprof_profile_opts opts,
                     struct jprof_profile **profile, struct jprof_error *err)
{
	struct jprof_dump *dump;
	struct jprof_profile *made = NULL;
	struct jprof_maps *maps = NULL;
	const struct jp_bundle_file *frames = jp_bundle_file(m, "frames");
	const struct jp_table_text table = { .bytes = { frames ? frames->data : NULL, frames ? frames->len : 0 },
		                             .name = stream->name,
		                             .earlier = opts.samples == JPROF_SAMPLES_UNREACHABLE };
	int rc = jp_dump_read(stream, &table, &dump, err);
	if (rc)
		return rc;
	if (!dump->maps && with_maps(m, &maps, &opts))
		rc = jp_error_nomem(err);
	if (!rc)
		rc = jp_profile_from_dump(dump, dump, &opts, &made, err);
	bool failed = !rc && jp_note_warnings(made, dump, &opts);
	jprof_maps_free(maps);
	jprof_dump_free(dump);
	if (!rc && (failed || take_build_ids(made, m) || take_names(made, m, stream->name))) {
		jprof_profile_free(made);
		rc = jp_error_nomem(err);
	}
	if (!rc)
		*profile = made;
	return rc;
}

static int without_dump(const char *name, struct jprof_profile **profile, struct jprof_error *err)
{
	struct jprof_profile *made = jp_profile_empty();
	if (!made || jp_profile_set_input(made, name)) {
		jprof_profile_free(made);
		return jp_error_nomem(err);
	}
	made->info.inputs = 1;
	*profile = made;
	return 0;
}

static int from_member(const struct jp_bundle_member *m, const char *name, const struct jprof_profile_opts *opts,
                       struct jprof_profile **profile, struct jprof_error *err)
{
	struct jp_stream jp_cleanup(jp_stream_release) stream;
	bool unreachable = opts->samples == JPROF_SAMPLES_UNREACHABLE;
	const char *dump = unreachable ? "unreachable.heap" : "dump.heap";
	struct jp_span data = member_file(m, dump), all;
	int rc = jp_stream_memory(&stream, data.ptr, data.len, name, err);
	if (rc)
		return rc;
	if (!jp_bundle_file(m, dump))
		return without_dump(name, profile, err);
	data = jp_stream_head(&stream);
	enum jp_format format = jp_sniff(data.ptr, data.len);
	if (format == JP_FORMAT_BUNDLE)
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0, "is a bundle inside a bundle; take it out first");
	struct jprof_profile_opts of_text = *opts;
	if (unreachable)
		of_text.heap = JPROF_HEAP_MALLOC; /* the table's samples of objects are of all that live */
	if (format != JP_FORMAT_PPROF)
		return from_text(m, &stream, of_text, profile, err);
	rc = jp_stream_whole(&stream, &all, err);
	return rc ? rc : jp_profile_from_pprof(all.ptr, all.len, name, &stream.damage, opts, profile, err);
}

/* What a master has is what its workers began with, at most. */
static void take_role(struct jp_figures *figures, const char *role)
{
	if (!strcmp(role, "master"))
		figures->master = figures->of[JPROF_FIGURE_RSS_ANON];
	else if (!strcmp(role, "worker"))
		figures->worker_shared = figures->of[JPROF_FIGURE_SHARED];
}

/* What /proc says is of when the bundle was made. The dump is of that moment only where the agent made it for the
 * bundle, which its side-car shows, or it was read in the memory; one of a program's own handler may be older. And more
 * than is there cannot be compared with it: malloc gave memory that was not touched yet, or that was swapped out. 0, or
 * -1 when memory is short. */
static int take_figures(struct jprof_profile *profile, const struct jp_bundle_member *m)
{
	struct jp_outside of_proc = { 0 };
	struct jprof_range range;
	char ruby[8];
	const char *asked = profile->outside.now.figures.settings.ruby;
	bool known =
	    jp_ruby_version_of(profile, ruby) || (!jp_bundle_file(m, "dump.heap") && jp_ruby_version_mapped(m, ruby));
	if (jp_figures_of_member(&of_proc, m, known ? ruby : *asked ? asked : NULL))
		return -1;
	jprof_profile_range(profile, JPROF_INUSE_SPACE, &range);
	double total = jprof_profile_total(profile, JPROF_INUSE_SPACE);
	double least = isnan(range.error) ? total : total - range.error;
	if (!jp_bundle_file(m, "agent.json") && !jp_bundle_file(m, "heap.json"))
		of_proc.now.rss_anon = of_proc.now.pss = (struct jp_known_sum){ 0 };
	if (of_proc.now.rss_anon.bytes < least)
		of_proc.now.rss_anon = (struct jp_known_sum){ 0 };
	take_role(&of_proc.now.figures, m->pub.role);
	jp_outside_add(&profile->outside, &of_proc, 1);
	jp_bound_vm_stacks(&profile->outside.now.figures, m);
	jp_figures_of_samples(&profile->outside, profile);
	return 0;
}

struct jp_process jp_process_of_member(const struct jprof_bundle_member *m)
{
	return (struct jp_process){ .pid = m->pid,
		                    .start_ticks = m->start_ticks,
		                    .boot_id = m->boot_id,
		                    .name = m->name,
		                    .program = m->program,
		                    .title = m->title,
		                    .role = m->role,
		                    .ruby = "",
		                    .invoked = "" };
}

static int note_member(struct jprof_profile *profile, const struct jp_bundle_member *m)
{
	const struct jprof_bundle_member *pub = &m->pub;
	struct jp_process process = jp_process_of_member(pub);
	if (jp_identity_set(profile, &process) || take_figures(profile, m))
		return -1;
	profile->identities[0].rss = profile->outside.now.figures.of[JPROF_FIGURE_RSS].bytes;
	int64_t time = pub->time ? pub->time : m->dump_mtime;
	if (time)
		profile->mtime = profile->first_mtime = (time_t)time;
	int n = *pub->role ? asprintf(&profile->members, "%s (%s)", pub->name, pub->role)
	                   : asprintf(&profile->members, "%s", pub->name);
	if (n < 0)
		profile->members = NULL;
	profile->info.members = profile->members;
	return n < 0 ? -1 : 0;
}

int jprof_bundle_profile(const struct jprof_bundle *bundle, size_t i, const struct jprof_profile_opts *given,
                         struct jprof_profile **profile, struct jprof_error *err)
{
	if (jp_null(err, bundle, profile))
		return JPROF_E_ARGUMENT;
	struct jprof_profile_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	if (i >= bundle->count)
		return jp_error(err, JPROF_E_MEMBER, bundle->name, 0, "has %zu members, and none of number %zu",
		                bundle->count, i);
	opts.size = sizeof opts;
	const struct jp_bundle_member *m = &bundle->members[i];
	struct jprof_profile *made;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) worker = { 0 };
	const struct jp_process process = jp_process_of_member(&m->pub);
	if (opts.worker && !strcmp(opts.worker, "*")) {
		jp_put_process_place(&worker, &process);
		opts.worker = worker.len ? worker.text : NULL;
	}
	char *name = worker.failed ? NULL : member_title(bundle, m);
	rc = name ? from_member(m, name, &opts, &made, err) : jp_error_nomem(err);
	free(name);
	if (!rc && note_member(made, m)) {
		jprof_profile_free(made);
		rc = jp_error_nomem(err);
	}
	if (!rc)
		*profile = made;
	return rc;
}

/* ---- all that are asked for -------------------------------------------------------------------------------- */

static int add_member_name(struct jprof_profile *sum, const char *name)
{
	char *both;
	if (asprintf(&both, "%s, %s", sum->members, name) < 0)
		return -1;
	free(sum->members);
	sum->members = both;
	sum->info.members = both;
	return 0;
}

/* Adds a profile, which is freed, to the sum, which it becomes if there is none. */
static int add_member_to_sum(struct jprof_profile **sum, struct jprof_profile *profile, struct jprof_error *err)
{
	if (!*sum) {
		*sum = profile;
		return 0;
	}
	int rc = jprof_profile_add(*sum, profile, err);
	if (!rc && add_member_name(*sum, profile->members))
		rc = jp_error_nomem(err);
	jprof_profile_free(profile);
	return rc;
}

int jp_no_member(const struct jprof_bundle *b, const char *wanted, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) list = { 0 };
	enum { most_named = 8 };
	for (size_t i = 0; i < b->count && i < most_named; i++) {
		const struct jprof_bundle_member *m = &b->members[i].pub;
		jp_strbuf_printf(&list, "%s%s%s%s%s", i ? ", " : "", m->name, *m->role ? " (" : "", m->role,
		                 *m->role ? ")" : "");
	}
	if (list.failed)
		return jp_error_nomem(err);
	return jp_error(err, JPROF_E_MEMBER, b->name, 0, "has no member %s; it has %s%s", wanted, list.text,
	                b->count > most_named ? " ..." : "");
}

/* A thread that only some of the members have is one. */
int jp_profile_from_bundle(const struct jprof_bundle *b, const struct jprof_profile_opts *opts,
                           struct jprof_profile **out, struct jprof_error *err)
{
	struct jprof_profile *sum = NULL, *one;
	struct jprof_error fault = { 0 };
	size_t i = jprof_bundle_find(b, opts->member, 0);
	int rc = i < b->count ? 0 : jp_no_member(b, opts->member, err);
	for (; !rc && i < b->count; i = jprof_bundle_find(b, opts->member, i + 1)) {
		rc = jprof_bundle_profile(b, i, opts, &one, &fault);
		if (!rc)
			rc = add_member_to_sum(&sum, one, &fault);
		if (rc == JPROF_E_ARGUMENT && opts->thread)
			rc = 0;
	}
	if (!rc && !sum)
		rc = JPROF_E_ARGUMENT;
	if (!rc && b->warning.code && jp_note_error(sum, &b->warning))
		rc = jp_error_nomem(&fault);
	if (rc)
		jprof_profile_free(sum);
	else
		*out = sum;
	if (rc && fault.code && err)
		*err = fault;
	return rc;
}
