#include "ruby/dumptable.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "epoch.h"
#include "ruby/ruby_api.h"
#include "ruby/ruby_interpreter.h"
#include "ruby/ruby_stacks.h"
#include "ruby/ruby_tags.h"
#include "ruby/slotdata.h"
#include "ruby/slots.h"
#include "ruby/slottable.h"
#include "ruby/stacktree.h"
#include "self.h"
#include "synthetic.h"
#include "textbuf.h"

enum { TABLE_BLOCK = 64 << 10, TABLE_PATIENCE_MS = 1000, TEXTS = 1 << 20 };

static bool is_on;
static atomic_flag making_table = ATOMIC_FLAG_INIT;

void dumptable_init(void)
{
	is_on = true;
}

bool dumptable_is_on(void)
{
	return is_on;
}

void dumptable_forked(void)
{
	atomic_flag_clear(&making_table);
}

void dumptable_begin(struct dumptable_bounds *bounds)
{
	bounds->slots = 0;
	bounds->before = is_on && epoch_is_on() ? epoch_close() - 1 : 0;
	bounds->after = bounds->before + 1;
}

void dumptable_end(struct dumptable_bounds *bounds)
{
	if (is_on && epoch_is_on())
		bounds->after = epoch_close();
}

/* ---- reading the dump ---- */

struct scan {
	uint64_t size, check;
	uint64_t value; /* of the hexadecimal digits before this byte */
	bool at_start;  /* of a line */
	bool in_stack, in_maps;
};

static void note_address(uint64_t address)
{
	uint32_t number;
	if (!synthetic_number(address, &number))
		return;
	if (number >= SYNTHETIC_EPOCHS)
		epoch_use(number - SYNTHETIC_EPOCHS);
	else if (number >= SYNTHETIC_TAGS)
		ruby_tags_use(number - SYNTHETIC_TAGS);
	else
		stacktree_stock_use(number - SYNTHETIC_NODES);
}

static int digit_of(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Lines of addresses begin with @; the maps with MAPPED_LIBRARIES. */
static void scan_byte(struct scan *scan, unsigned char c)
{
	int digit = digit_of(c);
	if (scan->at_start) {
		scan->in_stack = c == '@';
		scan->in_maps |= c == 'M';
	}
	scan->at_start = c == '\n';
	if (!scan->in_stack || scan->in_maps)
		return;
	if (digit < 0 && scan->value)
		note_address(scan->value);
	scan->value = digit < 0 ? 0 : scan->value << 4 | (unsigned)digit;
}

/* FNV-1a, 64 bits. */
static bool scan_dump(int fd, struct scan *scan)
{
	static unsigned char block[TABLE_BLOCK];
	ssize_t len;
	*scan = (struct scan){ .check = 0xcbf29ce484222325u, .at_start = true };
	while ((len = pread(fd, block, sizeof block, (off_t)scan->size)) > 0) {
		for (ssize_t i = 0; i < len; i++) {
			scan->check = (scan->check ^ block[i]) * 0x100000001b3u;
			scan_byte(scan, block[i]);
		}
		scan->size += (uint64_t)len;
	}
	return len == 0;
}

/* ---- the text ---- */

static void add_text(struct textbuf *text, struct text_span span)
{
	static const char digits[] = "0123456789ABCDEF";
	for (size_t i = 0; i < span.len; i++) {
		unsigned char c = (unsigned char)span.bytes[i];
		if (c < 0x20 || c == 0x7f || c == '%')
			textbuf_add(text, (char[]){ '%', digits[c >> 4], digits[c & 15] }, 3);
		else
			textbuf_add(text, span.bytes + i, 1);
	}
	textbuf_str(text, "\n");
}

static struct text_span span_of(const char *s)
{
	return (struct text_span){ s, s ? strlen(s) : 0 };
}

static void add_ruby(struct textbuf *text)
{
	const char *version = ruby_api_present() ? ruby.ruby_version : NULL, *why = ruby_stacks_refusal();
	const struct code_range *functions;
	size_t count = ruby_interpreter_functions(&functions);
	textbuf_printf(text, "ruby %s %s", version ? version : "-", why ? "off " : "on");
	add_text(text, span_of(why));
	for (size_t i = 0; i < count; i++) {
		textbuf_printf(text, "interpreter %llx %llx ",
		               (unsigned long long)(functions[i].begin - (uintptr_t)ruby_api_image()),
		               (unsigned long long)(functions[i].end - functions[i].begin));
		add_text(text, span_of(ruby_api_path()));
	}
}

/* Where the process is: paths of its own code are shown from there on. glibc's getcwd may open directories. */
static void add_directory(struct textbuf *text)
{
	static char path[PATH_MAX];
	if (syscall(SYS_getcwd, path, sizeof path) <= 0 || *path != '/')
		return;
	textbuf_str(text, "directory ");
	add_text(text, span_of(path));
}

static void add_head(struct textbuf *text, const struct scan *scan, const struct dumptable_bounds *bounds)
{
	uint64_t now = epoch_clock();
	textbuf_str(text, "jprof-table 1\nprocess ");
	self_process(text);
	textbuf_printf(text, "\ndump %llu %llx\n", (unsigned long long)scan->size, (unsigned long long)scan->check);
	textbuf_printf(text, "ids %llx %x %x %x %x\n", (unsigned long long)synthetic_start(), SYNTHETIC_NODES,
	               SYNTHETIC_TAGS, SYNTHETIC_EPOCHS, SYNTHETIC_END);
	add_directory(text);
	add_ruby(text);
	textbuf_printf(text, "time %llu.%03llu\n", (unsigned long long)now / 1000, (unsigned long long)now % 1000);
	if (epoch_is_on()) {
		const struct epoch_start start = epoch_start();
		textbuf_printf(text, "start %llu.%03llu %u %u\n", (unsigned long long)start.time / 1000,
		               (unsigned long long)start.time % 1000, start.first, start.forks);
		textbuf_printf(text, "bounds %u %u\n", bounds->before, bounds->after);
	}
}

static void add_epoch(uint32_t epoch, uint64_t begin, uint64_t end, void *arg)
{
	struct textbuf *text = arg;
	textbuf_printf(text, "e %u %llu.%03llu ", epoch, (unsigned long long)begin / 1000,
	               (unsigned long long)begin % 1000);
	if (end)
		textbuf_printf(text, "%llu.%03llu\n", (unsigned long long)end / 1000, (unsigned long long)end % 1000);
	else
		textbuf_str(text, "-\n");
}

static void add_tag(uint32_t tag, struct text_span span, void *arg)
{
	struct textbuf *text = arg;
	textbuf_printf(text, "t %u ", tag);
	add_text(text, span);
}

static unsigned char is_table_written[TEXTS / 8];
static unsigned long lines;

static void add_string(struct textbuf *text, uint32_t string)
{
	unsigned char bit = (unsigned char)(1u << string % 8);
	if (!string || string >= TEXTS || is_table_written[string / 8] & bit)
		return;
	is_table_written[string / 8] |= bit;
	textbuf_printf(text, "s %u ", string);
	add_text(text, texts_get(string));
}

static void add_node(uint32_t node, uint32_t parent, const struct stacktree_frame *frame, void *arg)
{
	static const char words[][12] = {
		[STACKTREE_AFTER_GC] = "after-gc", [STACKTREE_JOB] = "job",     [STACKTREE_FULL] = "full",
		[STACKTREE_BUSY] = "busy",         [STACKTREE_IN_GC] = "in-gc", [STACKTREE_CUT] = "cut"
	};
	struct textbuf *text = arg;
	lines++;
	if (frame->kind == STACKTREE_MARKER) {
		textbuf_printf(text, "m %u %u %s %u\n", node, parent, words[frame->method], frame->line);
		return;
	}
	add_string(text, frame->path);
	add_string(text, frame->class);
	add_string(text, frame->method);
	textbuf_printf(text, "n %u %u %u %u %u %c %u\n", node, parent, frame->path, frame->line, frame->class,
	               (int)frame->kind, frame->method);
}

static void add_slot(const struct slot_sample *sample, void *arg)
{
	struct textbuf *text = arg;
	add_string(text, sample->class);
	textbuf_printf(text, "o %llx %u %u %u %u %u %u %u\n", (unsigned long long)sample->object, sample->node,
	               sample->tag, sample->epoch, sample->type, sample->class, sample->slot, sample->size);
	if (sample->moved)
		textbuf_printf(text, "b %u\n", sample->moved * (unsigned)SLOTDATA_UNIT);
}

static void add_slots(struct textbuf *text, uint32_t stock)
{
	if (!stock)
		return;
	textbuf_str(text, "slots ");
	slots_line(text);
	textbuf_str(text, "\n");
	slots_each(stock, add_slot, text);
}

static bool is_first(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	for (int i = 0; i < TABLE_PATIENCE_MS; i++) {
		if (!atomic_flag_test_and_set(&making_table))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

bool dumptable_make(int fd, const struct dumptable_bounds *bounds, struct textbuf *text)
{
	struct scan scan;
	if (!is_first())
		return false;
	stacktree_stock_begin();
	bool read = scan_dump(fd, &scan);
	slots_use();
	lines = 0;
	memset(is_table_written, 0, sizeof is_table_written);
	add_head(text, &scan, bounds);
	epoch_each_used(add_epoch, text);
	ruby_tags_each_used(add_tag, text);
	stacktree_each_used(add_node, text);
	add_slots(text, bounds->slots);
	textbuf_printf(text, "end %lu\n", lines);
	stacktree_stock_end(read && scan.in_maps);
	atomic_flag_clear(&making_table);
	return read && !text->failed;
}
