/* C++ functions of internal linkage have no linkage name, and g++ numbers lambdas by no rule that the source shows: a
 * lambda goes by its place. g++ marks the operator() of one as artificial; clang has a class without a name in the line
 * of its operator(). gfortran's linkage names have a spelling of their own (__module_MOD_procedure), and contained
 * procedures have none. */
#include "input/dwarfnames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "input/demangle.h"

enum { max_hops = 16, max_scope = 4096, deepest_scope = 512 };

/* Numbers given out after DWARF 5, from dwarfstd.org's list of languages. */
enum { lang_cplusplus_17 = 0x2a, lang_cplusplus_20 = 0x2b, lang_fortran_18 = 0x2d };

/* The name of a function: either text or a lambda. */
struct jp_spelled {
	const char *shown; /* readable, with all scopes */
	uint32_t lambda;   /* or JP_NONE */
};

struct jp_lambda {
	const char *file;          /* the path in full */
	unsigned line, column;     /* column 0: not known */
	const void *type;          /* its class, which has one place in the debug information, */
	const void *function;      /* and the function that it stands in: each instance of a template is one */
	const char *scope;         /* what is around it: "ns::f::" */
	const char *shown, *brief; /* NULL: not made yet */
};

/* ---- units ---------------------------------------------------------------------------------------- */

static enum jp_dwarf_language language_of_unit(int language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case lang_cplusplus_17:
	case lang_cplusplus_20: return JP_DWARF_CPLUSPLUS;
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
	case lang_fortran_18: return JP_DWARF_FORTRAN;
	default: return JP_DWARF_PLAIN;
	}
}

void jp_dwarf_names_begin(struct jp_dwarf_names *names, struct jp_dwarf_source *source, Dwarf_Die *unit)
{
	names->source = source;
	names->language = language_of_unit(dwarf_srclang(unit));
	names->at = (struct jp_dwarf_scope){ .lambda = JP_NONE };
	jp_strbuf_cut(&names->text, 0);
}

void jp_dwarf_names_forget(struct jp_dwarf_names *names)
{
	jp_intern_release(&names->known);
	jp_intern_release(&names->units);
	names->lambda_count = 0;
	names->outer_of = NULL;
}

void jp_dwarf_names_release(struct jp_dwarf_names *names)
{
	jp_dwarf_names_forget(names);
	jp_strbuf_release(&names->text);
	jp_strbuf_release(&names->outer);
	free(names->spelled);
	free(names->lambdas);
}

/* ---- attributes ----------------------------------------------------------------------------------- */

static const char *dwarf_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	return dwarf_attr_integrate(die, name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const char *linkage_name(Dwarf_Die *die)
{
	const char *name = dwarf_string(die, DW_AT_linkage_name);
	return name ? name : dwarf_string(die, DW_AT_MIPS_linkage_name);
}

/* The DIE in which a function is declared, where its name stands. */
static Dwarf_Die declaration_of(const Dwarf_Die *die)
{
	Dwarf_Die at = *die, next;
	Dwarf_Attribute attr;
	for (int hops = 0; hops < max_hops; hops++) {
		if (!dwarf_attr(&at, DW_AT_abstract_origin, &attr) && !dwarf_attr(&at, DW_AT_specification, &attr))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		at = next;
	}
	return at;
}

static const char *keep(struct jp_dwarf_names *names, const struct jp_strbuf *text)
{
	const char *kept = text->failed ? NULL : jp_arena_dup(names->source->arena, text->text, text->len);
	names->failed = names->failed || !kept;
	return kept;
}

/* A member function that is defined outside of its class has its name alone for a scope: the linker's name has all. */
static bool put_function_scope(struct jp_dwarf_names *names, struct jp_strbuf *out)
{
	Dwarf_Attribute attr;
	Dwarf_Die *die = &names->at.function;
	if (names->language != JP_DWARF_CPLUSPLUS || !die->addr ||
	    (!dwarf_attr(die, DW_AT_specification, &attr) && !dwarf_attr(die, DW_AT_abstract_origin, &attr)))
		return false;
	if (names->outer_of != die->addr) {
		const char *name = linkage_name(die);
		struct jp_strbuf jp_cleanup(jp_strbuf_release) full = { 0 };
		jp_strbuf_cut(&names->outer, 0);
		names->outer_of = die->addr;
		if (name && jp_is_mangled(name)) {
			jp_demangle(name, &full, &names->outer);
			jp_strbuf_str(&names->outer, "::");
		}
		names->failed = names->failed || full.failed || names->outer.failed;
	}
	jp_strbuf_add(out, names->outer.text ? names->outer.text : "", names->outer.len);
	return names->outer.len;
}

/* A name with the scopes around it. */
static const char *spell(struct jp_dwarf_names *names, const char *name)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	size_t from = put_function_scope(names, &text) ? names->at.function_end : 0;
	if (names->text.len)
		jp_strbuf_add(&text, names->text.text + from, names->text.len - from);
	jp_strbuf_str(&text, name);
	return keep(names, &text);
}

/* ---- lambdas -------------------------------------------------------------------------------------- */

static bool is_call_operator(Dwarf_Die *die)
{
	static const char word[] = "operator()"; /* of a generic one: operator()<int> */
	const char *name = dwarf_tag(die) == DW_TAG_subprogram ? dwarf_diename(die) : NULL;
	return name && !strncmp(name, word, sizeof word - 1);
}

/* Whether a class without a name is that of a lambda. */
static bool is_lambda(Dwarf_Die *type)
{
	bool class = dwarf_tag(type) == DW_TAG_class_type;
	unsigned line = jp_dwarf_number(type, DW_AT_decl_line);
	Dwarf_Attribute attr;
	Dwarf_Die die;
	if (!line || dwarf_child(type, &die))
		return false;
	do
		if (is_call_operator(&die) && (dwarf_attr(&die, DW_AT_artificial, &attr) ||
		                               (class && jp_dwarf_number(&die, DW_AT_decl_line) == line &&
		                                !dwarf_attr(type, DW_AT_decl_column, &attr))))
			return true;
	while (!dwarf_siblingof(&die, &die));
	return false;
}

/* With -fdebug-types-section a class is a mere mention of one in another unit. */
static Dwarf_Die whole_type(const Dwarf_Die *type)
{
	Dwarf_Die at = *type, whole;
	Dwarf_Attribute attr;
	return dwarf_attr(&at, DW_AT_signature, &attr) && dwarf_formref_die(&attr, &whole) ? whole : at;
}

static const char *declared_in(struct jp_dwarf_names *names, Dwarf_Die *type)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(type, &unit, NULL, NULL) || unit.addr == names->source->unit.addr)
		return jp_dwarf_source_file(names->source, type, DW_AT_decl_file);
	struct jp_dwarf_source other = jp_dwarf_source_of(names->source->arena, &unit, &names->source->skeleton);
	const char *file = jp_dwarf_source_file(&other, type, DW_AT_decl_file);
	names->failed = names->failed || other.failed;
	return file;
}

static uint32_t add_lambda(struct jp_dwarf_names *names, Dwarf_Die *type)
{
	if (jp_array_push(names->lambdas, names->lambda_count, names->lambda_cap)) {
		names->failed = true;
		return JP_NONE;
	}
	names->lambdas[names->lambda_count] = (struct jp_lambda){
		.file = declared_in(names, type),
		.line = jp_dwarf_number(type, DW_AT_decl_line),
		.column = jp_dwarf_number(type, DW_AT_decl_column),
		.type = type->addr,
		.function = names->at.function.addr,
		.scope = spell(names, ""),
	};
	return (uint32_t)names->lambda_count++;
}

/* Whether another lambda stands in its line. Those of two instances of one template are one. */
static bool shares_line(const struct jp_dwarf_names *names, const struct jp_lambda *l)
{
	for (size_t i = 0; i < names->lambda_count; i++) {
		const struct jp_lambda *other = &names->lambdas[i];
		if (other->line == l->line && other->column != l->column && other->file && l->file &&
		    !strcmp(other->file, l->file))
			return true;
	}
	return false;
}

/* Where columns are not known, as from clang: the number of a lambda among those that stand in its line and scope; 0:
 * it is the only one. */
static unsigned number_in_line(const struct jp_dwarf_names *names, const struct jp_lambda *l)
{
	unsigned before = 0, all = 0;
	for (size_t i = 0; i < names->lambda_count; i++) {
		const struct jp_lambda *other = &names->lambdas[i];
		if (other->line != l->line || other->function != l->function || other->column || l->column ||
		    !other->file || !l->file || strcmp(other->file, l->file) != 0 || !other->scope || !l->scope ||
		    strcmp(other->scope, l->scope) != 0 || (other != l && other->type == l->type))
			continue;
		before += other < l;
		all++;
	}
	return all > 1 ? before + 1 : 0;
}

static void spell_lambda(struct jp_dwarf_names *names, struct jp_lambda *l)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const char *slash = l->file ? strrchr(l->file, '/') : NULL, *file = slash ? slash + 1 : l->file;
	unsigned number = number_in_line(names, l);
	jp_strbuf_printf(&text, "lambda at %s:%u", file ? file : "??", l->line);
	if (shares_line(names, l))
		jp_strbuf_printf(&text, ":%u", l->column);
	if (number)
		jp_strbuf_printf(&text, "#%u", number);
	l->brief = keep(names, &text);
	jp_strbuf_cut(&text, 0);
	jp_strbuf_printf(&text, "%slambda at %s:%u", l->scope ? l->scope : "", l->file ? l->file : "??", l->line);
	if (l->column)
		jp_strbuf_printf(&text, ":%u", l->column);
	if (number)
		jp_strbuf_printf(&text, "#%u", number);
	l->shown = keep(names, &text);
}

/* ---- the walk --------------------------------------------------------------------------------------- */

static const char *scope_name(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);
	bool anonymous = dwarf_tag(die) == DW_TAG_namespace && !name;
	return anonymous ? "(anonymous namespace)" : name ? name : "{unnamed}";
}

static bool is_type(int tag)
{
	return tag == DW_TAG_class_type || tag == DW_TAG_structure_type;
}

struct jp_dwarf_scope jp_dwarf_names_enter(struct jp_dwarf_names *names, Dwarf_Die *die)
{
	struct jp_dwarf_scope before = names->at;
	if (names->language == JP_DWARF_PLAIN)
		return before;
	bool nameless = names->language == JP_DWARF_CPLUSPLUS && is_type(dwarf_tag(die)) && !dwarf_diename(die);
	Dwarf_Die type = nameless ? whole_type(die) : *die;
	names->at.lambda = nameless && is_lambda(&type) ? add_lambda(names, &type) : JP_NONE;
	if (before.len < max_scope) {
		jp_strbuf_str(&names->text, scope_name(die));
		jp_strbuf_str(&names->text, "::");
	}
	names->at.len = names->text.len;
	if (dwarf_tag(die) == DW_TAG_subprogram) {
		names->at.function = *die;
		names->at.function_end = names->text.len;
	}
	return before;
}

void jp_dwarf_names_leave(struct jp_dwarf_names *names, const struct jp_dwarf_scope *before)
{
	names->at = *before;
	jp_strbuf_cut(&names->text, before->len);
}

void jp_dwarf_names_visit(struct jp_dwarf_names *names, Dwarf_Die *die)
{
	bool lambda = names->at.lambda != JP_NONE;
	const char *name = names->language != JP_DWARF_PLAIN && names->at.len ? dwarf_diename(die) : NULL;
	if (!name || (names->language == JP_DWARF_CPLUSPLUS && !lambda && linkage_name(die)))
		return;
	uint32_t id = jp_intern(&names->known, &die->addr, sizeof die->addr);
	if (id == JP_NONE || names->text.failed ||
	    jp_array_reserve(&names->spelled, &names->spelled_cap, (size_t)id + 1, sizeof *names->spelled)) {
		names->failed = true;
		return;
	}
	names->spelled[id] = (struct jp_spelled){ lambda ? NULL : spell(names, name), names->at.lambda };
}

/* ---- other units --------------------------------------------------------------------------------- */

static void walk_names(struct jp_dwarf_names *names, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;
	if (depth == deepest_scope || names->failed || dwarf_child(parent, &die))
		return;
	do {
		int tag = dwarf_tag(&die);
		bool scope = tag == DW_TAG_subprogram || tag == DW_TAG_namespace || tag == DW_TAG_module ||
		             is_type(tag) || tag == DW_TAG_union_type;
		struct jp_dwarf_scope before = names->at;
		if (tag == DW_TAG_subprogram)
			jp_dwarf_names_visit(names, &die);
		if (scope)
			(void)jp_dwarf_names_enter(names, &die);
		if (scope || tag == DW_TAG_lexical_block)
			walk_names(names, &die, depth + 1);
		jp_dwarf_names_leave(names, &before);
	} while (!names->failed && !dwarf_siblingof(&die, &die));
}

/* What a function of another unit is called: with -flto, those of the sources have the names, and with
 * -fdebug-types-section those of types. */
static void learn_unit(struct jp_dwarf_names *names, Dwarf_Die *die)
{
	Dwarf_Die unit;
	if (!dwarf_diecu(die, &unit, NULL, NULL) || unit.addr == names->source->unit.addr)
		return;
	uint32_t known = names->units.count;
	if (jp_intern(&names->units, &unit.addr, sizeof unit.addr) != known)
		return;
	struct jp_dwarf_source *own = names->source;
	struct jp_dwarf_source source = jp_dwarf_source_of(own->arena, &unit, &unit);
	enum jp_dwarf_language language = names->language;
	jp_dwarf_names_begin(names, &source, &unit);
	if (dwarf_tag(&unit) == DW_TAG_partial_unit) /* of dwz: a part of this one */
		names->language = language;
	if (names->language != JP_DWARF_PLAIN)
		walk_names(names, &unit, 0);
	names->failed = names->failed || source.failed;
	names->source = own;
	names->language = language;
}

/* ---- answers ------------------------------------------------------------------------------------ */

/* The linker's name where it says more than the source's (C++, Rust). In C it would only be an alias that some header
 * made (glibc's "__GI_x"). */
static const char *name_by_linker(Dwarf_Die *die)
{
	const char *name = linkage_name(die);
	return name && jp_is_mangled(name) ? name : NULL;
}

static void put_lambda(struct jp_dwarf_names *names, struct jp_lambda *lambda, struct jp_symframe *frame)
{
	if (!lambda->brief)
		spell_lambda(names, lambda);
	frame->brief = lambda->brief;
	if (!frame->name)
		frame->name = frame->shown = lambda->shown;
}

void jp_dwarf_names_put(struct jp_dwarf_names *names, Dwarf_Die *die, struct jp_symframe *frame)
{
	Dwarf_Die at = declaration_of(die);
	learn_unit(names, &at);
	uint32_t id = jp_intern_find(&names->known, &at.addr, sizeof at.addr);
	const struct jp_spelled *spelled = id == JP_NONE ? NULL : &names->spelled[id];
	frame->name = name_by_linker(die);
	if (spelled && spelled->lambda != JP_NONE) {
		put_lambda(names, &names->lambdas[spelled->lambda], frame);
	} else if (!frame->name) {
		const char *plain = dwarf_string(die, DW_AT_name);
		frame->name = spelled ? spelled->shown : plain;
		frame->shown = names->language == JP_DWARF_CPLUSPLUS || spelled ? frame->name : NULL;
	}
	if (names->language == JP_DWARF_FORTRAN && frame->shown) {
		const char *linkage = linkage_name(die);
		frame->brief = frame->shown;
		frame->name = linkage ? linkage : frame->shown;
	}
}
