#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/textstream.h"

/* Of a terminal, that messages took. */
static size_t said_lines;

/* What is kept for the end, by the process that wanted it so: a child speaks at once. */
static struct {
	pid_t by; /* 0: nothing is */
	char *text;
	size_t len;
} kept;

/* On a terminal: words stay whole, and a command at the end begins a line of its own and is one that can be pasted.
 * Returns how many lines it took. */
static size_t say_wrapped(FILE *to, const char *text)
{
	static const char before[] = ": jprof ";
	unsigned columns = terminal_size().columns, used = (unsigned)strlen("jprof: ");
	const char *command = terminal_columns(text) + used > columns ? strstr(text, before) : NULL;
	fputs("jprof: ", to);
	if (!command)
		return terminal_wrap_after(to, used, text, columns);
	char *sentence = strndup(text, (size_t)(command + 1 - text));
	size_t lines = sentence ? terminal_wrap_after(to, used, sentence, columns) : 0;
	free(sentence);
	return lines + terminal_wrap_command(to, command + 2, columns);
}

/* False: there is no memory for it, and it is to be said at once. */
static bool keep_message(const char *text)
{
	char *lines = NULL, *all;
	size_t len;
	FILE *to = textstream_open(&lines, &len);
	if (!to)
		return false;
	size_t count = say_wrapped(to, text);
	bool good = textstream_closed(to, &lines) && (all = realloc(kept.text, kept.len + len + 1));
	if (good) {
		memcpy(all + kept.len, lines, len + 1);
		kept.text = all;
		kept.len += len;
		said_lines += count;
	}
	free(lines);
	return good;
}

void say_at_end(void)
{
	if (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
		kept.by = getpid();
}

void say_kept(void)
{
	if (kept.by != getpid())
		return;
	kept.by = 0;
	progress_hide();
	fflush(stdout);
	fputs(kept.text ? kept.text : "", stderr);
	free(kept.text);
	kept.text = NULL;
	kept.len = 0;
}

void say(const char *fmt, ...)
{
	char brief[2048], *whole = NULL;
	va_list args, again;
	va_start(args, fmt);
	va_copy(again, args);
	int len = vsnprintf(brief, sizeof brief, fmt, args);
	if (len >= (int)sizeof brief && vasprintf(&whole, fmt, again) < 0)
		whole = NULL; /* that memory is short can be said without any */
	va_end(again);
	va_end(args);
	progress_hide();
	const char *text = whole ? whole : brief;
	if (kept.by == getpid() && keep_message(text)) {
		free(whole);
		return;
	}
	if (isatty(STDERR_FILENO)) {
		said_lines += say_wrapped(stderr, text);
	} else { /* one line, whatever was in a name that went into it */
		fputs("jprof: ", stderr);
		terminal_put(stderr, text);
		fputc('\n', stderr);
	}
	free(whole);
}

size_t say_lines(void)
{
	return said_lines;
}

int fail_as(struct jprof_error *err, int code, const char *path, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	*err = (struct jprof_error){ .code = code };
	snprintf(err->path, sizeof err->path, "%s", path);
	vsnprintf(err->text, sizeof err->text, fmt, args);
	va_end(args);
	return code;
}

/* What the library advises, in terms of this program. */
static const struct {
	const char *before, *after;
} advices[] = {
	[JPROF_ADVICE_NONE] = { "", "" },
	[JPROF_ADVICE_FILE] = { "", ": --sysroot=DIR (an unpacked image), --lib_prefix=DIR or --add_lib=FILE" },
	[JPROF_ADVICE_SYSROOT] = { "", "; --sysroot=DIR wants one" },
	[JPROF_ADVICE_PERF_MAP] = { "", ": --perf-map=FILE" },
	[JPROF_ADVICE_SYMBOLS] = { "", "" },
	[JPROF_ADVICE_MAPS] = { "", " (--maps=FILE|PID)" },
	[JPROF_ADVICE_THREAD] = { "", "; jprof info lists its threads" },
	[JPROF_ADVICE_TAGS] = { "", "; man jprof-ruby has how a Ruby program says which route or job it is at" },
	[JPROF_ADVICE_AGAIN] = { "", "; run jprof again" },
	[JPROF_ADVICE_PATTERN] = { "--", "" },
	[JPROF_ADVICE_FUNCTION] = { "--", "; jprof --cum lists those that have" },
	[JPROF_ADVICE_GROWTH] = { "", "; --drop_negative shows what grew" },
	[JPROF_ADVICE_LINES] = { "", ", see jprof info" },
	[JPROF_ADVICE_SOURCE] = { "", "; give --source-path=DIR, with --trim-path=PREFIX, or --sysroot=DIR" },
	[JPROF_ADVICE_TIMEOUT] = { "", "; give more with --timeout" },
	[JPROF_ADVICE_DUMP_DIR] = { "", "; give --dump-dir=DIR" },
	[JPROF_ADVICE_NO_SIGNAL] = { "", ": do without --signal" },
	[JPROF_ADVICE_OPERANDS] = { "", "; the order is: jprof PROGRAM DUMP" },
	[JPROF_ADVICE_FORMAT] = { "--", "" },
	[JPROF_ADVICE_DUMPLESS] = { "", "; jprof explain says what it holds, and jprof diff what grew" },
	[JPROF_ADVICE_MEMORY] = { "", "; run jprof as root, with CAP_SYS_PTRACE" },
	[JPROF_ADVICE_RUBYHEAP] = { "", ": jprof keepers FILE says who keeps them" },
	[JPROF_ADVICE_HEAP] = { "", " (--heap=all has them)" },
	[JPROF_ADVICE_READABLE] = { "", "" },
	[JPROF_ADVICE_AGES] = { "", "; jprof run starts a program so, and FILE.ruby has to be beside FILE" },
};

const char *advice_after(enum jprof_advice advice)
{
	return (size_t)advice < sizeof advices / sizeof *advices ? advices[advice].after : "";
}

void say_advised(const char *text, enum jprof_advice advice)
{
	bool known = (size_t)advice < sizeof advices / sizeof *advices;
	say("%s%s%s", known ? advices[advice].before : "", text, advice_after(advice));
}

void say_error(const struct jprof_error *err)
{
	char line[JPROF_ERROR_LINE];
	say_advised(jprof_error_line(err, line, sizeof line), err->advice);
}
