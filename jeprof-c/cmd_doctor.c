/* jprof doctor PID | -- COMMAND...: what is wrong with a set-up, each finding with its mend. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "candidates.h"
#include "commands.h"
#include "doctor.h"
#include "optparse.h"
#include "say.h"

struct doctor_options {
	bool help;
	bool json;
};

#define AT(member) offsetof(struct doctor_options, member)

static const struct opt_row rows[] = {
	{ "json", OPT_SWITCH, AT(json), 0, NULL, NULL, "as JSON; docs/doctor.md has the keys" },
	{ "help", OPT_SWITCH, AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table table = { .rows = rows, .count = sizeof rows / sizeof *rows, .command = true };

static void help(void)
{
	printf("usage: jprof doctor [--json] PID               looks at a process\n"
	       "       jprof doctor [--json] [--] COMMAND...   what would happen if COMMAND were started from here\n"
	       "       jprof doctor                            lists processes to look at\n"
	       "\n"
	       "Checks all that a heap dump needs. Never sends a signal, never starts COMMAND. Exit status 1 if\n"
	       "something is bad, else 0.\n"
	       "\n");
	opt_help(&table);
}

/* ---- the findings as text, as JSON ------------------------------------------------------------------ */

static const char *const verdicts[VERDICTS] = { "ok", "warn", "bad", "unknown" };

static size_t count_of(const struct findings *f, enum verdict verdict)
{
	size_t n = 0;
	for (size_t i = 0; i < f->count; i++)
		n += f->items[i].verdict == verdict;
	return n;
}

static void put_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			printf("\\x%02x", (unsigned char)*text);
		else
			putchar(*text);
	putchar('\n');
}

static void put_text(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *item = &f->items[i];
		printf("%-7s  %-11s  ", verdicts[item->verdict], item->check);
		put_line(item->found);
		if (item->mend) {
			printf("%-7s  %-11s  -> ", "", "");
			put_line(item->mend);
		}
	}
	printf("%zu ok, %zu warn, %zu bad, %zu unknown\n", count_of(f, VERDICT_OK), count_of(f, VERDICT_WARN),
	       count_of(f, VERDICT_BAD), count_of(f, VERDICT_UNKNOWN));
}

/* Length of the UTF-8 sequence at s; 0 where it is none. */
static size_t utf8_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = *u < 0x80                 ? 1
	           : *u >= 0xc2 && *u < 0xe0 ? 2
	           : *u >= 0xe0 && *u < 0xf0 ? 3
	           : *u >= 0xf0 && *u < 0xf5 ? 4
	                                     : 0;
	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

/* Bytes that are no UTF-8 become U+FFFD. */
static void put_json_string(const char *s)
{
	putchar('"');
	while (*s) {
		size_t n = utf8_len(s);
		if (!n)
			printf("\\ufffd");
		else if ((unsigned char)*s < 0x20 || *s == '"' || *s == '\\')
			printf("\\u%04x", (unsigned char)*s);
		else
			fwrite(s, 1, n, stdout);
		s += n ? n : 1;
	}
	putchar('"');
}

static void put_json(const struct scene *s, const struct findings *f)
{
	printf("{\"jprof_doctor\":1,\"pid\":");
	if (s->process)
		printf("%d", s->process->pid);
	else
		printf("null");
	printf(",\"command\":");
	if (s->words)
		put_json_string(s->words);
	else
		printf("null");
	printf(",\"checks\":[");
	for (size_t i = 0; i < f->count; i++) {
		printf("%s{\"check\":\"%s\",\"verdict\":\"%s\",\"found\":", i ? "," : "", f->items[i].check,
		       verdicts[f->items[i].verdict]);
		put_json_string(f->items[i].found);
		printf(",\"mend\":");
		if (f->items[i].mend)
			put_json_string(f->items[i].mend);
		else
			printf("null");
		putchar('}');
	}
	printf("]");
	for (int v = 0; v < VERDICTS; v++)
		printf(",\"%s\":%zu", verdicts[v], count_of(f, (enum verdict)v));
	printf("}\n");
}

static int show(const struct doctor_options *o, const struct scene *scene)
{
	struct findings findings = { 0 };
	doctor_look(scene, &findings);
	if (findings.failed)
		say("memory is short");
	else if (o->json)
		put_json(scene, &findings);
	else
		put_text(&findings);
	int status = findings.failed || count_of(&findings, VERDICT_BAD);
	findings_free(&findings);
	return status;
}

/* ---- what to look at -------------------------------------------------------------------------------------- */

static int doctor_command(const struct doctor_options *o, char *const *argv)
{
	struct scene scene;
	if (!scene_of_command(&scene, argv))
		return 1;
	int status = show(o, &scene);
	scene_free(&scene);
	return status;
}

static int doctor_process(const struct doctor_options *o, int pid)
{
	const struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &pid, .pid_count = 1 };
	struct jprof_processes *list;
	struct jprof_error err;
	struct scene scene;
	if (jprof_processes_new(&opts, &list, &err)) {
		say_error(&err);
		return 1;
	}
	int status = 1;
	if (!jprof_processes_count(list)) {
		say("%d: there is no such process", pid);
	} else if (scene_of_process(&scene, jprof_processes_at(list, 0))) {
		status = show(o, &scene);
		scene_free(&scene);
	}
	jprof_processes_free(list);
	return status;
}

/* A word of digits alone is a process. */
static bool is_pid(const char *word, int *pid)
{
	char *end;
	errno = 0;
	long n = strtol(word, &end, 10);
	*pid = (int)n;
	return *word >= '0' && *word <= '9' && !*end && !errno && n > 0 && n <= 0x7fffffff;
}

static int list_candidates(void)
{
	int count = candidates_print();
	if (count > 0)
		say("look at one of these: jprof doctor PID");
	else if (!count)
		say("no process here is a Ruby, has a jemalloc or an agent; look at any by jprof doctor PID, or at a command by "
		    "jprof doctor -- COMMAND...");
	return 1;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_options o = { 0 };
	int operands, pid;
	if (!opt_parse(&table, &o, argc, argv, &operands))
		return 1;
	if (o.help) {
		help();
		return 0;
	}
	if (!operands)
		return list_candidates();
	argv[1 + operands] = NULL;
	if (!is_pid(argv[1], &pid))
		return doctor_command(&o, argv + 1);
	if (operands == 1)
		return doctor_process(&o, pid);
	say("one process at a time: jprof doctor PID");
	return 1;
}
