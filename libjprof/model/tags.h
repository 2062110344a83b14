/* Tags: what a program was at when it allocated, as it said itself (docs/tags.md): a route, a job, or just a text.
 * Equal ones have one id, whatever numbers they had in their processes. A sample has its tag in its label. */
#pragma once

#include "base/intern.h"
#include "base/strbuf.h"
#include "input/rubytable.h"

/* The id of a tag; JP_NONE when memory is short. */
uint32_t jp_tag_id(struct jp_intern *tags, enum jp_tag_kind kind, const char *text);

enum jp_tag_kind jp_tag_kind(const struct jp_intern *tags, uint32_t id);

/* "" for JP_NONE, which is no tag. */
const char *jp_tag_text(const struct jp_intern *tags, uint32_t id);

/* "route", "job", or NULL: a text and nothing more is known. */
const char *jp_tag_word(enum jp_tag_kind kind);

/* Adds what is shown: "route GET /users/:id", "(no tag)". */
void jp_put_tag(const struct jp_intern *tags, uint32_t id, struct jp_strbuf *out);
