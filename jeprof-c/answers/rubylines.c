#include "answers/rubylines.h"

#include <string.h>

const char *start_of_program(const char *title)
{
	static const struct {
		const char *word, *start;
	} programs[] = { { "puma", "bundle exec puma" },
		         { "sidekiq", "bundle exec sidekiq" },
		         { "unicorn", "bundle exec unicorn" } };
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		size_t len = strlen(programs[i].word);
		if (!strncmp(title, programs[i].word, len) && (!title[len] || strchr(" :-", title[len])))
			return programs[i].start;
	}
	return "COMMAND";
}

void ruby_lines_command(struct typed *command, const struct jprof_profile *profile, bool ruby, const char *title)
{
	/* What libjprof's notes say of stacks that it misses, and what has to stand before the command then. */
	static const struct {
		const char *note, *before; /* NULL: no command helps */
	} reasons[] = { { "no Ruby stacks were taken: JPROF_AGENT has ruby=off", "JPROF_AGENT=ruby=on " },
		        { "takes none", "" },
		        { "no Ruby stacks were taken: ", NULL },
		        { "the Ruby stacks of ", NULL } };
	const char *before = "", *note;
	if (!ruby || jprof_profile_info(profile)->has_ruby)
		return;
	for (size_t i = 0; (note = jprof_profile_note(profile, i)); i++)
		for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++)
			if (strstr(note, reasons[r].note)) {
				before = reasons[r].before;
				break;
			}
	if (!before)
		return;
	typed_add(command, before);
	typed_add(command, "jprof run -- ");
	typed_add(command, start_of_program(title));
}
