/* The program with memory that is short: every 99th allocation of each command, with JPROF_SWEEP=whole each, fails
 * once, in one process. The linker puts this main in front of the program's (--wrap=main). A command says what it says
 * with all memory, or that memory was short, and leaves no file then; doctor prints no row that it does not print with
 * all memory. A crash or a leak ends this program. usage: short_commands SAMPLES [AGENT [all]]; all: those that start a
 * program for each try, too, which takes minutes of CPU: most of it are forks, which are slow under a sanitizer
 */
#include <dirent.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "liveagent.h"
#include "shortmem.h"

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);

enum { most_words = 12, report_size = 1 << 20, some = 11 };

/* %D: the directory with samples; %T: one for what is made; %N: one without files; %P: a process with an agent; %J: a
 * jemalloc. Those with one of the latter two are left out where there is none. */
static const char *const commands[][most_words] = {
	{ "--text", "--lines", "--errors", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--show_bytes", "--sysroot=%N", "--diff_base=%D/crlf.heap", "%D/hand-4.heap" },
	{ "--thread=*", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--focus=server", "--libs", "--sysroot=%N", "%D/hand-4.heap", "%D/crlf.heap" },
	{ "--proto", "-o", "%T/out.pb.gz", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--raw", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--list=row", "--sysroot=%D/sysroot", "--source-path=%D/src", "%D/jemalloc-5.3.0.heap" },
	{ "--json", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--dot", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--text", "--sysroot=%N", "%T/made.jprof" },
	{ "info", "--sysroot=%N", "%D/hand-4.heap" },
	{ "info", "--json", "--sysroot=%N", "%D/hand-4.heap" },
	{ "info", "--sysroot=%N", "%T/made.jprof" },
	{ "bundle", "-o", "%T/out.jprof", "--sysroot=%N", "%D/hand-4.heap" },
	{ "snap", "--help" },
	{ "--interactive", "--sysroot=%N", "%D/hand-4.heap" },
	{ "--symbols", "--sysroot=%D/sysroot", "%D/jemalloc-5.3.0.heap" },
	{ "--text", "--sites", "--sysroot=%N", "--diff_base=%D/../tables/ruby31.0.heap", "%D/../tables/ruby31.1.heap" },
	{ "info", "--sysroot=%N", "%D/../tables/ruby31.1.heap" },
	{ "bundle", "-o", "%T/out.jprof", "--sysroot=%N", "%D/../tables/ruby31.1.heap" },
};

/* With a live process, which takes longer: without the word "all" only some of their allocations fail. */
static const char *const live[][most_words] = {
	{ "snap", "-o", "%T/out.jprof", "--symbols=later", "%P" },
	{ "snap", "--activate", "%P" },
	{ "snap" },
	{ "doctor", "%P" },
	{ "doctor", "--json", "%P" },
	{ "doctor" },
};

static const char *const trying[][most_words] = {
	{ "run", "--no-agent", "--print-env", "--dir=/d", "--jemalloc=%J", "--", "nice", "/bin/true" },
	{ "doctor", "--", "env", "LD_PRELOAD=%J", "MALLOC_CONF=prof:true", "nice", "/bin/true" },
	{ "doctor", "--", "jprof", "run", "--no-agent", "--dir=/d", "--jemalloc=%J", "--", "nice", "/bin/true" },
};

static struct {
	char samples[512], made[64];
	int in, out, err, terminal;
	bool all; /* and what was tried is said, because it takes long */
	int wrong;
	char pid[16], jemalloc[512];
} run;

/* What a session, and --symbols, read. */
static const char input[] = "top\nlist row\nfold none\ntext\nnonsense\n0x401234\nquit\n";

static void expand(const char *word, char *to, size_t size)
{
	const char *at = strchr(word, '%');
	const char *dir = !at || at[1] == 'T' ? run.made
	                  : at[1] == 'D'      ? run.samples
	                  : at[1] == 'P'      ? run.pid
	                  : at[1] == 'J'      ? run.jemalloc
	                                      : "/proc/self/fdinfo";
	if (at)
		snprintf(to, size, "%.*s%s%s", (int)(at - word), word, dir, at + 2);
	else
		snprintf(to, size, "%s", word);
}

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);

/* Of /proc only the process with the agent: how many others there are does not matter, and changes. */
struct dirent *__wrap_readdir64(DIR *dir)
{
	struct dirent *entry = __real_readdir64(dir);
	while (entry && *entry->d_name >= '1' && *entry->d_name <= '9' && strcmp(entry->d_name, run.pid))
		entry = __real_readdir64(dir);
	return entry;
}

/* Who has no more rights than the process needs no child that opens its files, and forks are slow under a sanitizer. */
static void give_up_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	if (syscall(SYS_capset, &header, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		abort();
}

static bool needs_what_is_not_here(const char *const *words)
{
	static const bool has_graphs = HAS_GRAPHS;
	for (int i = 0; i < most_words && words[i]; i++)
		if ((strstr(words[i], "%P") && !*run.pid) || (strstr(words[i], "%J") && !*run.jemalloc) ||
		    (!strcmp(words[i], "--dot") && !has_graphs))
			return true;
	return !strcmp(words[0], "snap") && !words[1] && !*run.pid;
}

static void capture(int to, int fd)
{
	if (ftruncate(to, 0) || lseek(to, 0, SEEK_SET) || dup2(to, fd) < 0)
		abort();
}

static size_t text_of(int fd, char *text)
{
	ssize_t n = pread(fd, text, report_size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void path_made(const char *name, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", run.made, name);
}

/* Whether a command left a file of that name; it is removed. */
static bool remove_made(const char *name)
{
	char path[128];
	path_made(name, path, sizeof path);
	return !unlink(path);
}

/* One run of a command; its exit status. */
static int run_command(const char *const *words, size_t failing, size_t *asked)
{
	static char text[most_words][1024];
	char *argv[most_words + 2] = { (char[]){ "jprof" } };
	int argc = 1;
	for (; argc <= most_words && words[argc - 1]; argc++) {
		expand(words[argc - 1], text[argc - 1], sizeof text[argc - 1]);
		argv[argc] = text[argc - 1];
	}
	capture(run.out, STDOUT_FILENO);
	capture(run.err, STDERR_FILENO);
	if (lseek(run.in, 0, SEEK_SET) || dup2(run.in, STDIN_FILENO) < 0)
		abort();
	rewind(stdin);
	clearerr(stdin);
	shortmem_arm(failing);
	int status = __real_main(argc, argv);
	*asked = shortmem_disarm();
	fflush(stdout);
	dup2(run.terminal, STDERR_FILENO);
	return status;
}

static void complain(const char *const *words, size_t nth, const char *what, const char *detail)
{
	fprintf(stderr, "%s %s, allocation %zu: %s%s\n", words[0], words[1] ? words[1] : "", nth, what, detail);
	run.wrong++;
}

/* Whether it ends with 1 with all memory, too: nothing was done, or something is bad. */
static bool may_fail(const char *const *words)
{
	return !strcmp(words[0], "doctor") || (!strcmp(words[0], "snap") && !words[1]);
}

static void check(const char *const *words, size_t step)
{
	static char whole[report_size], said[report_size], now[report_size], why[report_size];
	size_t count, asked;
	int good = run_command(words, 0, &count);
	if (good && !may_fail(words))
		complain(words, 0, "fails with all memory", "");
	size_t len = text_of(run.out, whole);
	text_of(run.err, said);
	bool made = remove_made("out.jprof") || remove_made("out.pb.gz");
	for (size_t nth = 1; nth <= count; nth += step) {
		int status = run_command(words, nth, &asked);
		bool same = text_of(run.out, now) == len && !memcmp(now, whole, len);
		text_of(run.err, why);
		bool left = remove_made("out.jprof") || remove_made("out.pb.gz");
		bool says_why = strcmp(why, said) && strstr(why, "memory");
		if (status != good && !says_why)
			complain(words, nth, "fails without the reason: ", why);
		if (status == good && !says_why && (!same || left != made))
			complain(words, nth, "another report, without the reason: ", why);
		if (!strcmp(words[0], "doctor") && memcmp(now, whole, strlen(now)) != 0)
			complain(words, nth, "rows that may be false: ", now);
		if (status && left && made)
			complain(words, nth, "left a file: ", why);
	}
	if (run.all)
		fprintf(stderr, "%s %s: %zu allocations\n", words[0], words[1] ? words[1] : "", count);
}

int __wrap_main(int argc, char **argv)
{
	if (argc < 2 || argc > 4)
		return 2;
	run.all = argc > 3;
	give_up_capabilities();
	int pid = liveagent_start(argc > 2 ? argv[2] : NULL);
	if (pid)
		snprintf(run.pid, sizeof run.pid, "%d", pid);
	if (liveagent_jemalloc())
		snprintf(run.jemalloc, sizeof run.jemalloc, "%s", liveagent_jemalloc());
	snprintf(run.samples, sizeof run.samples, "%s", argv[1]);
	strcpy(run.made, "/tmp/jprof-short-XXXXXX");
	int before = dup(STDOUT_FILENO);
	run.terminal = dup(STDERR_FILENO);
	run.out = memfd_create("out", MFD_CLOEXEC);
	run.err = memfd_create("err", MFD_CLOEXEC);
	run.in = memfd_create("in", MFD_CLOEXEC);
	if (write(run.in, input, sizeof input - 1) != sizeof input - 1)
		return 2;
	if (!mkdtemp(run.made) || run.out < 0 || run.err < 0 || before < 0)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);
	static const char *const make[most_words] = { "bundle", "-o", "%T/made.jprof", "--sysroot=%N",
		                                      "%D/hand-4.heap" };
	size_t asked;
	run_command(make, 0, &asked);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!needs_what_is_not_here(commands[i]))
			check(commands[i], shortmem_step(99));
	for (size_t i = 0; i < sizeof live / sizeof *live; i++)
		if (!needs_what_is_not_here(live[i]))
			check(live[i], run.all ? 1 : some);
	for (size_t i = 0; run.all && i < sizeof trying / sizeof *trying; i++)
		if (!needs_what_is_not_here(trying[i]))
			check(trying[i], 1);
	liveagent_end(pid);
	remove_made("made.jprof");
	rmdir(run.made);
	dup2(before, STDOUT_FILENO);
	return run.wrong ? 1 : 0;
}
