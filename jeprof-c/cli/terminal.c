#include "cli/terminal.h"

#include <locale.h>
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

size_t terminal_wrap(FILE *to, const char *text, unsigned columns)
{
	size_t lines = 0, used = 0;
	char shown[8192]; /* no sentence is as long */
	jprof_visible(text, shown, sizeof shown);
	for (const char *word = shown + strspn(shown, " "); *word;) {
		size_t len = strcspn(word, " "), wide = columns_of_bytes(word, len);
		if (lines && used + 1 + wide <= columns) {
			fputc(' ', to);
			used++;
		} else {
			fputs(lines++ ? "\n" : "", to);
			used = 0;
		}
		fwrite(word, 1, len, to);
		used += wide;
		word += len + strspn(word + len, " ");
	}
	fputs(lines ? "\n" : "", to);
	return lines;
}
