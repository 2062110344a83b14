#include "snap/candidates.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "jprof-live.h"
#include "snap/opener.h"

enum { patience_ms = 2000, least_command = 20, widest_command = 100 };

/* Whether it samples, and how often, as its agent says; NULL: it says nothing. With the process's own rights: what it
 * announces may be somebody else's socket. */
static const char *words_of_agent(const struct jprof_process *p, char *words, size_t size)
{
	const struct jprof_agent_report *report;
	struct jprof_target *target = NULL;
	struct opener *opener = NULL;
	struct jprof_agent *agent = NULL;
	struct jprof_error err;
	bool good = !shortage_note_code(jprof_target_open(p, NULL, &target, &err)) &&
	            !shortage_note_code(opener_start(&opener, target, p, patience_ms, &err));
	struct jprof_agent_opts opts = { .size = sizeof opts,
		                         .timeout = patience_ms,
		                         .opener = opener_functions(opener) };
	good = good && !shortage_note_code(jprof_agent_connect(p, &opts, &agent, &err)) &&
	       !shortage_note_code(jprof_agent_report(agent, &report, &err));
	if (good && report->prof_active)
		snprintf(words, size, "yes, lg %d", report->lg_sample);
	else if (good)
		snprintf(words, size, "yes, inactive");
	jprof_agent_free(agent);
	jprof_target_free(target);
	opener_end(opener);
	return good ? words : NULL;
}

static const char *agent_of(const struct jprof_process *p, char *words, size_t size)
{
	if (!p->readable)
		return "?";
	if (!p->agent_version)
		return p->agent_library ? "not active" : "no";
	if (!p->agent_socket)
		return "yes, no socket";
	const char *said = words_of_agent(p, words, size);
	return said ? said : "yes, silent";
}

/* Its command, as far as there is room: on a terminal what is left of the line. */
static void put_candidate(const struct jprof_process *p, unsigned used)
{
	const char *text = *p->cmdline ? p->cmdline : p->name;
	unsigned columns = isatty(STDOUT_FILENO) ? terminal_size().columns : used + widest_command;
	terminal_put_cut(stdout, text, columns > used + least_command ? columns - used : least_command);
	putchar('\n');
}

/* False after having said that memory is short: what the row would say of the agent may be false. */
static bool put_process(const struct jprof_process *p)
{
	char words[32];
	const char *agent = agent_of(p, words, sizeof words);
	if (shortage_say())
		return false;
	int used = printf("%7d %7d %8.1f  %-8s %-14s %-7s ", p->pid, p->ppid, (double)p->rss / 1048576,
	                  !p->readable  ? "?"
	                  : p->jemalloc ? "yes"
	                                : "no",
	                  agent, p->role);
	put_candidate(p, (unsigned)used);
	return true;
}

int candidates_print(void)
{
	struct jprof_processes *list;
	struct jprof_error err;
	if (jprof_processes_new(NULL, &list, &err)) {
		say_error(&err);
		return -1;
	}
	int count = (int)jprof_processes_count(list);
	if (count)
		printf("%7s %7s %8s  %-8s %-14s %-7s %s\n", "PID", "PARENT", "RSS MB", "jemalloc", "agent", "role",
		       "command");
	bool good = true;
	for (int i = 0; good && i < count; i++)
		good = put_process(jprof_processes_at(list, (size_t)i));
	jprof_processes_free(list);
	return good ? count : -1;
}
