/* Checks of jemalloc's options. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shortage.h"
#include "cli/terminal.h"
#include "doctor/doctor.h"
#include "run/mallconf.h"

static const char no_options[] = "the environment cannot be read, and no agent tells";

static bool is_set(const struct scene *s, const char *name, const char *value)
{
	char is[256];
	return scene_option(s, name, is, sizeof is) && !strcmp(is, value);
}

/* The text as written, with what is not seen made visible. */
static void add_visible_conf(struct jp_strbuf *to, const char *conf)
{
	for (size_t len; *conf; conf += len + (conf[len] != 0)) {
		len = strcspn(conf, "\n\t");
		jp_strbuf_printf(to, "%.*s%s", (int)len, conf, conf[len] == '\n' ? "\\n" : conf[len] ? "\\t" : "");
	}
}

void check_conf(const struct scene *s, struct findings *f)
{
	struct jp_strbuf text = { 0 };
	add_visible_conf(&text, s->conf ? s->conf : "");
	if (!s->env_known)
		findings_add(f, "malloc-conf", VERDICT_UNKNOWN, NULL, "%s",
		             s->stats ? "the environment cannot be read; the agent tells what is in force"
		                      : no_options);
	else if (s->conf && conf_has_blanks(s->conf))
		findings_add(
		    f, "malloc-conf", VERDICT_BAD,
		    "write it on one line without blanks (YAML: \"...\", not > or |); jprof run --print-env=helm does",
		    "%s has blanks or line ends around its pairs, as folded YAML leaves them: jemalloc says "
		    "\"Malformed conf string\" and takes nothing from there on: '%s'",
		    s->conf_name, shortage_text(&text));
	else if (s->conf || s->conf_link)
		findings_add(f, "malloc-conf", VERDICT_OK, NULL, "%s%s%s%s%s", s->conf ? s->conf_name : "",
		             s->conf ? "=" : "", shortage_text(&text),
		             s->conf_link ? "; before it counts /etc/malloc.conf -> " : "",
		             s->conf_link ? s->conf_link : "");
	else
		findings_add(f, "malloc-conf", s->jemalloc ? VERDICT_BAD : VERDICT_WARN,
		             "start it by: jprof run -- COMMAND", "%s is not set", s->conf_name);
	jp_strbuf_release(&text);
}

/* Each complaint of jemalloc's about a pair, once. */
void check_refused(const struct scene *s, struct findings *f)
{
	size_t refused = 0;
	char *said = s->proved ? shortage_note(strdup(s->tried.said)) : NULL, *rest;
	for (char *line = said ? strtok_r(said, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
		const char *text = !strncmp(line, "<jemalloc>: ", 12) ? line + 12 : line;
		if (strstr(text, "onf ")) { /* "Invalid conf pair", "Malformed conf string", "Conf string ends ..." */
			findings_add(f, "refused", VERDICT_BAD,
			             "fix or take out the pair; TUNING.md of this jemalloc's version lists all",
			             "jemalloc says of MALLOC_CONF: %s", text);
			refused++;
		}
	}
	free(said);
	if (s->proved && s->env_known && !refused && (s->conf || s->conf_link))
		findings_add(f, "refused", VERDICT_OK, NULL, "no pair of MALLOC_CONF: tried here");
	else if (!s->proved && s->jemalloc && s->env_known && s->conf)
		findings_add(f, "refused", VERDICT_UNKNOWN, "run jprof doctor where the process runs",
		             "which pairs it refuses is not tried here");
}

void check_prof(const struct scene *s, struct findings *f)
{
	int on = scene_profiles(s);
	if (!s->jemalloc)
		return;
	if (on > 0)
		findings_add(f, "prof", VERDICT_OK, NULL, "prof:true");
	else if (on < 0)
		findings_add(f, "prof", VERDICT_UNKNOWN, NULL, "%s", no_options);
	else if (s->conf && strstr(s->conf, "prof:true"))
		findings_add(f, "prof", VERDICT_BAD, "see the rows above",
		             "%s says prof:true, which jemalloc does not take: no profiling", s->conf_name);
	else
		findings_add(f, "prof", VERDICT_BAD, "set it before it starts, or use jprof run",
		             "prof:true is missing from %s: no profiling, and it cannot be switched on later",
		             s->conf_name);
}

void check_active(const struct scene *s, struct findings *f)
{
	char value[16];
	const char *fix = "jprof snap --activate PID (needs the agent), or start with prof_active:true";
	if (scene_profiles(s) <= 0)
		return;
	if (s->report)
		findings_add(f, "prof_active", s->report->prof_active ? VERDICT_OK : VERDICT_WARN,
		             s->report->prof_active ? NULL : fix, "%s",
		             s->report->prof_active ? "samples are taken"
		                                    : "no samples are taken now: prof.active is false");
	else if (!scene_option(s, "prof_active", value, sizeof value) || !strcmp(value, "true"))
		findings_add(f, "prof_active", VERDICT_OK, NULL, "samples are taken from the start");
	else
		findings_add(
		    f, "prof_active", VERDICT_WARN, fix,
		    "prof_active:%s: no samples are taken until it is switched on; what was allocated before is not seen",
		    value);
}

/* What is in force of all that bears on profiling, and who says so. */
void check_options(const struct scene *s, struct findings *f)
{
	static const char *const names[] = { "prof",       "prof_active",      "lg_prof_sample",
		                             "prof_accum", "prof_prefix",      "prof_final",
		                             "prof_leak",  "lg_prof_interval", "prof_gdump" };
	struct jp_strbuf text = { 0 };
	char value[PATH_MAX + 1]; /* of a prefix; jemalloc takes none that is longer */
	const char *who = NULL;
	for (size_t i = 0; s->jemalloc && i < sizeof names / sizeof *names; i++) {
		const char *by = scene_option(s, names[i], value, sizeof value);
		if (!by)
			continue;
		who = who ? who : by;
		jp_strbuf_printf(&text, "%s%s:%s", text.len ? "," : "", names[i], value);
	}
	if (who)
		findings_add(f, "options", VERDICT_OK, NULL, "in force, by %s: %s",
		             !strcmp(who, "agent")        ? "the agent"
		             : !strcmp(who, "tried here") ? "a try here"
		                                          : "what the environment says",
		             shortage_text(&text));
	jp_strbuf_release(&text);
}

/* ---- rate ----------------------------------------------------------------------------------------------- */

/* A sample costs about 24 microseconds (docs/internals/measurements.md has how these were measured), and gives a small
 * object 16 KiB of its own, of which at least 4 become resident. */
static const double sample_us = 24, sample_rss_min = 4096, sample_rss_max = 16384, few_samples = 10;

static void add_rate(struct findings *f, int lg)
{
	double rate = (double)(1ULL << lg), per_100mb = 100.0 * mb / rate;
	enum verdict verdict = lg >= 17 && lg <= 20 ? VERDICT_OK : VERDICT_WARN;
	const char *fix = lg < 17   ? "17 is enough for most: lg_prof_sample:17"
	                  : lg > 20 ? "use 17 to 19, or only large sums rest on enough samples"
	                            : NULL;
	findings_add(
	    f, "rate", verdict, fix,
	    "lg_prof_sample:%d, one sample for %.0f bytes: for each 100 MB/s allocated %.1f %% of a CPU, for each 100 "
	    "MB in use %.1f to %.1f MB more, and what is below %.1f MB has few samples",
	    lg, rate, per_100mb * sample_us / 1e6 * 100, per_100mb * sample_rss_min / mb,
	    per_100mb * sample_rss_max / mb, few_samples * rate / mb);
}

/* A number as jemalloc reads it: 0x1e, 036 and +30 are some, too. False where it refuses the value, and says so. */
static bool jemalloc_number(const char *value, long *number)
{
	char *end;
	*number = strtol(value, &end, 0);
	return end != value && !*end;
}

void check_rate(const struct scene *s, struct findings *f)
{
	char value[16];
	long lg = 19; /* jemalloc's default */
	if (scene_profiles(s) <= 0)
		return;
	if (s->report && s->report->lg_sample > 0)
		lg = s->report->lg_sample;
	else if (scene_option(s, "lg_prof_sample", value, sizeof value) && !jemalloc_number(value, &lg))
		return;
	if (lg >= 0 && lg < 63)
		add_rate(f, (int)lg);
}

/* ---- what published recipes get wrong ------------------------------------------------------------------ */

static bool makes_dumps_itself(const struct scene *s)
{
	char value[16];
	return is_set(s, "prof_final", "true") || is_set(s, "prof_gdump", "true") ||
	       (scene_option(s, "lg_prof_interval", value, sizeof value) && strcmp(value, "-1"));
}

static bool has_prefix(const struct scene *s)
{
	char value[4096];
	if (s->report && s->report->prefix)
		return *s->report->prefix && strcmp(s->report->prefix, "jeprof");
	return scene_option(s, "prof_prefix", value, sizeof value) && *value && strcmp(value, "jeprof");
}

void check_recipe(const struct scene *s, struct findings *f)
{
	size_t before = f->count;
	char value[16];
	long lg;
	if (!s->jemalloc || (!s->env_known && !s->stats))
		return;
	if (is_set(s, "prof_leak", "true") && !is_set(s, "prof_final", "true"))
		findings_add(f, "recipe", VERDICT_WARN, "add prof_final:true, or drop prof_leak",
		             "prof_leak:true does nothing without prof_final:true");
	if (makes_dumps_itself(s) && !has_prefix(s))
		findings_add(
		    f, "recipe", VERDICT_WARN, "add prof_prefix:/DIR/NAME",
		    "dumps are made by themselves, but without prof_prefix they go to the working directory as jeprof.*");
	if (scene_option(s, "lg_prof_interval", value, sizeof value) && jemalloc_number(value, &lg) && lg >= 0 &&
	    lg < 28)
		findings_add(f, "recipe", VERDICT_WARN, "use lg_prof_interval:30 (a dump for each GiB) or more",
		             "lg_prof_interval:%s makes a dump for every %.1f MB allocated", value,
		             (double)(1ULL << lg) / mb);
	if (is_set(s, "prof_gdump", "true"))
		findings_add(
		    f, "recipe", VERDICT_BAD, "leave out prof_gdump, and ask for dumps: jprof snap",
		    "prof_gdump:true can lock up the process for ever: jemalloc then makes a dump while it holds a lock that "
		    "the dump needs");
	if (f->count == before && scene_profiles(s) > 0)
		findings_add(f, "recipe", VERDICT_OK, NULL, "none of the known mistakes");
}

/* ---- children -------------------------------------------------------------------------------------------- */

void check_children(const struct scene *s, struct findings *f)
{
	if (!s->env_known || !s->preload || scene_profiles(s) <= 0)
		return;
	if (makes_dumps_itself(s))
		findings_add(
		    f, "children", VERDICT_WARN,
		    "leave out prof_final and lg_prof_interval (jprof snap asks for dumps), or tell them apart by the "
		    "program that jprof info shows",
		    "programs that it starts inherit LD_PRELOAD and MALLOC_CONF, and dump to the same prefix");
	else
		findings_add(
		    f, "children", VERDICT_OK, NULL,
		    "programs that it starts inherit LD_PRELOAD and MALLOC_CONF: each starts some ms later, none dumps");
}
