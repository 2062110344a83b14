#include "view/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/rubyframes.h"
#include "model/slotsamples.h"
#include "view/origin.h"

static bool maps_ruby(const struct jp_code *code)
{
	for (uint32_t i = 0; i < code->object_count; i++)
		if (!code->objects[i].unmapped && jp_is_ruby_file(jp_code_object(code, i)))
			return true;
	return false;
}

int jp_groups_init(struct jp_groups *g, const struct jp_code *code, struct jp_span given, struct jprof_error *err)
{
	*g = (struct jp_groups){ .code = code, .has_ruby = maps_ruby(code) };
	int rc = jp_rules_read(&g->rules, given, g->has_ruby, err);
	g->of_function = jp_none_array(code->function_count);
	g->of_library = jp_none_array(code->object_count);
	return rc || (g->of_function && g->of_library) ? rc : jp_error_nomem(err);
}

void jp_groups_release(struct jp_groups *g)
{
	jp_rules_release(&g->rules);
	free(g->of_function);
	free(g->of_library);
}

/* ---- rules -------------------------------------------------------------------------------------------------- */

static const struct jp_rule *rule_numbered(const struct jp_groups *g, uint32_t number)
{
	return number < JP_NO_RULE ? &g->rules.rules[number] : NULL;
}

/* What is kept for a function instead of its rule: that it is of a table; that it has none of either. */
enum { of_a_table = 1 << 30, no_rule_at_all = of_a_table - 1 };

static uint32_t rule_of_function(struct jp_groups *g, uint32_t function)
{
	uint32_t *rule = &g->of_function[function];
	const char *name = jp_code_name(g->code, function, false);
	if (*rule == JP_NONE)
		*rule = jp_rule_find(&g->rules, JP_RULE_FUNCTION, name);
	if (*rule == JP_NO_RULE) {
		uint32_t table = jp_rule_find(&g->rules, JP_RULE_TABLE, name);
		*rule = table == JP_NO_RULE ? no_rule_at_all : table | of_a_table;
	}
	return *rule;
}

static uint32_t rule_of_library(struct jp_groups *g, uint32_t object)
{
	uint32_t *rule = &g->of_library[object];
	if (*rule == JP_NONE)
		*rule = jp_rule_find(&g->rules, JP_RULE_LIBRARY, jp_basename(jp_code_object(g->code, object)));
	return *rule;
}

/* The rule of the first of a place's frames that one names. */
static uint32_t rule_of_place(struct jp_groups *g, uint32_t place)
{
	const struct jp_location *l = &g->code->locations[place];
	uint32_t rule = no_rule_at_all;
	for (uint32_t f = 0; f < l->frame_count && rule == no_rule_at_all; f++)
		rule = rule_of_function(g, g->code->frames[l->frame_first + f].function);
	return rule;
}

/* From the allocation outwards, up to the interpreter's machinery; the first of Ruby's frames may be a mark. */
static const struct jp_rule *rule_of_functions(struct jp_groups *g, const struct jp_group_stack *s)
{
	uint32_t table = JP_NO_RULE;
	for (size_t i = 0; i <= s->native && i < s->depth; i++) {
		uint32_t rule = rule_of_place(g, s->places[i]);
		if (rule == JP_RULE_STOP)
			break;
		if (rule < no_rule_at_all)
			return rule_numbered(g, rule);
		if (rule > no_rule_at_all && table == JP_NO_RULE)
			table = rule & ~(uint32_t)of_a_table;
	}
	return rule_numbered(g, table);
}

/* The first of Ruby's frames whose file has a rule. */
static const struct jp_rule *rule_of_paths(const struct jp_groups *g, const struct jp_group_stack *s)
{
	for (size_t i = s->native; g->rules.has_paths && i < s->depth; i++) {
		const struct jp_location *l = &g->code->locations[s->places[i]];
		const char *path =
		    l->frame_count ? jp_code_file(g->code, g->code->frames[l->frame_first].function) : "";
		uint32_t rule = *path ? jp_rule_find(&g->rules, JP_RULE_PATH, path) : JP_NO_RULE;
		if (rule != JP_NO_RULE)
			return rule_numbered(g, rule);
	}
	return NULL;
}

/* ---- the group ----------------------------------------------------------------------------------------------- */

/* What is told by files alone: the kind, and whose it is. */
struct by_files {
	const char *kind;
	enum jp_role role;
	uint32_t object; /* of the owner; of a library in an extension's stack that extension */
	uint32_t owner;
};

/* Whether an extension came with Ruby (rbconfig's archdir), and not as a gem: zlib, openssl, stringio. */
static bool comes_with_ruby(const struct jp_code *code, uint32_t extension)
{
	const char *path = jp_code_object(code, extension);
	return jp_path_origin(path).origin == JPROF_ORIGIN_STDLIB && !strstr(path, "/site_ruby/");
}

static struct by_files look_at_files(const struct jp_groups *g, const struct jp_group_stack *s)
{
	size_t place = s->native ? jp_owner_place(s->roles, s->objects, s->native) : 0;
	struct by_files f = { .owner = s->objects[place], .object = s->objects[place], .role = JP_ROLE_RUNTIME };
	uint32_t extension = s->native ? jp_innermost_extension(s->roles, s->objects, s->native) : JP_NONE;
	if (s->native)
		f.role = s->roles->of[f.owner].role;
	f.kind = g->has_ruby ? "other libraries" : "libraries";
	if (f.role == JP_ROLE_FOREIGN && extension != JP_NONE) {
		f.object = extension;
		f.kind = !g->has_ruby                          ? f.kind
		         : comes_with_ruby(g->code, extension) ? "Ruby's own extensions"
		                                               : "native gems";
	} else if (f.role == JP_ROLE_PROGRAM) {
		f.kind = "own code";
	} else if (f.role == JP_ROLE_RUNTIME) {
		f.kind = g->has_ruby ? "Ruby, not told apart" : "interpreter";
	}
	return f;
}

/* The linker's name of a place's function. */
static const char *system_of_place(const struct jp_groups *g, uint32_t place)
{
	const struct jp_location *l = &g->code->locations[place];
	return l->frame_count
	           ? jp_code_string(g->code, g->code->functions[g->code->frames[l->frame_first].function].system)
	           : "";
}

/* The class of an object of Ruby, in a slot or with data that a collection moved; NULL: it is none of these. */
static const char *class_of_stack(const struct jp_groups *g, const struct jp_group_stack *s)
{
	if (jp_is_slot_object(jp_code_object(g->code, s->objects[0])))
		return system_of_place(g, s->places[0]);
	return s->native < s->depth ? jp_ruby_moved_class(system_of_place(g, s->places[s->native])) : NULL;
}

const struct jp_rule *jp_put_group(struct jp_groups *g, const struct jp_group_stack *s, bool group,
                                   struct jp_strbuf *out)
{
	struct by_files f = look_at_files(g, s);
	const struct jp_rule *rule = rule_of_paths(g, s);
	const char *class = rule ? NULL : class_of_stack(g, s);
	if (class) {
		jp_strbuf_printf(out, "Ruby data%s%s", group ? ": " : "", group ? class : "");
		return NULL;
	}
	if (!rule && f.role == JP_ROLE_FOREIGN)
		rule = rule_numbered(g, rule_of_library(g, f.owner));
	else if (!rule)
		rule = rule_of_functions(g, s);
	/* Of a library its name is better known than that of its rule, if that is not the caller's. */
	bool named = rule && (f.role != JP_ROLE_FOREIGN || rule < g->rules.rules + g->rules.given);
	jp_strbuf_str(out, named ? rule->kind : f.kind);
	if (!group)
		return rule;
	jp_strbuf_str(out, ": ");
	if (named)
		jp_strbuf_str(out, rule->group);
	else
		jp_object_label(g->code, f.object, out);
	return rule;
}
