#include "cli/words.h"

#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/shortage.h"

/* Takes a word off the front of *from and writes it to *to, quotes undone. False at the end, or with a quote open. */
static bool take_typed_word(const char **from, char **to, const char **word, bool *open)
{
	const char *p = *from + strspn(*from, " \t");
	char quote = 0, *w = *to;
	*word = w;
	*open = false;
	if (!*p)
		return false;
	for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"')
			quote = quote ? 0 : *p;
		else
			*w++ = *p;
	}
	*w++ = '\0';
	*from = p;
	*to = w;
	*open = quote;
	return !quote;
}

static bool add_word(struct words *words, const char *word)
{
	if (words->count == words_most) {
		say("more than %d words", words_most);
		return false;
	}
	words->list[words->count++] = word;
	return true;
}

static bool parse_words(struct words *words, const char *line)
{
	char *to = words->text;
	const char *word;
	bool open, good = true, file_next = false;
	while (good && take_typed_word(&line, &to, &word, &open)) {
		if ((file_next || *word == '>') && words->file) {
			say("> FILE can be given once");
			return false;
		}
		if (file_next || (*word == '>' && word[1])) {
			words->file = word + (*word == '>' && !file_next);
			file_next = false;
		} else if (!strcmp(word, ">")) {
			file_next = true;
		} else if (*word == '|' && !word[1]) {
			say("no other program is started: write to a file, with > FILE");
			return false;
		} else {
			good = add_word(words, word);
		}
	}
	if (good && open)
		say("a quote is not closed");
	else if (good && (file_next || (words->file && !*words->file)))
		say("> needs the name of a file");
	else if (good && words->file && *words->file == '>')
		say(">> is not known; > FILE writes a new file");
	else
		return good;
	return false;
}

bool words_parse(struct words *words, const char *line)
{
	*words = (struct words){ .text = malloc(2 * strlen(line) + 2) };
	if (words->text)
		return parse_words(words, line);
	say("memory is short");
	return false;
}

char *words_join(const char *const *list, size_t count)
{
	size_t len = 1;
	for (size_t i = 0; i < count; i++)
		len += strlen(list[i]) + 1;
	char *text = count ? shortage_note(malloc(len)) : NULL, *end = text;
	for (size_t i = 0; text && i < count; i++) {
		if (i)
			*end++ = '|';
		end = stpcpy(end, list[i]);
	}
	return text;
}

void words_release(struct words *words)
{
	free(words->text);
}
