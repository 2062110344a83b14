#include "ruby/ruby_stacks.h"

#include <stdatomic.h>
#include <string.h>

#include "ruby/ruby_api.h"
#include "ruby/ruby_interpreter.h"
#include "ruby/ruby_last.h"
#include "ruby/ruby_names.h"
#include "ruby/ruby_vm.h"
#include "ruby/stacktree.h"

enum { LINE_UNKNOWN = 0 };

static atomic_bool ready;
static bool tried;
static const char *refusal = "no Ruby stack can be read before Ruby was up, and something was sampled";

void ruby_stacks_refuse(const char *why)
{
	tried = true;
	refusal = why;
}

bool ruby_stacks_learn(void)
{
	if (tried)
		return true;
	if (ruby_interpreter_is_early())
		return false;
	ruby_stacks_refuse("Ruby raised an exception where the agent looked at its functions");
	refusal = ruby_interpreter_learn();
	atomic_store(&ready, !refusal);
	ruby_last_learn();
	return true;
}

const char *ruby_stacks_refusal(void)
{
	return refusal;
}

static bool is_ready(void)
{
	return atomic_load_explicit(&ready, memory_order_acquire) && !ruby_vm_is_ending();
}

bool ruby_stacks_serve(void)
{
	return is_ready() && ruby_vm_serves() && ruby_vm_is_alone();
}

uint32_t ruby_stacks_collector(void)
{
	return is_ready() && ruby_vm_is_alone() && ruby_vm_collects() ? STACKTREE_IN_GC : 0;
}

uint32_t ruby_stacks_job(void)
{
	bool moves_data = ruby.ruby_version[0] == '3' && ruby.ruby_version[2] <= '2';
	return moves_data ? STACKTREE_AFTER_GC : STACKTREE_JOB;
}

/* What Ruby said of a stack, innermost first. */
struct taken {
	VALUE *frames;
	int *lines;
	int count, room;
	int innermost;   /* that has a line, -1: none */
	uint32_t sample; /* a number of its own, but for those long before */
};

static struct taken take_frames(void)
{
	static uint32_t samples;
	size_t size;
	struct taken taken = { .frames = stacktree_scratch(&size), .innermost = -1, .sample = ++samples };
	taken.room = (int)(size / (sizeof *taken.frames + sizeof *taken.lines));
	taken.lines = (int *)(void *)(taken.frames + taken.room);
	taken.count = ruby.rb_profile_frames(0, taken.room, taken.frames, taken.lines);
	return taken;
}

/* ---- code that was evaluated ----
 *
 * Ruby gives the path of the method around it, and a line of its own. Of the innermost frame the path is to be had. Of
 * others it is not, but what called them shows them. */

static bool is_word(struct text_span span, const char *word)
{
	return span.len == strlen(word) && memcmp(span.bytes, word, span.len) == 0;
}

/* What a frame is called by. */
struct caller {
	VALUE frame; /* the nearest that has a line */
	int line;
	bool evals; /* there is an eval between */
	bool may_eval;
};

static bool is_evaluated(const struct caller *caller, VALUE frame, int line)
{
	return caller->evals || (caller->may_eval && frame == caller->frame && line < caller->line);
}

static void call_from(struct caller *caller, const struct ruby_names *names, VALUE frame, int line)
{
	struct text_span by = names->path.len ? (struct text_span){ "", 0 } : names->method;
	caller->evals = is_word(by, "eval");
	caller->may_eval = is_word(by, "instance_eval") || is_word(by, "class_eval") || is_word(by, "module_eval");
	if (names->path.len) {
		caller->frame = frame;
		caller->line = line;
	}
}

/* The path of the innermost frame that has one, as Ruby gives it to warnings. */
static void correct_innermost(struct ruby_names *names, int line)
{
	const char *path = ruby.rb_sourcefile && ruby.rb_sourceline ? ruby.rb_sourcefile() : NULL;
	if (path && path != names->path.bytes && ruby.rb_sourceline() == line)
		names->path = (struct text_span){ path, strlen(path) };
}

static void correct_path(struct ruby_names *names, const struct caller *caller, const struct taken *taken, int i)
{
	static const char unknown[] = "(eval)";
	if (!names->path.len || !ruby_names_by_method(taken->frames[i]))
		return;
	if (i == taken->innermost)
		correct_innermost(names, taken->lines[i]);
	else if (is_evaluated(caller, taken->frames[i], taken->lines[i]))
		names->path = (struct text_span){ unknown, sizeof unknown - 1 };
}

/* ---- nodes ---- */

static struct stacktree_frame bare_frame(const struct ruby_names *names, int line)
{
	return (struct stacktree_frame){ .line = line > 0 && names->path.len ? (uint32_t)line : LINE_UNKNOWN,
		                         .kind = (unsigned char)names->kind };
}

static uint32_t add_frame(uint32_t parent, const struct ruby_names *names, int line, bool last)
{
	struct stacktree_frame frame = bare_frame(names, line);
	frame.path = texts_hold(names->path, last);
	frame.class = texts_hold(names->class, last);
	frame.method = texts_hold(names->method, last);
	bool whole = (frame.path || !names->path.len) && (frame.class || !names->class.len) &&
	             (frame.method || !names->method.len);
	if (whole)
		return stacktree_node(parent, &frame, last);
	texts_release(frame.path);
	texts_release(frame.class);
	texts_release(frame.method);
	return 0;
}

/* Where the kept frame at this place from the outermost on is among those that were taken. */
static int index_of(const struct taken *taken, int place)
{
	bool is_behind_cut = taken->count > RUBY_KEPT && place >= RUBY_OUTER;
	return is_behind_cut ? RUBY_KEPT - 1 - place : taken->count - 1 - place;
}

/* Up to which place, from `place` on, the frames are those of the last stack; `end` is the first that is not looked at.
 */
static int skip_common(const struct taken *taken, const struct ruby_last *last, int place, int end)
{
	const struct ruby_last_frame *known = last->frames;
	int i = index_of(taken, place);
	for (; place < end && known[place].frame == taken->frames[i] && known[place].line == taken->lines[i]; place++)
		i--;
	return place;
}

/* How many of the outermost are those of the last stack, up to the innermost that has a line: its path was had in
 * another way. */
static int count_common(const struct taken *taken, const struct ruby_last *last)
{
	int end = last->used, total = taken->count < RUBY_KEPT ? taken->count : RUBY_KEPT;
	if (end > total - taken->innermost - 1)
		end = total - taken->innermost - 1;
	if (end <= 0)
		return 0;
	int outer = taken->count > RUBY_KEPT && end > RUBY_OUTER ? RUBY_OUTER : end;
	int place = skip_common(taken, last, 0, outer);
	return place == outer && outer < end ? skip_common(taken, last, outer, end) : place;
}

/* A frame, which may occur several times in a stack: nothing is freed while one is taken down. */
struct named_frame {
	VALUE frame;
	uint32_t sample;
	bool is_kept; /* these names are the texts of `kept` */
	struct ruby_names names;
	struct stacktree_frame kept;
};

static struct named_frame *names_in_stack(const struct taken *taken, int i)
{
	enum { PLACES = 64 };
	static struct named_frame all[PLACES];
	VALUE frame = taken->frames[i];
	struct named_frame *named = &all[(frame >> 3 ^ frame >> 9) % PLACES];
	if (named->frame != frame || named->sample != taken->sample) {
		*named = (struct named_frame){ .frame = frame, .sample = taken->sample };
		ruby_names_of(frame, &named->names);
	}
	return named;
}

/* Is it the node still? Texts are compared once in a stack, unless the path was corrected. */
static bool is_still_node(uint32_t node, uint32_t parent, const struct ruby_names *names, int line,
                          struct named_frame *named)
{
	const struct text_span texts[] = { names->path, names->class, names->method };
	struct stacktree_frame frame = bare_frame(names, line);
	bool as_named = names->path.bytes == named->names.path.bytes;
	if (as_named && named->is_kept) {
		frame.path = named->kept.path;
		frame.class = named->kept.class;
		frame.method = named->kept.method;
		return stacktree_has(node, parent, &frame);
	}
	if (!stacktree_is(node, parent, &frame, texts))
		return false;
	if (as_named)
		named->kept = stacktree_frame_of(node);
	named->is_kept |= as_named;
	return true;
}

/* `before` is the node of an equal frame at this place of the last stack; 0: there is none. */
static uint32_t add_one(uint32_t parent, const struct taken *taken, int i, struct caller *caller, uint32_t before)
{
	struct named_frame *named = names_in_stack(taken, i);
	struct ruby_names names = named->names;
	correct_path(&names, caller, taken, i);
	call_from(caller, &names, taken->frames[i], taken->lines[i]);
	if (before && is_still_node(before, parent, &names, taken->lines[i], named))
		return before;
	return add_frame(parent, &names, taken->lines[i], false);
}

/* Begins two frames further out than needed, for who calls a frame may tell about it; in doubt with the outermost. */
static uint32_t add_kept(const struct taken *taken, struct ruby_last *last)
{
	int total = taken->count < RUBY_KEPT ? taken->count : RUBY_KEPT, common = count_common(taken, last);
	struct caller caller = { 0 };
	last->used = common > 2 && !last->in_doubt ? common - 2 : 0;
	uint32_t node = last->used ? last->frames[last->used - 1].node : 0;
	for (int place = last->used; place < total; place++) {
		int i = index_of(taken, place);
		if (taken->count > RUBY_KEPT && place == RUBY_OUTER) {
			node = stacktree_mark(node, STACKTREE_CUT, (uint32_t)(taken->count - RUBY_KEPT));
			caller = (struct caller){ 0 };
		}
		uint32_t before = place < common ? last->frames[place].node : 0;
		node = node || !place ? add_one(node, taken, i, &caller, before) : 0;
		if (!node)
			return 0;
		if (i > taken->innermost && last->used == place)
			last->frames[last->used++] =
			    (struct ruby_last_frame){ taken->frames[i], taken->lines[i], node };
	}
	return node;
}

/* The outermost are not known: there were more than there is room for. */
static uint32_t add_inner(const struct taken *taken)
{
	struct caller caller = { 0 };
	uint32_t node = stacktree_mark(0, STACKTREE_CUT, 0);
	for (int i = RUBY_INNER - 1; i >= 0 && node; i--)
		node = add_one(node, taken, i, &caller, 0);
	return node;
}

/* Was this line sampled some times before, as far as its place among the last is not another's by now? Evaluated code
 * that runs once never was, and would take the room that is kept back for lines. */
static bool is_repeated(const struct ruby_names *names, int line)
{
	enum { PLACES = 4096, TIMES = 4 };
	static struct {
		uint32_t hash, times;
	} seen[PLACES];
	uint32_t hash = texts_hash(names->path) * 31 + texts_hash(names->method) + (uint32_t)line;
	uint32_t place = hash % PLACES;
	if (seen[place].hash != hash)
		seen[place].times = 0;
	seen[place].hash = hash;
	return ++seen[place].times >= TIMES;
}

/* There is no room for the stack: its innermost line alone. */
static uint32_t add_line(const struct taken *taken)
{
	struct ruby_names names;
	if (taken->innermost < 0)
		return STACKTREE_FULL;
	int line = taken->lines[taken->innermost];
	ruby_names_of(taken->frames[taken->innermost], &names);
	correct_innermost(&names, line);
	uint32_t node = add_frame(STACKTREE_FULL, &names, line, false);
	if (!node && is_repeated(&names, line))
		node = add_frame(STACKTREE_FULL, &names, line, true);
	return node ? node : STACKTREE_FULL;
}

static void find_innermost(struct taken *taken)
{
	for (int i = 0; i < taken->count && taken->innermost < 0; i++)
		if (ruby.rb_profile_frame_path(taken->frames[i]) > 4096)
			taken->innermost = i;
}

uint32_t ruby_stacks_take(void)
{
	if (!stacktree_try_lock())
		return STACKTREE_BUSY;
	struct taken taken = take_frames();
	find_innermost(&taken);
	uint32_t node = 0;
	if (taken.count == taken.room)
		node = add_inner(&taken);
	else if (taken.count > 0)
		node = add_kept(&taken, ruby_last_here(taken.count));
	if (!node && taken.count > 0)
		node = add_line(&taken);
	stacktree_unlock();
	return node;
}
