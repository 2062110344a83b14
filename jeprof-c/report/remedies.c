#include "report/remedies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "report/packages.h"

enum { remedy_most = 1024 };

struct remedies {
	const struct jprof_coverage *coverage;
	size_t count;
	struct packaged *packaged;
	char (*texts)[remedy_most];
	char *command;
};

/* Whether what lies at the file's path is the file that ran. A dump has no build-ids; there the library looked for the
 * file, and its build-id is that of what was found. */
static bool is_here(const struct jprof_coverage_file *f, const char *root)
{
	struct jprof_binary *binary;
	if (!*f->build_id || shortage_note_code(jprof_binary_open(*root ? root : NULL, f->path, &binary, NULL)))
		return false;
	bool same = !strcmp(jprof_binary_info(binary)->build_id, f->build_id);
	jprof_binary_free(binary);
	return same;
}

static bool is_stripped(const struct jprof_coverage_file *f)
{
	return f->advised == JPROF_ADVICE_SYMBOLS && *f->build_id;
}

static void write_remedy(const struct jprof_coverage_file *f, const struct packaged *package, char text[remedy_most])
{
	const char *after = *f->reason ? "; " : "";
	if (package->tool)
		snprintf(text, remedy_most, "%s%sstripped: %s %s%s, build-id %s", f->reason, after, package->tool,
		         package->symbols, f->proof == JPROF_PROOF_UNVERIFIED ? " (if this is the file that ran)" : "",
		         f->build_id);
	else if (is_stripped(f))
		snprintf(text, remedy_most,
		         "%s%sstripped, of no package here; --debuginfod asks $DEBUGINFOD_URLS for build-id %s",
		         f->reason, after, f->build_id);
	else
		snprintf(text, remedy_most, "%s%s%s%s", f->reason, *f->advice ? after : "", f->advice,
		         advice_after(f->advised));
}

/* "apt install A B C": of files of two systems, which a sysroot may be, those of the first. */
static char *join_command(const struct remedies *r)
{
	struct jp_strbuf text = { 0 };
	const char *tool = NULL;
	for (size_t i = 0; i < r->count; i++) {
		const struct packaged *p = &r->packaged[i];
		bool again = !p->tool || (tool && p->tool != tool);
		for (size_t k = 0; !again && k < i; k++)
			again = r->packaged[k].tool && !strcmp(r->packaged[k].symbols, p->symbols);
		if (again)
			continue;
		jp_strbuf_printf(&text, "%s %s", tool ? "" : p->tool, p->symbols);
		tool = p->tool;
	}
	return shortage_take(&text);
}

struct remedies *remedies_new(const struct jprof_coverage *c, const struct options *o)
{
	struct remedies *r = shortage_note(calloc(1, sizeof *r));
	const char *root = o->sysroot ? o->sysroot : "";
	if (!r)
		return NULL;
	r->coverage = c;
	r->count = jprof_coverage_count(c);
	r->packaged = shortage_note(calloc(r->count + 1, sizeof *r->packaged));
	r->texts = shortage_note(calloc(r->count + 1, sizeof *r->texts));
	for (size_t i = 0; r->packaged && i < r->count; i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(c, i);
		r->packaged[i].path = is_stripped(f) && is_here(f, root) ? f->path : NULL;
	}
	if (r->packaged && r->texts) {
		packages_find(root, r->packaged, r->count);
		for (size_t i = 0; i < r->count; i++)
			write_remedy(jprof_coverage_at(c, i), &r->packaged[i], r->texts[i]);
		r->command = join_command(r);
	}
	if (!r->command || shortage_noted()) {
		remedies_free(r);
		return NULL;
	}
	return r;
}

const char *remedy_of(const struct remedies *r, size_t i)
{
	return r->texts[i];
}

enum remedy_kind remedy_kind(const struct remedies *r, size_t i)
{
	if (r->packaged[i].tool)
		return REMEDY_PACKAGE;
	return is_stripped(jprof_coverage_at(r->coverage, i)) ? REMEDY_SERVER : REMEDY_OTHER;
}

bool remedies_alike(const struct remedies *r, size_t i, size_t k)
{
	enum remedy_kind kind = remedy_kind(r, i);
	return kind == remedy_kind(r, k) && (kind == REMEDY_SERVER || !strcmp(r->texts[i], r->texts[k]));
}

bool remedy_for_file(const struct jprof_coverage_file *f, const struct options *o, char *command, size_t size)
{
	const char *root = o->sysroot ? o->sysroot : "";
	struct packaged package = { .path = is_stripped(f) && is_here(f, root) ? f->path : NULL };
	packages_find(root, &package, 1);
	if (package.tool)
		snprintf(command, size, "%s %s", package.tool, package.symbols);
	return package.tool;
}

const char *remedy_command(const struct remedies *r)
{
	return r->command;
}

void remedies_free(struct remedies *r)
{
	if (!r)
		return;
	free(r->packaged);
	free(r->texts);
	free(r->command);
	free(r);
}
