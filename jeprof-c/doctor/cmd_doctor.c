/* jprof doctor PID | -- COMMAND...: what is wrong with a set-up, each finding with its fix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/jsonprint.h"
#include "cli/names.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "commands.h"
#include "doctor/doctor.h"
#include "snap/candidates.h"

struct doctor_options {
	bool help;
	bool json;
};

#define DOCTOR_AT(member) offsetof(struct doctor_options, member)

static const struct opt_row doctor_rows[] = {
	{ "json", OPT_SWITCH, DOCTOR_AT(json), 0, NULL, NULL, "as JSON; man jprof-doctor has the keys" },
	{ "help", OPT_SWITCH, DOCTOR_AT(help), 0, NULL, NULL, "this text" },
	{ "pid", OPT_REFUSED, 0, 0, NULL, NULL, "give the number alone: jprof doctor PID" },
	{ "puma", OPT_REFUSED, 0, 0, NULL, NULL, "give the PID of its master or of a worker; jprof doctor lists them" },
};

static const struct opt_table doctor_table = { .rows = doctor_rows,
	                                       .count = sizeof doctor_rows / sizeof *doctor_rows,
	                                       .help = "jprof doctor --help",
	                                       .command = true };

static void doctor_help(void)
{
	printf("usage: jprof doctor [--json] PID               looks at a process\n"
	       "       jprof doctor [--json] [--] COMMAND...   what would happen if COMMAND were\n"
	       "                                               started from here\n"
	       "       jprof doctor                            lists processes to look at\n"
	       "\n"
	       "Checks all that a heap dump needs. Never sends a signal, never starts COMMAND.\n"
	       "The exit status is 1 if something is bad, else 0.\n"
	       "\n");
	opt_help(&doctor_table, 0);
	printf("\n"
	       "  jprof doctor 4711\n"
	       "  jprof doctor -- bundle exec puma\n"
	       "  jprof doctor --json 4711 | jq '.checks[] | select(.verdict == \"bad\")'\n");
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

static void put_findings_text(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *item = &f->items[i];
		unsigned used = (unsigned)printf("%-7s  %-11s  ", verdicts[item->verdict], item->check);
		terminal_put_rest(used, item->found);
		if (item->fix) {
			printf("%*s-> ", (int)used, "");
			terminal_put_rest(used + 3, item->fix);
		}
	}
	printf("%zu ok, %zu warn, %zu bad, %zu unknown\n", count_of(f, VERDICT_OK), count_of(f, VERDICT_WARN),
	       count_of(f, VERDICT_BAD), count_of(f, VERDICT_UNKNOWN));
}

static void put_findings_json(FILE *out, const struct scene *s, const struct findings *f)
{
	json_print(out, "{\"jprof_doctor\":1,\"pid\":%f,\"command\":%s,\"checks\":[",
	           s->process ? s->process->pid : NAN, s->words);
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *item = &f->items[i];
		fputs(i ? "," : "", out);
		json_print(out, "{\"check\":%s,\"verdict\":%s,\"found\":%s,\"mend\":%s}", item->check,
		           verdicts[item->verdict], item->found, item->fix);
	}
	fputc(']', out);
	for (int v = 0; v < VERDICTS; v++)
		json_print(out, ",%s:%zu", verdicts[v], count_of(f, (enum verdict)v));
	fputs("}\n", out);
}

/* The whole of it, before a byte is printed; to be freed. NULL, which is noted: memory was short. */
static char *findings_json(const struct scene *s, const struct findings *f)
{
	char *text = NULL;
	size_t size;
	FILE *out = shortage_note(textstream_open(&text, &size));
	if (out)
		put_findings_json(out, s, f);
	return out ? shortage_close(out, &text) : NULL;
}

static int show_findings(const struct doctor_options *o, const struct scene *scene)
{
	struct findings findings = { 0 };
	doctor_look(scene, &findings);
	char *json = o->json ? findings_json(scene, &findings) : NULL;
	bool good = !shortage_say();
	if (good && json)
		fputs(json, stdout);
	else if (good)
		put_findings_text(&findings);
	int status = !good || count_of(&findings, VERDICT_BAD);
	free(json);
	findings_free(&findings);
	return status;
}

/* ---- what to look at -------------------------------------------------------------------------------------- */

static int doctor_command(const struct doctor_options *o, char *const *argv)
{
	struct scene scene;
	if (!scene_of_command(&scene, argv))
		return 1;
	int status = show_findings(o, &scene);
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
		status = show_findings(o, &scene);
		scene_free(&scene);
	}
	jprof_processes_free(list);
	return status;
}

static int say_candidates(void)
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
	if (!opt_parse(&doctor_table, &o, argc, argv, &operands))
		return 1;
	if (o.help) {
		doctor_help();
		return 0;
	}
	if (!operands)
		return say_candidates();
	argv[1 + operands] = NULL;
	if (!is_pid(argv[1], &pid))
		return doctor_command(&o, argv + 1);
	if (operands == 1)
		return doctor_process(&o, pid);
	say("one process at a time: jprof doctor PID");
	return 1;
}
