#include "cli/terminal.h"

#include <ctype.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "jprof.h"

static unsigned from_environment(const char *name)
{
	const char *text = getenv(name);
	unsigned long n = text ? strtoul(text, NULL, 10) : 0;
	return n < 100000 ? (unsigned)n : 0;
}

struct terminal_size terminal_size(void)
{
	struct winsize is = { 0 };
	struct terminal_size size = { .columns = 80 };
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &is))
		return size;
	size.columns = is.ws_col ? is.ws_col : from_environment("COLUMNS");
	size.lines = is.ws_row ? is.ws_row : from_environment("LINES");
	if (!size.columns)
		size.columns = 80;
	return size;
}

const char *terminal_plus_minus(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL;
	for (size_t i = 0; i < sizeof names / sizeof *names && (!locale || !*locale); i++)
		locale = getenv(names[i]);
	bool utf8 = locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
	return utf8 && isatty(STDOUT_FILENO) ? "\u00b1" : "+-";
}

int terminal_char_columns(uint32_t character)
{
	static locale_t unicode;
	if (character < 0x80)
		return 1;
	if (!unicode && !(unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)))
		return -1;
	locale_t before = uselocale(unicode);
	int columns = wcwidth((wchar_t)character);
	uselocale(before);
	return columns;
}

/* The columns of the first `len` bytes of UTF-8. */
static size_t columns_of_bytes(const char *s, size_t len)
{
	size_t sum = 0;
	for (size_t i = 0; i < len;) {
		unsigned char first = (unsigned char)s[i++];
		uint32_t code = first < 0xc0 ? first : first & (first < 0xe0 ? 0x1f : first < 0xf0 ? 0x0f : 0x07);
		for (; i < len && ((unsigned char)s[i] & 0xc0) == 0x80; i++)
			code = code << 6 | ((unsigned char)s[i] & 0x3f);
		int columns = terminal_char_columns(code);
		sum += columns < 0 ? 1 : (size_t)columns;
	}
	return sum;
}

void terminal_put(FILE *to, const char *text)
{
	size_t left = strlen(text);
	for (size_t n; left; text += n, left -= n) {
		n = jprof_visible_len(text, left);
		if (n)
			fwrite(text, 1, n, to);
		else
			fprintf(to, "\\x%02x", (unsigned)(unsigned char)text[n++]);
	}
}

/* A text as it is shown. */
struct shown {
	char *text;      /* all of it, or `brief` */
	char brief[256]; /* that memory is short can be said without any */
};

static void show(struct shown *shown, const char *text)
{
	enum { most_for_byte = 4 };
	size_t size = most_for_byte * strlen(text) + 1;
	char *all = size > sizeof shown->brief ? malloc(size) : NULL;
	shown->text = all ? all : shown->brief;
	jprof_visible(text, shown->text, all ? size : sizeof shown->brief);
}

static void end_shown(struct shown *shown)
{
	if (shown->text != shown->brief)
		free(shown->text);
}

size_t terminal_columns(const char *text)
{
	struct shown shown;
	show(&shown, text);
	size_t columns = columns_of_bytes(shown.text, strlen(shown.text));
	end_shown(&shown);
	return columns;
}

static bool starts_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

/* The two ends of a text that was made visible, with "..." between them; the second one has `tail` columns or fewer. */
static void put_two_ends(FILE *to, const char *shown, size_t room, size_t tail_most)
{
	static const size_t dots = 3;
	size_t len = strlen(shown), head = 0, tail = len, most = room > dots ? room - dots : 0;
	if (columns_of_bytes(shown, len) <= room || !most) {
		fwrite(shown, 1, columns_of_bytes(shown, len) <= room ? len : 0, to);
		return;
	}
	size_t front = tail_most < most ? most - tail_most : 0;
	for (size_t i = 1; i <= len && columns_of_bytes(shown, i) <= front; i++)
		head = i == len || starts_character(shown[i]) ? i : head;
	size_t left = most - columns_of_bytes(shown, head);
	for (size_t i = len; i-- > head && columns_of_bytes(shown + i, len - i) <= left;)
		tail = starts_character(shown[i]) ? i : tail;
	fprintf(to, "%.*s...%s", (int)head, shown, shown + tail);
}

static size_t half_of(size_t room)
{
	return room / 2 - (room > 2 ? 1 : 0);
}

void terminal_put_cut(FILE *to, const char *text, size_t room)
{
	struct shown shown;
	show(&shown, text);
	put_two_ends(to, shown.text, room, half_of(room));
	end_shown(&shown);
}

/* Where a place ends: behind the number of the first ":42" before a blank or the end; 0: there is none. */
static size_t place_end(const char *shown)
{
	for (const char *colon = strchr(shown, ':'); colon; colon = strchr(colon + 1, ':')) {
		size_t digits = strspn(colon + 1, "0123456789");
		if (digits && (!colon[1 + digits] || colon[1 + digits] == ' '))
			return (size_t)(colon - shown) + 1 + digits;
	}
	return 0;
}

void terminal_put_place(FILE *to, const char *text, size_t room)
{
	static const char inlined[] = " (inline)";
	struct shown shown;
	show(&shown, text);
	size_t end = place_end(shown.text), tail = half_of(room), len = strlen(shown.text);
	if (!end && len > strlen(inlined) && !strcmp(shown.text + len - strlen(inlined), inlined))
		end = len - strlen(inlined);
	if (end && columns_of_bytes(shown.text, len) > room) {
		shown.text[end] = '\0';
		const char *slash = strrchr(shown.text, '/');
		size_t file = slash ? columns_of_bytes(slash, strlen(slash)) : 0;
		tail = file > tail && file + 3 <= room ? file : tail;
	}
	put_two_ends(to, shown.text, room, tail);
	end_shown(&shown);
}

/* The length of the first word of a text; a number and its unit are one: "36 %)," "4.2 MB". */
static size_t word_length(const char *text)
{
	size_t len = strcspn(text, " ");
	const char *unit = text + len + (text[len] == ' ');
	size_t letters = strspn(unit, "%BKMG");
	bool measured = len && text[len] && isdigit((unsigned char)text[len - 1]) && letters && letters <= 2 &&
	                !isalnum((unsigned char)unit[letters]);
	return measured ? len + 1 + strcspn(unit, " ") : len;
}

/* The words on lines of `room` columns, with `between` where one line ends and the next begins. */
static size_t wrap_words(FILE *to, const char *text, size_t room, const char *between, unsigned indent)
{
	size_t lines = 0, used = 0;
	struct shown shown;
	show(&shown, text);
	for (const char *word = shown.text + strspn(shown.text, " "); *word;) {
		size_t len = word_length(word), wide = columns_of_bytes(word, len);
		if (lines && used + 1 + wide <= room) {
			fputc(' ', to);
			used++;
		} else {
			if (lines++)
				fprintf(to, "%s%*s", between, (int)indent, "");
			used = 0;
		}
		fwrite(word, 1, len, to);
		used += wide;
		word += len + strspn(word + len, " ");
	}
	end_shown(&shown);
	fputs(lines ? "\n" : "", to);
	return lines;
}

size_t terminal_wrap(FILE *to, const char *text, unsigned columns)
{
	return wrap_words(to, text, columns, "\n", 0);
}

size_t terminal_wrap_after(FILE *to, unsigned used, const char *text, unsigned columns)
{
	return wrap_words(to, text, columns > used ? columns - used : 1, "\n", used);
}

bool terminal_put_short_lines(FILE *to, size_t used, const char *text, size_t columns)
{
	enum { few_columns = 60 };
	size_t blanks = strspn(text, " "), longest = 0;
	for (size_t i = blanks, len; text[i]; i += len + strspn(text + i + len, " ")) {
		len = strcspn(text + i, " ");
		longest = len > longest ? len : longest;
	}
	if (columns >= few_columns || used + blanks + longest > columns)
		return false;
	fprintf(to, "%*s", (int)blanks, "");
	terminal_wrap_after(to, (unsigned)(used + blanks), text, (unsigned)columns);
	return true;
}

void terminal_put_rest(unsigned used, const char *text)
{
	if (isatty(STDOUT_FILENO)) {
		terminal_wrap_after(stdout, used, text, terminal_size().columns);
	} else {
		terminal_put(stdout, text);
		putchar('\n');
	}
}

size_t terminal_wrap_command(FILE *to, const char *command, unsigned columns)
{
	static const unsigned ending = 2; /* " \" */
	return terminal_columns(command) <= columns
	           ? terminal_wrap(to, command, columns)
	           : wrap_words(to, command, columns > ending ? columns - ending : 1, " \\\n", 0);
}
