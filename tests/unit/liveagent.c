#include "liveagent.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* Runs a program that waits for the end of its input, which comes with our end, and keeps none of our files: who reads
 * what we say waits for nobody else. */
static int spawn_waiting(pid_t *pid, char *const *env)
{
	char *argv[] = { (char[]){ "cat" }, NULL };
	int ends[2];
	posix_spawn_file_actions_t files;
	if (pipe2(ends, O_CLOEXEC) || posix_spawn_file_actions_init(&files))
		return -1;
	int rc = posix_spawn_file_actions_adddup2(&files, ends[0], STDIN_FILENO);
	for (int fd = STDOUT_FILENO; !rc && fd <= STDERR_FILENO; fd++)
		rc = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
	rc = rc ? rc : posix_spawn(pid, "/bin/cat", &files, NULL, argv, env);
	posix_spawn_file_actions_destroy(&files);
	close(ends[0]); /* the other end is closed when we end */
	return rc;
}

int liveagent_start(const char *agent)
{
	enum { looks = 1000, look_ms = 10 };
	char preload[2048];
	char *env[] = { preload, (char[]){ "MALLOC_CONF=prof:true,lg_prof_sample:8,prof_prefix:/nonexistent/app" },
		        (char[]){ "JPROF_AGENT=for=all" }, NULL };
	pid_t pid;
	if (!agent || !liveagent_jemalloc()) {
		fprintf(stderr, "no %s here: what asks an agent is not tried\n", agent ? "libjemalloc.so.2" : "agent");
		return 0;
	}
	snprintf(preload, sizeof preload, "LD_PRELOAD=%s:%s", agent, liveagent_jemalloc());
	if (spawn_waiting(&pid, env))
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
