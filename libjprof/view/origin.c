#include "view/origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "model/gems.h"
#include "model/rubyframes.h"

/* How well memory may be said to be allocated at a frame: the innermost of the highest is it. */
enum { SITE_NONE, SITE_METHOD, SITE_FILE, SITE_LOADER, SITE_CODE };

/* ---- paths ------------------------------------------------------------------------------------------------ */

/* What the part of a path is that follows a word of the table. */
enum part {
	PART_ANY,
	PART_GEM,     /* NAME-VERSION or NAME-VERSION-PLATFORM, a directory */
	PART_COMMIT,  /* NAME-SHA, likewise */
	PART_BUILT,   /* PLATFORM/API, two directories, then one of the two above: what RubyGems compiled */
	PART_VERSION, /* 3.1.0, a directory: of a Ruby's API */
	PART_NAME,    /* NAME.rb, or a directory NAME, of a gem whose version is not in its path */
};

/* The first row that a path has decides; none: it is the application's. */
static const struct path_rule {
	const char *word;
	enum part then;
	enum jprof_origin origin;
} rules[] = {
	{ "<internal:", PART_ANY, JPROF_ORIGIN_VM }, /* Ruby's own methods that are written in Ruby */
	{ "/extensions/", PART_BUILT, JPROF_ORIGIN_GEM },
	{ "/bundler/gems/", PART_COMMIT, JPROF_ORIGIN_GEM },        /* of a git repository, by Bundler */
	{ "/gems/", PART_GEM, JPROF_ORIGIN_GEM },                   /* also /usr/share/rubygems-integration/all/gems */
	{ "/vendor_ruby/rubygems", PART_ANY, JPROF_ORIGIN_STDLIB }, /* Debian's, which are Ruby's own */
	{ "/vendor_ruby/bundler", PART_ANY, JPROF_ORIGIN_STDLIB },
	{ "/site_ruby/", PART_VERSION, JPROF_ORIGIN_STDLIB }, /* a RubyGems that was updated */
	{ "/vendor_ruby/", PART_NAME, JPROF_ORIGIN_GEM },     /* Debian's packages of gems */
	{ "/site_ruby/", PART_NAME, JPROF_ORIGIN_GEM },
	{ "/ruby/", PART_VERSION, JPROF_ORIGIN_STDLIB }, /* /usr/lib/ruby/3.1.0, /usr/local/lib/ruby/3.3.0 */
};

static bool is_version(struct jp_span s)
{
	size_t dots = 0;
	for (size_t i = 0; i < s.len; i++) {
		if (!isdigit((unsigned char)s.ptr[i]) && s.ptr[i] != '.')
			return false;
		dots += s.ptr[i] == '.';
	}
	return dots == 2;
}

/* Where the version begins: the last -DIGIT that is a version with a point, else the first. */
static size_t gem_version_at(struct jp_span s)
{
	size_t found = s.len;
	for (size_t i = 1; i + 1 < s.len; i++) {
		size_t len = 1;
		if (s.ptr[i] != '-' || !isdigit((unsigned char)s.ptr[i + 1]))
			continue;
		while (i + len < s.len && s.ptr[i + len] != '-')
			len++;
		if (found == s.len || memchr(s.ptr + i, '.', len))
			found = i;
	}
	return found;
}

static size_t commit_at(struct jp_span s)
{
	size_t digits = 0;
	while (digits < s.len && isxdigit((unsigned char)s.ptr[s.len - 1 - digits]))
		digits++;
	return digits >= 7 && digits + 1 < s.len && s.ptr[s.len - 1 - digits] == '-' ? s.len - 1 - digits : s.len;
}

/* What follows PLATFORM/API/; NULL: they are not there. */
static const char *behind_built(const char *after)
{
	const char *api = strchr(after, '/'), *gem = api ? strchr(api + 1, '/') : NULL;
	return gem && isdigit((unsigned char)api[1]) ? gem + 1 : NULL;
}

/* Whether what stands behind the word is what the rule wants; then *o is filled in. */
static bool take_part(enum part then, const char *after, struct jp_path_origin *o)
{
	if (then == PART_BUILT) {
		const char *gem = behind_built(after);
		size_t len = gem ? strcspn(gem, "/") : 0;
		bool commit = commit_at((struct jp_span){ gem, len }) < len;
		return gem && take_part(commit ? PART_COMMIT : PART_GEM, gem, o);
	}
	struct jp_span part = { after, strcspn(after, "/") };
	bool directory = after[part.len] == '/';
	size_t at = then == PART_GEM ? gem_version_at(part) : then == PART_COMMIT ? commit_at(part) : part.len;
	if (then == PART_ANY)
		return true;
	if (then == PART_VERSION)
		return directory && is_version(part);
	if (then == PART_NAME && directory && is_version(part))
		return take_part(then, after + part.len + 1, o);
	if (then == PART_NAME && !directory && jp_span_ends(part, ".rb"))
		at = part.len -= 3;
	if (!part.len || (then != PART_NAME && (!directory || (then == PART_GEM && at == part.len))))
		return false;
	size_t end = at + 1;
	o->name = (struct jp_span){ part.ptr, at };
	while (end < part.len && part.ptr[end] != '-')
		end++;
	if (at < part.len)
		o->version = (struct jp_span){ part.ptr + at + 1, end - at - 1 };
	if (then == PART_NAME)
		o->name = jp_gem_below(after, at);
	o->rest.ptr = after + (directory ? part.len + 1 : 0);
	o->rest.len = strlen(o->rest.ptr);
	return true;
}

/* What RubyGems and Debian put into the system's bin for a gem: its own start, and not the application's. Those of an
 * application lie in its own directory. */
static bool is_stub_of_gem(const char *path, struct jp_path_origin *o)
{
	static const char *const directories[] = { "/usr/bin/", "/usr/local/bin/", "/usr/local/bundle/bin/" };
	static const struct {
		const char *file, *gem;
	} stubs[] = { { "puma", "puma" },       { "pumactl", "puma" },
		      { "unicorn", "unicorn" }, { "unicorn_rails", "unicorn" },
		      { "sidekiq", "sidekiq" }, { "resque", "resque" },
		      { "rackup", "rack" },     { "rake", "rake" },
		      { "rails", "railties" },  { "thin", "thin" },
		      { "falcon", "falcon" },   { "rspec", "rspec-core" } };
	for (size_t d = 0; d < jp_count(directories); d++)
		for (size_t i = 0; i < jp_count(stubs); i++) {
			size_t len = strlen(directories[d]);
			if (strncmp(path, directories[d], len) != 0 || strcmp(path + len, stubs[i].file) != 0)
				continue;
			o->origin = JPROF_ORIGIN_GEM;
			o->name = (struct jp_span){ stubs[i].gem, strlen(stubs[i].gem) };
			o->rest = (struct jp_span){ path + len - strlen("bin/"), strlen(path) - len + strlen("bin/") };
			return true;
		}
	return false;
}

struct jp_path_origin jp_path_origin(const char *path)
{
	static const char evaluated[] = "(eval at ";
	struct jp_path_origin o = { .origin = JPROF_ORIGIN_APPLICATION, .rest = { path, strlen(path) } };
	const char *from = strncmp(path, evaluated, sizeof evaluated - 1) ? path : path + sizeof evaluated - 1;
	if (is_stub_of_gem(path, &o))
		return o;
	for (size_t i = 0; i < jp_count(rules); i++) {
		const char *found = from;
		while ((found = strstr(found, rules[i].word)) &&
		       !take_part(rules[i].then, found + strlen(rules[i].word), &o))
			found++;
		if (!found)
			continue;
		o.origin = rules[i].origin;
		return o;
	}
	return o;
}

/* ---- places ----------------------------------------------------------------------------------------------- */

static const char *const labels[] = { [JPROF_ORIGIN_NATIVE] = "",
	                              [JPROF_ORIGIN_APPLICATION] = "application",
	                              [JPROF_ORIGIN_GEM] = "gem",
	                              [JPROF_ORIGIN_STDLIB] = "Ruby's library",
	                              [JPROF_ORIGIN_VM] = "Ruby" };

/* Whether a method of a gem loads code for the line that calls it, as Zeitwerk, ActiveSupport and Bootsnap do in the
 * place of Ruby's require: what was loaded is not theirs. A gem may well have a `load` of another kind. */
static bool is_loader(const char *name)
{
	static const char *const methods[] = { "require", "require_relative", "require_dependency", "require_or_load",
		                               "load_dependency" };
	static const char *const whole[] = { "Kernel#load", "Object#load",
		                             "ActiveSupport::Dependencies::Loadable#load" };
	static const char compiled[] = "Bootsnap::CompileCache::ISeq";
	const char *hash = strrchr(name, '#'), *method = hash ? hash : strrchr(name, '.');
	for (size_t i = 0; i < jp_count(methods) && method; i++)
		if (!strcmp(method + 1, methods[i]))
			return true;
	for (size_t i = 0; i < jp_count(whole); i++)
		if (!strcmp(name, whole[i]))
			return true;
	return !strncmp(name, compiled, sizeof compiled - 1);
}

static uint8_t site_of_origin(enum jprof_origin origin, const char *name)
{
	if (origin == JPROF_ORIGIN_APPLICATION)
		return SITE_CODE;
	if (origin != JPROF_ORIGIN_GEM)
		return SITE_FILE;
	return is_loader(name) ? SITE_LOADER : SITE_CODE;
}

static struct jp_path_origin origin_of_frame(const struct jp_code *code, const struct jp_frame *frame, uint8_t *site)
{
	const struct jp_function *f = &code->functions[frame->function];
	const char *path = jp_code_string(code, f->file);
	struct jp_path_origin o = { .origin = JPROF_ORIGIN_VM };
	*site = jp_is_ruby_marker(jp_code_string(code, f->system)) ? SITE_CODE : SITE_METHOD;
	if (jp_is_ruby_aside(jp_code_string(code, f->system)))
		*site = SITE_NONE;
	bool start = !frame->line && !strcmp(path, "ruby"); /* Ruby begins with a frame of its own */
	if (f->file == JP_NONE || start)
		return o;
	o = jp_path_origin(path);
	*site = site_of_origin(o.origin, jp_code_string(code, f->system));
	return o;
}

/* A gem with its version, which Debian's packages do not have in their paths. */
static void put_gem(struct jp_strbuf *out, const struct jp_code *code, const struct jp_path_origin *gem)
{
	const char *known = gem->version.len ? NULL : jp_gem_version(code->gems, gem->name);
	struct jp_span version = known ? (struct jp_span){ known, strlen(known) } : gem->version;
	jp_strbuf_printf(out, "%.*s%s%.*s", (int)gem->name.len, gem->name.ptr, version.len ? " " : "", (int)version.len,
	                 version.len ? version.ptr : "");
}

static int place_origin(struct jp_origins *origins, const struct jp_code *code, uint32_t location,
                        struct jp_strbuf *text)
{
	const struct jp_location *l = &code->locations[location];
	struct jp_origin *to = &origins->of[location];
	struct jp_path_origin o = origin_of_frame(code, &code->frames[l->frame_first], &to->site);
	jp_strbuf_cut(text, 0);
	if (o.origin == JPROF_ORIGIN_GEM)
		put_gem(text, code, &o);
	else
		jp_strbuf_str(text, labels[o.origin]);
	uint32_t label = text->failed ? JP_NONE : jp_intern(&origins->labels, text->text, text->len);
	to->origin = (uint8_t)o.origin;
	to->label = label + 1;
	return label == JP_NONE ? -1 : 0;
}

int jp_origins_init(struct jp_origins *origins, const struct jp_code *code, const uint32_t *location_of)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	*origins = (struct jp_origins){ .of = calloc((size_t)code->location_count + 1, sizeof *origins->of),
		                        .location_of = location_of,
		                        .frame_count = code->frame_count };
	if (!origins->of)
		return -1;
	for (uint32_t i = 0; i < code->location_count; i++)
		if (code->locations[i].source == JPROF_SOURCE_RUBY && code->locations[i].frame_count &&
		    place_origin(origins, code, i, &text))
			return -1;
	return 0;
}

const char *jp_origin_label(const struct jp_origins *origins, const struct jp_origin *of)
{
	uint32_t label = of->label;
	return label ? jp_intern_get(&origins->labels, label - 1) : "";
}

const struct jp_origin *jp_origin_of(const struct jp_origins *origins, uint32_t frame)
{
	uint32_t known = origins->frame_count;
	return &origins->of[frame < known ? origins->location_of[frame] : frame - known];
}

uint32_t jp_origins_site(const struct jp_origins *origins, const uint32_t *frames, uint32_t depth)
{
	uint32_t site = 0;
	uint8_t best = SITE_NONE;
	for (uint32_t i = 0; i < depth && best < SITE_CODE; i++) {
		uint8_t here = jp_origin_of(origins, frames[i])->site;
		if (here > best) {
			best = here;
			site = i;
		}
	}
	return site;
}

size_t jp_origins_owner(const struct jp_origins *origins, const uint32_t *places, size_t from, size_t depth)
{
	size_t owner = depth;
	uint8_t best = SITE_FILE;
	for (size_t i = from; i < depth && best < SITE_CODE; i++) {
		const struct jp_origin *here = &origins->of[places[i]];
		if (here->site > best &&
		    (here->origin == JPROF_ORIGIN_APPLICATION || here->origin == JPROF_ORIGIN_GEM)) {
			best = here->site;
			owner = i;
		}
	}
	return owner;
}

uint32_t jp_origins_caller(const struct jp_origins *origins, const uint32_t *frames, uint32_t from, uint32_t depth)
{
	while (from < depth && jp_origin_of(origins, frames[from])->origin != JPROF_ORIGIN_APPLICATION)
		from++;
	return from;
}

/* ---- names ------------------------------------------------------------------------------------------------ */

const char *jp_behind_prefix(const char *path, const char *trim)
{
	for (size_t len; trim && *trim; trim += len + (trim[len] == ',')) {
		len = strcspn(trim, ",");
		if (len && !strncmp(path, trim, len) && path[len])
			return path + len + (path[len] == '/' && path[len + 1]);
	}
	return NULL;
}

const char *jp_shown_path(const struct jp_code *code, const char *path, const char *trim)
{
	const char *plain = jp_behind_prefix(path, trim);
	if (plain || jp_path_origin(path).origin == JPROF_ORIGIN_GEM)
		return plain ? plain : path;
	/* The path below the first of the directories that holds it; the path itself where none does. */
	const struct jp_intern *directories = trim && !*trim ? NULL : code->directories;
	for (uint32_t i = 0; directories && i < directories->count; i++) {
		const char *directory = jp_intern_get(directories, i);
		size_t len = strlen(directory);
		if (len > 1 && !strncmp(path, directory, len) && path[len] == '/' && path[len + 1])
			return path + len + 1;
	}
	return path;
}

void jp_put_site(struct jp_strbuf *out, const struct jp_code *code, const char *path, uint32_t line, const char *trim)
{
	struct jp_path_origin o = jp_path_origin(path);
	if (o.origin != JPROF_ORIGIN_GEM || jp_behind_prefix(path, trim))
		jp_strbuf_str(out, jp_shown_path(code, path, trim));
	else {
		put_gem(out, code, &o);
		jp_strbuf_printf(out, " %.*s", (int)o.rest.len, o.rest.ptr);
	}
	if (line)
		jp_strbuf_printf(out, ":%u", line);
}

void jp_origins_release(struct jp_origins *origins)
{
	free(origins->of);
	jp_intern_release(&origins->labels);
	*origins = (struct jp_origins){ 0 };
}
