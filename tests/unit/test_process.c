/* A /proc of our own, with texts from proc(5) and from real servers; then the real one. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/announcement.h"
#include "collect/procfs.h"
#include "collect/roles.h"
#include "harness.h"
#include "jprof-live.h"

static char proc[64];

static void put(int pid, const char *name, const void *data, size_t len)
{
	char path[256];
	jp_proc_path(proc, pid, name, path, sizeof path);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static void put_text(int pid, const char *name, const char *text)
{
	put(pid, name, text, strlen(text));
}

#define MAP(path) "7f0000000000-7f0000080000 r-xp 00000000 fe:01 33                     " path "\n"
#define RUBY MAP("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1.2")
#define JEMALLOC MAP("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")

/* `cmdline` has "|" where there is a NUL; a process without a memory has none. */
static void make(int pid, int ppid, char state, const char *exe, const char *cmdline, const char *maps)
{
	char path[256], text[512];
	jp_proc_path(proc, pid, "", path, sizeof path);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(text, sizeof text,
	         "%d (a) Z 1 (b c) %c %d 1 1 0 -1 4194560 1 0 0 0 5 6 0 0 20 0 1 0 %d00 1000 20 184467440737095516\n",
	         pid, state, ppid, pid);
	put_text(pid, "stat", text);
	snprintf(text, sizeof text,
	         "Name:\truby\nUmask:\t0022\nState:\t%c\nTgid:\t%d\nPid:\t%d\nPPid:\t%d\nUid:\t1\t1000\t3\t4\n"
	         "NSpid:\t%d\t%d\nVmRSS:\t    2048 kB\nSigCgt:\t0000000000000800\n",
	         state, pid, pid, ppid, pid, pid - 100);
	put_text(pid, "status", text);
	snprintf(text, sizeof text, "%s", cmdline);
	for (char *p = text; *p; p++)
		*p = *p == '|' ? '\0' : *p;
	put(pid, "cmdline", text, strlen(cmdline));
	put_text(pid, "maps", maps);
	jp_proc_path(proc, pid, "exe", path, sizeof path);
	if (exe)
		assert_int_equal(symlink(exe, path), 0);
}

FIXTURE(make_proc)
{
	strcpy(proc, "/tmp/jprof-proc-XXXXXX");
	if (!mkdtemp(proc))
		return -1;
	make(101, 1, 'S', "/usr/bin/ruby3.1", "puma 5.6.5 (tcp://0.0.0.0:9292) [app]|||||", RUBY JEMALLOC);
	make(102, 101, 'S', "/usr/bin/ruby3.1", "puma: cluster worker 0: 1 [app]   |",
	     RUBY JEMALLOC MAP("/memfd:jprof-agent:1:12:/tmp/a b:c/.jprof-agent.2.sock (deleted)"));
	make(103, 102, 'S', "/usr/bin/ruby3.1", "puma: cluster worker 1: 1 [app]|", RUBY);
	make(104, 1, 'S', "/usr/bin/vim", "vim|puma.rb|", MAP("/usr/bin/vim"));
	make(105, 101, 'Z', NULL, "", "");
	make(106, 1, 'S', "/usr/bin/ruby3.1", "puma 5.6.5 (tcp://0.0.0.0:9393) [other]|", RUBY);
	make(107, 106, 'S', "/opt/rust", "/opt/rust|--x|", JEMALLOC);
	make(108, 2, 'S', NULL, "", "");
	make(109, 1, 'S', "/usr/bin/ruby3.1", "puma: cluster worker 0: 90 [gone]|", RUBY);
	make(110, 106, 'S', "/usr/bin/ruby3.1", "puma 5.6.5 (tcp://0.0.0.0:9494) [below]|", RUBY);
	make(111, 101, 'S', "/usr/bin/ruby3.1", "puma 5.6.5 (tcp://0.0.0.0:9292) [app]|||||", RUBY);
	make(112, 111, 'S', "/usr/bin/ruby3.1", "unicorn worker[0] -c u.rb|", RUBY);
	return 0;
}

static int unlink_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st, (void)kind, (void)ftw;
	return remove(path);
}

FIXTURE(remove_proc)
{
	return nftw(proc, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The pids of a list, such as "101 102". */
static char *pids_of(struct jprof_processes_opts opts)
{
	static char text[256];
	struct jprof_processes *list;
	struct jprof_error err;
	opts.size = sizeof opts;
	opts.proc = proc;
	if (jprof_processes_new(&opts, &list, &err))
		fail_msg("%s", err.text);
	size_t len = 0;
	*text = '\0';
	for (size_t i = 0; i < jprof_processes_count(list); i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%d", len ? " " : "",
		                        jprof_processes_at(list, i)->pid);
	jprof_processes_free(list);
	return text;
}

TEST_BETWEEN(test_selections, make_proc, remove_proc)
{
	static const int some[] = { 108, 101, 999, 108, 105 };
#define OPTS(...) ((struct jprof_processes_opts){ __VA_ARGS__ })
	assert_string_equal(pids_of(OPTS(0)), "101 102 103 106 107 108 109 110 111 112");
	assert_string_equal(pids_of(OPTS(.match = "puma")), "101 102 103 106 109 110 111");
	assert_string_equal(pids_of(OPTS(.match = "rust --x$")), "107");
	assert_string_equal(pids_of(OPTS(.match = "nobody")), "");
	assert_string_equal(pids_of(OPTS(.children_of = 101)), "102 111");
	assert_string_equal(pids_of(OPTS(.puma = true)), "101 102 103 106 109 110 111");
	assert_string_equal(pids_of(OPTS(.puma_of = 101)), "101 102 103 111");
	assert_string_equal(pids_of(OPTS(.puma_of = 103)), "101 102 103 111");
	assert_string_equal(pids_of(OPTS(.puma_of = 106)), "106");
	/* One whose master has gone is a service of its own, and so is one that another has started. */
	assert_string_equal(pids_of(OPTS(.puma_of = 109)), "109");
	assert_string_equal(pids_of(OPTS(.puma_of = 110)), "110");
	assert_string_equal(pids_of(OPTS(.puma_of = 104)), "");
	assert_string_equal(pids_of(OPTS(.puma_of = 999)), "");
	assert_string_equal(pids_of(OPTS(.pids = some, .pid_count = 5)), "108 101 999 105");
	assert_string_equal(pids_of(OPTS(.pids = some, .pid_count = 1, .match = "rust")), "108 107");
	/* No process can keep the others from being listed: this one's link fails (by EINVAL; a path can be too long).
	 */
	make(113, 1, 'S', NULL, "puma 5.6.5 (tcp://0.0.0.0:9595) [odd]|", RUBY);
	put_text(113, "exe", "");
	assert_string_equal(pids_of(OPTS(.puma = true)), "101 102 103 106 109 110 111 113");
}

TEST_BETWEEN(test_a_faulty_pattern, make_proc, remove_proc)
{
	struct jprof_processes_opts opts = { .size = sizeof opts, .proc = proc, .match = "(" };
	struct jprof_processes *list;
	struct jprof_error err;
	assert_int_equal(jprof_processes_new(&opts, &list, &err), JPROF_E_ARGUMENT);
	assert_contains(err.text, "match: ");
	assert_int_equal(err.advice, JPROF_ADVICE_PATTERN);
}

static struct jprof_processes *list_of(const int *pids, size_t count)
{
	struct jprof_processes_opts opts = { .size = sizeof opts, .proc = proc, .pids = pids, .pid_count = count };
	struct jprof_processes *list;
	assert_int_equal(jprof_processes_new(&opts, &list, NULL), 0);
	assert_int_equal(jprof_processes_count(list), count);
	assert_null(jprof_processes_at(list, count));
	return list;
}

TEST_BETWEEN(test_services, make_proc, remove_proc)
{
	static const int service[][2] = { { 101, 101 }, { 102, 101 }, { 103, 101 }, { 104, 0 },   { 106, 106 },
		                          { 107, 0 },   { 109, 109 }, { 110, 110 }, { 111, 101 }, { 112, 112 } };
	for (size_t i = 0; i < jp_count(service); i++) {
		struct jprof_processes *list = list_of(service[i], 1);
		assert_int_equal(jprof_processes_at(list, 0)->service, service[i][1]);
		jprof_processes_free(list);
	}
}

TEST_BETWEEN(test_what_a_worker_is, make_proc, remove_proc)
{
	static const int pids[] = { 102 };
	struct jprof_processes *list = list_of(pids, 1);
	const struct jprof_process *p = jprof_processes_at(list, 0);
	assert_int_equal(p->state, JPROF_PROCESS_ALIVE);
	assert_int_equal(p->ppid, 101);
	assert_int_equal(p->ns_pid, 2);
	assert_int_equal(p->uid, 1000);
	assert_int_equal(p->start_ticks, 10200);
	assert_int_equal(p->rss, 2 << 20);
	assert_int_equal(p->caught, 1 << 11);
	assert_string_equal(p->title, "puma: cluster worker 0: 1 [app]");
	assert_string_equal(p->server, "puma");
	assert_string_equal(p->role, "worker");
	assert_string_equal(p->program, "/usr/bin/ruby3.1");
	assert_true(p->readable);
	assert_non_null(p->ruby);
	assert_string_equal(p->jemalloc, "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
	assert_int_equal(p->agent_version, 1);
	assert_int_equal(p->agent_signal, 12);
	assert_string_equal(p->agent_socket, "/tmp/a b:c/.jprof-agent.2.sock");
	jprof_processes_free(list);
}

TEST_BETWEEN(test_states_and_roles, make_proc, remove_proc)
{
	static const int pids[] = { 101, 106, 107, 105, 999, 108 };
	static const struct {
		enum jprof_process_state state;
		const char *role;
		bool ruby;
	} should[] = {
		{ JPROF_PROCESS_ALIVE, "master", true }, { JPROF_PROCESS_ALIVE, "", true },
		{ JPROF_PROCESS_ALIVE, "", false },      { JPROF_PROCESS_ZOMBIE, "", false },
		{ JPROF_PROCESS_ENDED, "", false },      { JPROF_PROCESS_ALIVE, "", true },
	};
	struct jprof_processes *list = list_of(pids, jp_count(pids));
	for (size_t i = 0; i < jp_count(pids); i++) {
		const struct jprof_process *p = jprof_processes_at(list, i);
		assert_int_equal(p->state, should[i].state);
		assert_string_equal(p->role, should[i].role);
		/* 108 shows nothing of itself but its name. */
		assert_int_equal(p->ruby != NULL, should[i].ruby);
		assert_int_equal(p->readable, pids[i] < 105 || pids[i] == 106 || pids[i] == 107);
	}
	jprof_processes_free(list);
}

TEST(test_stat)
{
	struct jp_proc_stat stat;
	static const char good[] = "7 (x) S 3 ) R 4 1 1 0 -1 1 1 0 0 0 5 6 0 0 20 0 1 0 18446744073709551615 1\n";
	assert_true(jp_proc_stat_parse((struct jp_span){ good, strlen(good) }, &stat));
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.ppid, 4);
	assert_true(stat.start_ticks == UINT64_MAX);
	static const char *const bad[] = { "", "7 (x", "7 (x)", "7 (x) S", "7 (x) S 3 4 5", "7 (x) S -1 1 1 0" };
	for (size_t i = 0; i < jp_count(bad); i++)
		assert_false(jp_proc_stat_parse((struct jp_span){ bad[i], strlen(bad[i]) }, &stat));
}

TEST(test_troubles)
{
	int trouble, error;
	char text[256];
	assert_true(jp_trouble_parse(0x40000000 + (2 * 256 + EAGAIN) * 0x10000ull, &trouble, &error));
	assert_int_equal(trouble, 2);
	assert_int_equal(error, EAGAIN);
	jp_trouble_text(trouble, error, text, sizeof text);
	assert_non_null(strstr(text, "could not start its thread"));
	assert_non_null(strstr(text, "ulimit -u"));
	assert_true(jp_trouble_parse(0x40000000 + 60 * 256 * 0x10000ull, &trouble, &error)); /* of an agent to come */
	jp_trouble_text(trouble, error, text, sizeof text);
	assert_non_null(strstr(text, "does not know"));
	static const uint64_t none[] = { 0, 0x1000, 0x40000000, 0x42001000, 0x80000000, 0x140000000 };
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		assert_false(jp_trouble_parse(none[i], &trouble, &error));
}

TEST(test_announcements)
{
	struct jp_announce a;
	assert_true(jp_announce_parse("/memfd:jprof-agent:2:0:@jprof 7 (deleted)", &a));
	assert_int_equal(a.version, 2);
	assert_int_equal(a.signal, 0);
	assert_int_equal(a.socket_len, strlen("@jprof 7"));
	assert_true(jp_announce_parse("/memfd:jprof-agent:1:12: (deleted)", &a));
	assert_int_equal(a.socket_len, 0);
	static const char *const bad[] = {
		"/memfd:jit (deleted)",
		"/memfd:jprof-agent",
		"/memfd:jprof-agent:1",
		"/memfd:jprof-agent:0:12:/x (deleted)",
		"/memfd:jprof-agent:1:65:/x",
		"/memfd:jprof-agent:1:12:relative (deleted)",
		"/memfd:jprof-agent:1:12:@",
		"/tmp/jprof-agent:1:12:/x",
		"/memfd:jprof-agent:x:12:/x",
		"/memfd:jprof-agent:1:-1:/x",
		"/memfd:jprof-agent:99999999999:1:/x",
	};
	for (size_t i = 0; i < jp_count(bad); i++)
		assert_false(jp_announce_parse(bad[i], &a));
}

TEST(test_titles)
{
	static const struct {
		const char *title, *cmdline, *server, *role;
	} cases[] = {
		{ "unicorn master -c u.rb", "", "unicorn", "master" },
		{ "unicorn_rails worker[12] -c u.rb", "", "unicorn", "worker" },
		{ "sidekiq 6.4.1 app [0 of 10 busy]", "", "sidekiq", "" },
		{ "resque-2.2.0: Waiting for *", "", "resque", "" },
		{ "ruby3.1", "ruby3.1 -W0 /usr/bin/puma -w 2", "puma", "" },
		{ "/usr/bin/ruby", "/usr/bin/ruby bin/unicorn_rails", "unicorn", "" },
		{ "ruby", "ruby pumactl", "", "" },
		{ "ruby", "ruby", "", "" },
		{ "vim", "vim puma", "", "" },
		{ "pumapuma", "pumapuma", "", "" },
		{ "", "", "", "" },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_title t = jp_title_role(cases[i].title, cases[i].cmdline);
		assert_string_equal(t.server, cases[i].server);
		assert_string_equal(t.role, cases[i].role);
	}
}

/* The real /proc: a child that sleeps, and what is left when it has ended. */
TEST(test_the_real_one)
{
	int hold[2];
	assert_int_equal(pipe(hold), 0);
	int pid = fork();
	if (!pid) {
		char c;
		close(hold[1]);
		_exit(read(hold[0], &c, 1) != 0);
	}
	strcpy(proc, "/proc");
	struct jprof_processes *list = list_of(&pid, 1);
	const struct jprof_process *p = jprof_processes_at(list, 0);
	assert_int_equal(p->state, JPROF_PROCESS_ALIVE);
	assert_int_equal(p->ppid, getpid());
	assert_int_equal(p->uid, geteuid());
	assert_true(p->readable && p->start_ticks && p->rss);
	assert_contains(p->program, "test_process");
	jprof_processes_free(list);
	close(hold[0]);
	close(hold[1]);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	list = list_of(&pid, 1);
	assert_int_equal(jprof_processes_at(list, 0)->state, JPROF_PROCESS_ZOMBIE);
	jprof_processes_free(list);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	list = list_of(&pid, 1);
	assert_int_equal(jprof_processes_at(list, 0)->state, JPROF_PROCESS_ENDED);
	jprof_processes_free(list);
}

/* Without descriptors nobody knows whether it is there: that is said, and not that it has ended. */
TEST(test_without_descriptors)
{
	const int self = getpid(), next = dup(STDIN_FILENO);
	const struct jprof_processes_opts all = { .size = sizeof all };
	struct rlimit usual, low;
	struct jprof_target *target;
	struct jprof_error asked, scanned;
	strcpy(proc, "/proc");
	struct jprof_processes *others, *list = list_of(&self, 1);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &usual), 0);
	low = (struct rlimit){ (rlim_t)next, usual.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	int rc = jprof_target_open(jprof_processes_at(list, 0), NULL, &target, &asked);
	low.rlim_cur++; /* for /proc itself */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	int scan = jprof_processes_new(&all, &others, &scanned);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
	assert_int_equal(rc, JPROF_E_IO);
	assert_contains(asked.text, "cannot be looked at: ");
	assert_contains(asked.text, strerror(EMFILE));
	assert_int_equal(scan, JPROF_E_IO);
	assert_contains(scanned.text, "cannot be looked at: ");
	assert_contains(scanned.text, strerror(EMFILE));
	jprof_processes_free(list);
}

/* One that was listed so. */
TEST(test_unreadable_process)
{
	const struct jprof_process process = { .state = JPROF_PROCESS_ENDED, .pid = 7, .error = EMFILE };
	struct jprof_target *target;
	struct jprof_error err;
	assert_int_equal(jprof_target_open(&process, NULL, &target, &err), JPROF_E_IO);
	char words[128];
	snprintf(words, sizeof words, "process 7: cannot be looked at: %s", strerror(EMFILE));
	assert_string_equal(err.text, words);
}
