/* Starting a program that stands still, and looking into it. */
#include "parkedprocess.h"

#include <fcntl.h>
#include <glob.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "collect/procfs.h"
#include "collect/target.h"
#include "harness.h"
#include "outside/livesource.h"

static void hand_over_lines(int out, void (*take)(void *context, const char *line), void *context)
{
	FILE *file = fdopen(out, "r");
	char line[128];
	assert_non_null(file);
	while (fgets(line, sizeof line, file) && strncmp(line, "end", 3) != 0)
		take(context, line);
	fclose(file);
}

/* How many of its threads do not sleep. */
static int count_awake(pid_t pid)
{
	char path[64], line[256], state;
	glob_t tasks;
	int awake = 0;
	snprintf(path, sizeof path, "/proc/%d/task/*/stat", (int)pid);
	assert_int_equal(glob(path, 0, NULL, &tasks), 0);
	for (size_t i = 0; i < tasks.gl_pathc; i++) {
		FILE *file = fopen(tasks.gl_pathv[i], "r");
		bool sleeps = file && fgets(line, sizeof line, file) && sscanf(line, "%*d (%*[^)]) %c", &state) == 1 &&
		              state == 'S';
		awake += !sleeps;
		if (file)
			fclose(file);
	}
	globfree(&tasks);
	return awake;
}

struct parked_process parked_start(const char *const *command, const char *preload, const char *conf,
                                   void (*take)(void *context, const char *line), void *context)
{
	int in[2], out[2];
	struct parked_process p = { .pid = -1 };
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	p.pid = fork();
	if (!p.pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		unsetenv("LD_PRELOAD");
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		if (conf)
			setenv("MALLOC_CONF", conf, 1);
		execv(command[0], (char *const *)command);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	p.in = in[1];
	hand_over_lines(out[0], take, context);
	while (count_awake(p.pid)) {
		if (waitpid(p.pid, NULL, WNOHANG) == p.pid)
			fail_msg("%s ended before it stood still", command[0]);
		sched_yield();
	}
	p.target = (struct jprof_target){
		.proc = (char *)"/proc", .pid = p.pid, .pidfd = -1, .start_ticks = jp_proc_start_ticks("/proc", p.pid)
	};
	return p;
}

void parked_end(const struct parked_process *p)
{
	close(p->in);
	waitpid(p->pid, NULL, 0);
}

struct jp_memsource *parked_memory(const struct parked_process *p)
{
	struct jp_memsource *source;
	struct jprof_error err = { 0 };
	if (jp_livesource_open(&p->target, &source, &err))
		fail_msg("%s", err.text);
	return source;
}

void parked_memory_lines(const struct parked_process *p, char lines[256])
{
	struct jp_strbuf text = { 0 };
	struct jp_reader reader;
	struct jp_span line;
	assert_int_equal(jp_proc_read("/proc", p->pid, "status", jp_proc_status_limit, &text), 0);
	jp_reader_init(&reader, text.text, text.len);
	*lines = 0;
	while (jp_reader_line(&reader, &line))
		if (jp_span_starts(line, "VmRSS") || jp_span_starts(line, "VmPTE") || jp_span_starts(line, "VmSwap"))
			snprintf(lines + strlen(lines), 256 - strlen(lines), "%.*s\n", (int)line.len, line.ptr);
	jp_strbuf_release(&text);
}
