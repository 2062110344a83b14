#include "ruby/ruby_tags.h"

#include <stdatomic.h>
#include <string.h>

#include "ruby/ruby_api.h"
#include "ruby/ruby_names.h"

enum { TAG_BYTES = 255 };

static _Atomic uintptr_t tag_id; /* of the fiber-local; 0: not known */
static char tag_texts[RUBY_TAGS_MOST + 1][TAG_BYTES];
static atomic_uchar tag_lengths[RUBY_TAGS_MOST + 1]; /* 0: the text is not known */
static atomic_bool tags_asked[RUBY_TAGS_MOST + 1];
static atomic_bool any_asked;
static void (*read_soon)(void);
static bool is_tag_used[RUBY_TAGS_OTHER + 1];

void ruby_tags_learn(void (*soon)(void))
{
	read_soon = soon;
	if (!atomic_load(&tag_id) && ruby.rb_thread_current && ruby.rb_thread_local_aref && ruby.rb_path2class &&
	    ruby.rb_intern && ruby.rb_const_get && ruby.rb_ary_entry)
		atomic_store(&tag_id, ruby.rb_intern("__jprof_tag"));
}

static void want_tag_text(uint32_t tag)
{
	if (tag > RUBY_TAGS_MOST || atomic_load_explicit(&tag_lengths[tag], memory_order_relaxed) ||
	    atomic_exchange(&tags_asked[tag], true))
		return;
	atomic_store(&any_asked, true);
	read_soon();
}

/* rb_thread_local_aref looks into the fiber's table of locals, which is whole whenever something is allocated for it. A
 * small Integer is twice its value and one. */
uint32_t ruby_tags_now(void)
{
	uintptr_t id = atomic_load_explicit(&tag_id, memory_order_relaxed);
	VALUE value = id ? ruby.rb_thread_local_aref(ruby.rb_thread_current(), id) : 0;
	VALUE tag = value & 1 ? value >> 1 : 0;
	if (!tag || tag > RUBY_TAGS_OTHER)
		return 0;
	want_tag_text((uint32_t)tag);
	return (uint32_t)tag;
}

static void keep_tag_text(uint32_t tag, struct text_span text)
{
	size_t len = text.len < TAG_BYTES ? text.len : TAG_BYTES;
	memcpy(tag_texts[tag], text.bytes, len);
	atomic_store_explicit(&tag_lengths[tag], (unsigned char)len, memory_order_release);
}

static bool is_array(VALUE value)
{
	enum { TYPE_MASK = 0x1f, T_ARRAY = 7, IMMEDIATES = 4096 };
	return value > IMMEDIATES && value % sizeof value == 0 && (*(const VALUE *)value & TYPE_MASK) == T_ARRAY;
}

/* Calls no method: a call checks for interrupts, and would take an exception that is meant for the program. */
static VALUE read_tag_texts(VALUE unused)
{
	volatile VALUE texts = ruby.rb_const_get(ruby.rb_path2class("Jprof"), ruby.rb_intern("TEXTS"));
	if (!is_array(texts))
		return unused;
	for (uint32_t tag = 1; tag <= RUBY_TAGS_MOST; tag++) {
		if (!atomic_load(&tags_asked[tag]) || atomic_load(&tag_lengths[tag]))
			continue;
		volatile VALUE text = ruby.rb_ary_entry(texts, (long)tag);
		keep_tag_text(tag, ruby_names_text(text));
	}
	return unused;
}

void ruby_tags_read(void)
{
	int state = 0;
	if (!atomic_exchange(&any_asked, false))
		return;
	VALUE error = ruby.rb_errinfo();
	ruby.rb_protect(read_tag_texts, 0, &state);
	if (state) {
		ruby.rb_set_errinfo(error);
		atomic_store(&any_asked, true);
	}
}

void ruby_tags_use(uint32_t tag)
{
	if (tag && tag <= RUBY_TAGS_OTHER)
		is_tag_used[tag] = true;
}

void ruby_tags_each_used(void (*each)(uint32_t, struct text_span, void *), void *arg)
{
	static const char other[] = "- other";
	for (uint32_t tag = 1; tag <= RUBY_TAGS_OTHER; tag++) {
		struct text_span text = { other, sizeof other - 1 };
		if (tag <= RUBY_TAGS_MOST)
			text = (struct text_span){ tag_texts[tag],
				                   atomic_load_explicit(&tag_lengths[tag], memory_order_acquire) };
		if (is_tag_used[tag] && text.len)
			each(tag, text, arg);
		is_tag_used[tag] = false;
	}
}
