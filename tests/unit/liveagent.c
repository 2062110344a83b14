#include "liveagent.h"

#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

const char *liveagent_jemalloc(void)
{
	static char path[512];
	glob_t found;
	if (!*path && !glob("/usr/lib/*/libjemalloc.so.2", 0, NULL, &found)) {
		snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	return *path ? path : NULL;
}

static int is_announced(int pid)
{
	char path[64], line[1024];
	int found = 0;
	snprintf(path, sizeof path, "/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	while (maps && !found && fgets(line, sizeof line, maps))
		found = strstr(line, "/memfd:jprof-agent:") != NULL;
	if (maps)
		fclose(maps);
	return found;
}

int liveagent_start(const char *agent)
{
	enum { looks = 1000, look_ms = 10 };
	char preload[2048], *argv[] = { (char[]){ "sleep" }, (char[]){ "86400" }, NULL };
	char *env[] = { preload, (char[]){ "MALLOC_CONF=prof:true,lg_prof_sample:8,prof_prefix:/nonexistent/app" },
		        (char[]){ "JPROF_AGENT=for=all" }, NULL };
	pid_t pid;
	if (!agent || !liveagent_jemalloc()) {
		fprintf(stderr, "no %s here: what asks an agent is not tried\n", agent ? "libjemalloc.so.2" : "agent");
		return 0;
	}
	snprintf(preload, sizeof preload, "LD_PRELOAD=%s:%s", agent, liveagent_jemalloc());
	if (posix_spawn(&pid, "/bin/sleep", NULL, NULL, argv, env))
		return 0;
	for (int i = 0; i < looks && !is_announced(pid); i++)
		poll(NULL, 0, look_ms);
	if (is_announced(pid))
		return pid;
	fprintf(stderr, "the agent does not announce itself: what asks it is not tried\n");
	liveagent_end(pid);
	return 0;
}

void liveagent_end(int pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}
