/* Text cut to a width: in the middle, at its end, before a tail that stays. */
#include "base/columns.h"
#include "harness.h"

static int two_columns_each(uint32_t character)
{
	return character > 0x7f ? 2 : 1;
}

TEST(test_cuts)
{
	static const struct {
		const char *text;
		size_t room;
		const char *middle, *head, *tail; /* the tail is what follows the last slash, with it */
	} cuts[] = {
		{ "app/models/user.rb:42", 30, "app/models/user.rb:42", "app/models/user.rb:42",
		  "app/models/user.rb:42" },
		{ "app/models/user.rb:42", 21, "app/models/user.rb:42", "app/models/user.rb:42",
		  "app/models/user.rb:42" },
		{ "app/models/user.rb:42", 20, "app/model...er.rb:42", "app/models/user.r...", "app/mo.../user.rb:42" },
		{ "app/models/user.rb:42", 14, "app/mo...rb:42", "app/models/...", ".../user.rb:42" },
		{ "app/models/user.rb:42", 13, "app/m...rb:42", "app/models...", "app/m...rb:42" },
		{ "app/models/user.rb:42", 4, "a...", "a...", "a..." },
		{ "app/models/user.rb:42", 3, "app", "app", "app" },
		{ "app/models/user.rb:42", 0, "", "", "" },
		{ "\u00e4\u00e4\u00e4\u00e4/b.rb:7", 12, "\u00e4\u00e4....rb:7", "\u00e4\u00e4\u00e4\u00e4/...",
		  "\u00e4.../b.rb:7" },
	};
	for (size_t i = 0; i < jp_count(cuts); i++) {
		const char *text = cuts[i].text, *wanted[] = { cuts[i].middle, cuts[i].head, cuts[i].tail };
		for (int way = 0; way < 3; way++) {
			struct jp_strbuf out = { 0 };
			size_t used = way == 0 ? jp_put_cut(&out, text, cuts[i].room, two_columns_each)
			              : way == 1
			                  ? jp_put_head(&out, text, cuts[i].room, two_columns_each)
			                  : jp_put_tail(&out, text, strrchr(text, '/'), cuts[i].room, two_columns_each);
			jp_strbuf_str(&out, "");
			assert_string_equal(out.text, wanted[way]);
			assert_int_equal(used, jp_columns(out.text, two_columns_each));
			assert_true(used <= cuts[i].room || !*out.text);
			jp_strbuf_release(&out);
		}
	}
}
