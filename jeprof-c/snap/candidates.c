#include "snap/candidates.h"

#include <stdio.h>
#include <string.h>

#include "cli/names.h"
#include "cli/say.h"
#include "jprof-live.h"

enum { patience_ms = 2000, widest_command = 100 };

/* What the agent says, in a few words. */
static void ask_agent(const struct jprof_process *p, char *words, size_t size)
{
	struct jprof_agent_opts opts = { .size = sizeof opts, .timeout = patience_ms };
	const struct jprof_agent_report *report;
	struct jprof_agent *agent = NULL;
	if (!p->agent_socket)
		snprintf(words, size, "yes, no socket");
	else if (jprof_agent_connect(p, &opts, &agent, NULL) || jprof_agent_report(agent, &report, NULL))
		snprintf(words, size, "yes, silent");
	else if (report->prof_active)
		snprintf(words, size, "yes, lg %d", report->lg_sample);
	else
		snprintf(words, size, "yes, inactive");
	jprof_agent_free(agent);
}

static void put_candidate(const struct jprof_process *p)
{
	const char *text = *p->cmdline ? p->cmdline : p->name;
	char start[widest_command + 1];
	snprintf(start, sizeof start, "%s", text);
	put_name(start);
	putchar('\n');
}

static void put_process(const struct jprof_process *p)
{
	char agent[32] = "no";
	if (!p->readable)
		snprintf(agent, sizeof agent, "?");
	else if (p->agent_version)
		ask_agent(p, agent, sizeof agent);
	else if (p->agent_library)
		snprintf(agent, sizeof agent, "not active");
	printf("%7d %7d %8.1f  %-8s %-14s %-7s ", p->pid, p->ppid, (double)p->rss / 1048576,
	       !p->readable  ? "?"
	       : p->jemalloc ? "yes"
	                     : "no",
	       agent, p->role);
	put_candidate(p);
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
	for (int i = 0; i < count; i++)
		put_process(jprof_processes_at(list, (size_t)i));
	jprof_processes_free(list);
	return count;
}
