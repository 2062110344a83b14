#include "answers/mainscript.h"

#include <string.h>

#include "model/code.h"

enum { most_scripts = 16 }; /* of one side: its processes seldom have two */

/* Names of files without folders, of the code. */
struct script_names {
	const char *names[most_scripts];
	size_t count;
};

static bool has_script(const struct script_names *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->names[i], name))
			return true;
	return false;
}

/* Scripts that start another one, or any application: bundle exec puma and puma are the same. */
static bool runs_any_application(const char *name)
{
	static const char *const launchers[] = { "bundle",    "bundler", "falcon",    "foreman",      "irb",
		                                 "passenger", "puma",    "puma-wild", "rackup",       "rails",
		                                 "rake",      "rspec",   "ruby",      "resque",       "sidekiq",
		                                 "spring",    "thin",    "unicorn",   "unicorn_rails" };
	for (size_t i = 0; i < jp_count(launchers); i++)
		if (!strcmp(name, launchers[i]))
			return true;
	return false;
}

/* The name of the script whose line is outermost in a stack; else NULL. Further out may be a place without a line: what
 * Ruby did before it ran the script. */
static const char *script_of_stack(const struct jp_code *code, const uint32_t *places, size_t depth)
{
	while (depth-- > 0) {
		const struct jp_location *l = &code->locations[places[depth]];
		const struct jp_frame *f = l->frame_count ? &code->frames[l->frame_first + l->frame_count - 1] : NULL;
		if (!f || strcmp(jp_code_name(code, f->function, false), "<main>") != 0)
			return NULL;
		if (f->line)
			return jp_basename(jp_code_file(code, f->function));
	}
	return NULL;
}

static void add_script(struct script_names *s, const char *name)
{
	if (s->count < most_scripts && !has_script(s, name))
		s->names[s->count++] = name;
}

int jp_find_main_scripts(struct jprof_series *series, const struct jprof_profile *whole)
{
	const struct jp_code code = jp_code_of(whole);
	const struct jp_samples *samples = &whole->samples;
	struct script_names sides[2] = { 0 };
	series->info.scripts[0] = series->info.scripts[1] = "";
	for (uint32_t i = 0; i < jp_sample_count(whole); i++) {
		const struct jp_sample *s = &samples->items[i];
		const struct jp_values *sum = s->sum == JP_NONE ? NULL : &samples->sums[s->sum];
		size_t depth;
		const uint32_t *places = jp_stack_get(whole, s->stack, &depth);
		const char *name = script_of_stack(&code, places, depth);
		if (name && *name && sum && sum->less && jp_was_sampled(&sum->less->seen))
			add_script(&sides[0], name);
		if (name && *name && (!sum || jp_was_sampled(&sum->plus)))
			add_script(&sides[1], name);
	}
	for (size_t i = 0; i < sides[1].count; i++)
		if (has_script(&sides[0], sides[1].names[i]) || runs_any_application(sides[1].names[i]))
			return 0;
	for (size_t i = 0; i < sides[0].count; i++)
		if (runs_any_application(sides[0].names[i]))
			return 0;
	for (int i = 0; i < 2 && sides[0].count && sides[1].count; i++) {
		const char *name = sides[i].names[0];
		series->info.scripts[i] = jp_arena_dup(&series->arena, name, strlen(name));
		if (!series->info.scripts[i])
			return -1;
	}
	return 0;
}
