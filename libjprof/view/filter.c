#include "view/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/nameless.h"
#include "model/rubyframes.h"
#include "view/owner.h"

static const char *const options[JP_FILTERS] = { "retain", "exclude", "focus", "ignore", "focus", "ignore" };

static bool match(const struct jp_filter *f, enum jp_filter_kind which, const char *text)
{
	return jp_pattern_found(f->pattern[which], text, strlen(text));
}

/* The address as jeprof prints it, when all else is unknown, and beside names in focus and ignore. */
static bool match_address(const struct jp_filter *f, enum jp_filter_kind which, const struct jp_location *l)
{
	char text[32];
	snprintf(text, sizeof text, "%016llx", (unsigned long long)l->address);
	return match(f, which, text);
}

static bool match_line(struct jp_filter *f, enum jp_filter_kind which, const struct jp_frame *frame)
{
	jp_strbuf_cut(&f->text, 0);
	if (f->code->functions[frame->function].file == JP_NONE)
		jp_strbuf_str(&f->text, "??:0");
	else
		jp_strbuf_printf(&f->text, "%s:%u", jp_code_file(f->code, frame->function), frame->line);
	return f->text.text && match(f, which, f->text.text);
}

/* The short name, and the full one, which has what the short one lacks: parameters, template arguments. */
static bool match_function(const struct jp_filter *f, enum jp_filter_kind which, const struct jp_frame *frame)
{
	const struct jp_function *function = &f->code->functions[frame->function];
	return match(f, which, jp_code_name(f->code, frame->function, false)) ||
	       (!f->short_names && function->name != function->brief &&
	        match(f, which, jp_code_name(f->code, frame->function, true)));
}

/* By the file's name, and by what its owner is called: "nokogiri 1.13.10". */
static bool match_object(struct jp_filter *f, enum jp_filter_kind which, const struct jp_location *l)
{
	if (match(f, which, jp_basename(jp_code_object(f->code, l->object))))
		return true;
	jp_strbuf_cut(&f->text, 0);
	jp_object_label(f->code, l->object, &f->text);
	return f->text.text && match(f, which, f->text.text);
}

static bool match_nameless(const struct jp_filter *f, enum jp_filter_kind which, const struct jp_location *l)
{
	char name[jp_nameless_size];
	bool lines = which != JP_RETAIN && which != JP_EXCLUDE;
	return match(f, which, jp_nameless_name(f->code, l, name)) || (lines && match(f, which, "??:0"));
}

/* retain and exclude look at the outermost function of a place only, focus and ignore at all. */
static bool test_place(struct jp_filter *f, enum jp_filter_kind which, uint32_t location, uint32_t skip)
{
	const struct jp_location *l = &f->code->locations[location];
	if (f->by_object[which])
		return match_object(f, which, l);
	bool outermost = which == JP_RETAIN || which == JP_EXCLUDE;
	if (!outermost && match_address(f, which, l))
		return true;
	if (!l->frame_count)
		return match_nameless(f, which, l);
	for (uint32_t i = outermost && l->frame_count ? (uint32_t)l->frame_count - 1 : skip; i < l->frame_count; i++) {
		const struct jp_frame *frame = &f->code->frames[l->frame_first + i];
		if (match_function(f, which, frame) || (!outermost && match_line(f, which, frame)))
			return true;
	}
	return false;
}

/* Each place is asked once: those of which folding left a part, too. */
static bool place_matches(struct jp_filter *f, enum jp_filter_kind which, uint32_t location, uint32_t skip)
{
	const uint32_t key[] = { location, skip };
	uint32_t part = skip ? jp_intern(&f->parts, key, sizeof key) : 0;
	size_t id = skip ? (size_t)f->code->location_count + part : location, before = f->found_cap[which];
	if (part == JP_NONE || jp_array_reserve(&f->found[which], &f->found_cap[which], id + 1, 1)) {
		f->failed = true;
		return false;
	}
	memset(f->found[which] + before, 0, f->found_cap[which] - before);
	signed char *known = &f->found[which][id];
	if (!*known)
		*known = test_place(f, which, location, skip) ? 1 : -1;
	return *known > 0;
}

static bool keeps_place(struct jp_filter *f, uint32_t location, uint32_t skip)
{
	return (!f->pattern[JP_RETAIN] || place_matches(f, JP_RETAIN, location, skip)) &&
	       (!f->pattern[JP_EXCLUDE] || !place_matches(f, JP_EXCLUDE, location, skip));
}

static bool any_matches(struct jp_filter *f, enum jp_filter_kind which, const struct jp_run *run)
{
	for (uint32_t i = 0; i < run->depth; i++)
		if (place_matches(f, which, run->places[i], i ? 0 : run->skip))
			return true;
	return false;
}

/* By "Ruby's own code: compiled code", as rows by group have it. */
static bool match_group(struct jp_filter *f, enum jp_filter_kind which, const struct jp_run *run)
{
	struct jp_group_stack stack = {
		.places = run->places, .depth = run->depth, .native = run->depth, .roles = &f->roles
	};
	if (!run->depth || jp_array_reserve(&f->objects, &f->objects_cap, run->depth, sizeof *f->objects)) {
		f->failed |= run->depth > 0;
		return false;
	}
	for (uint32_t i = 0; i < run->depth; i++)
		f->objects[i] = f->code->locations[run->places[i]].object;
	while (stack.native && jp_is_ruby_object(jp_code_object(f->code, f->objects[stack.native - 1])))
		stack.native--;
	stack.objects = f->objects;
	jp_strbuf_cut(&f->text, 0);
	jp_put_group(&f->groups, &stack, true, &f->text);
	return f->text.text && match(f, which, f->text.text);
}

static bool keeps_stack(struct jp_filter *f, const struct jp_run *run)
{
	for (enum jp_filter_kind i = JP_FOCUS; i < JP_FILTERS; i++) {
		bool focus = i == JP_FOCUS || i == JP_ALSO_FOCUS;
		if (f->pattern[i] && (f->by_group[i] ? match_group(f, i, run) : any_matches(f, i, run)) != focus)
			return false;
	}
	return true;
}

static int filter_places(struct jp_filter *f, struct jp_run *run)
{
	uint32_t kept = 0;
	bool innermost = false;
	if (jp_array_reserve(&f->scratch, &f->scratch_cap, run->depth, sizeof *f->scratch))
		return -1;
	for (uint32_t i = 0; i < run->depth; i++)
		if (keeps_place(f, run->places[i], i ? 0 : run->skip)) {
			innermost = innermost || !i;
			f->scratch[kept++] = run->places[i];
		}
	if (kept < run->depth)
		*run = (struct jp_run){ f->scratch, kept, innermost ? run->skip : 0 };
	return 0;
}

int jp_filter_stack(struct jp_filter *f, struct jp_run *run, struct jprof_error *err)
{
	if ((f->pattern[JP_RETAIN] || f->pattern[JP_EXCLUDE]) && filter_places(f, run))
		return jp_error_nomem(err);
	if (!keeps_stack(f, run))
		*run = (struct jp_run){ run->places, 0, 0 };
	for (int i = 0; i < JP_FILTERS; i++) {
		int rc = jp_pattern_check(f->pattern[i], options[i], err);
		if (rc)
			return rc;
	}
	return f->failed || f->text.failed ? jp_error_nomem(err) : 0;
}

/* What is behind the word that the text begins with; NULL: it does not. */
static const char *behind_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	return strncmp(text, word, len) ? NULL : text + len;
}

int jp_filter_init(struct jp_filter *f, const struct jp_code *code, const struct jprof_view_opts *opts,
                   struct jprof_error *err)
{
	const char *texts[JP_FILTERS] = { opts->retain, opts->exclude,    opts->focus,
		                          opts->ignore, opts->also_focus, opts->also_ignore };
	const struct jp_span rules = { opts->rules ? opts->rules : "", opts->rules ? opts->rules_len : 0 };
	bool groups = false;
	int rc = 0;
	*f = (struct jp_filter){ .code = code, .short_names = opts->short_names };
	for (int i = 0; !rc && i < JP_FILTERS; i++) {
		if (!texts[i] || !*texts[i])
			continue;
		const char *object = behind_word(texts[i], "lib:"),
			   *group = i < JP_FOCUS ? NULL : behind_word(texts[i], "group:");
		f->any = true;
		f->by_object[i] = object;
		f->by_group[i] = group;
		groups = groups || group;
		rc = jp_pattern_new(object ? object : group ? group : texts[i], options[i], &f->pattern[i], err);
	}
	if (rc || !groups)
		return rc;
	if (jp_roles_init(&f->roles, code))
		return jp_error_nomem(err);
	return jp_groups_init(&f->groups, code, rules, err);
}

void jp_filter_release(struct jp_filter *f)
{
	for (int i = 0; i < JP_FILTERS; i++) {
		jp_pattern_free(f->pattern[i]);
		free(f->found[i]);
	}
	jp_strbuf_release(&f->text);
	jp_intern_release(&f->parts);
	jp_groups_release(&f->groups);
	jp_roles_release(&f->roles);
	free(f->objects);
	free(f->scratch);
}
