/* Whose code a frame is, as pictures colour it: of Ruby by its path, else by its object file. */
#pragma once

#include "view/view.h"

enum jp_whose {
	JP_WHOSE_APPLICATION,
	JP_WHOSE_GEM, /* in Ruby, or an extension that it brings */
	JP_WHOSE_STDLIB,
	JP_WHOSE_VM, /* Ruby's own, or that of another interpreter */
	JP_WHOSE_NATIVE,
	JP_WHOSE_UNKNOWN, /* in no file */
	JP_WHOSE_COUNT
};

struct jp_whose_words {
	const char *key;   /* for programs, and a class of CSS */
	const char *shown; /* in a legend */
};

extern const struct jp_whose_words jp_whose_words[JP_WHOSE_COUNT];

/* Of a frame of the view. */
enum jp_whose jp_whose_frame(const struct jprof_view *view, uint32_t frame);

/* Of an object file. */
enum jp_whose jp_whose_object(const struct jp_code *code, uint32_t object);
