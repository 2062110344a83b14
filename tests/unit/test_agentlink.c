/* An agent made here: a thread that announces nothing, but speaks as docs/internals/agent.md says, or does not. */
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "jprof-live.h"

enum { requests_kept = 8 };

/* One connection's worth of answers: each request gets the next. After one without
 * a newline it hangs up; after an empty one it does nothing. */
struct fake {
	pthread_t thread;
	int listener;
	char dir[64];
	char path[108];
	const char *replies[requests_kept]; /* NULL: hang up */
	char asked[requests_kept][128];
	unsigned count;
};

static void read_request(int fd, char *to, size_t size)
{
	size_t len = 0;
	while (len + 1 < size && read(fd, to + len, 1) == 1 && to[len] != '\n')
		len++;
	to[len] = '\0';
}

static void *serve(void *context)
{
	struct fake *fake = context;
	int fd = accept4(fake->listener, NULL, NULL, SOCK_CLOEXEC);
	for (unsigned i = 0; fd >= 0 && i < requests_kept; i++) {
		read_request(fd, fake->asked[i], sizeof fake->asked[i]);
		if (!*fake->asked[i] || !fake->replies[i])
			break;
		fake->count++;
		size_t len = strlen(fake->replies[i]);
		if (send(fd, fake->replies[i], len, MSG_NOSIGNAL) < 0 || (len && fake->replies[i][len - 1] != '\n'))
			break;
	}
	if (fd >= 0)
		close(fd);
	return NULL;
}

static void start_at(struct fake *fake, const struct sockaddr_un *address, socklen_t len)
{
	fake->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fake->listener >= 0);
	assert_int_equal(bind(fake->listener, (const struct sockaddr *)address, len), 0);
	assert_int_equal(listen(fake->listener, 4), 0);
	assert_int_equal(pthread_create(&fake->thread, NULL, serve, fake), 0);
}

/* Listens at a path; fake->path may have been handed out before. */
static void start(struct fake *fake)
{
	strcpy(fake->dir, "/tmp/jprof-link-XXXXXX");
	assert_non_null(mkdtemp(fake->dir));
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(address.sun_path, sizeof address.sun_path, "%s/s", fake->dir);
	strcpy(fake->path, address.sun_path);
	start_at(fake, &address, sizeof address);
}

static void stop_fake(struct fake *fake)
{
	shutdown(fake->listener, SHUT_RDWR);
	pthread_join(fake->thread, NULL);
	close(fake->listener);
	if (*fake->path)
		unlink(fake->path);
	if (*fake->dir)
		rmdir(fake->dir);
}

static struct jprof_processes *own;

static struct jprof_process myself(const char *socket)
{
	int pid = getpid();
	struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &pid, .pid_count = 1 };
	jprof_processes_free(own);
	own = NULL;
	assert_int_equal(jprof_processes_new(&opts, &own, NULL), 0);
	struct jprof_process p = *jprof_processes_at(own, 0);
	p.agent_version = 1;
	p.agent_socket = socket;
	return p;
}

static char *report_of(const struct jprof_process *p, int pid, const char *rest)
{
	static char text[2][1024];
	static int turn;
	turn = !turn;
	snprintf(text[turn], sizeof text[turn],
	         "{\"ok\":true,\"protocol\":1,\"version\":\"0.1.0\",\"pid\":%d,\"start_ticks\":%llu%s}\n", pid,
	         (unsigned long long)p->start_ticks, rest);
	return text[turn];
}

/* A reply of a dump DIRECTORY/a.PIDNAME, whose side-car ends in `ending`. */
static char *dump_line(const char *directory, int pid, const char *name, const char *ending, const char *rest)
{
	static char text[requests_kept][512];
	static unsigned turn;
	turn = (turn + 1) % jp_count(text);
	snprintf(text[turn], sizeof text[turn],
	         "{\"ok\":true,\"dump\":\"%sa.%d%s\",\"sidecar\":\"%sa.%d%s%s\",\"seq\":3%s}\n", directory, pid, name,
	         directory, pid, name, ending, rest);
	return text[turn];
}

static int connect_agent(const struct jprof_process *p, struct jprof_agent **agent, struct jprof_error *err)
{
	struct jprof_agent_opts opts = { .size = sizeof opts, .timeout = 20000 };
	return jprof_agent_connect(p, &opts, agent, err);
}

TEST(test_a_whole_talk)
{
	struct fake fake = { 0 };
	strcpy(fake.path, "?");
	struct jprof_process p = myself(fake.path);
	fake.replies[0] =
	    report_of(&p, p.ns_pid, ",\"signal\":12,\"signal_owned\":true,\"ruby\":null,\"prefix\":\"/t/a\"");
	fake.replies[1] = dump_line("/t/", p.ns_pid, ".3.j0.heap", ".json", ",\"gc\":\"done\",\"milliseconds\":12");
	fake.replies[2] = "{\"ok\":true,\"stats\":{\"jemalloc\":{\"version\":\"5.3.0\"}}}\n";
	fake.replies[3] = "{\"ok\":true,\"was\":true}\n";
	fake.replies[4] = "{\"ok\":false,\"error\":\"no room in /t\"}\n";
	start(&fake);
	struct jprof_agent *agent;
	struct jprof_error err = { 0 };
	if (connect_agent(&p, &agent, &err))
		fail_msg("%s", err.text);
	struct jprof_agent_dump_opts opts = { .size = sizeof opts, .label = "boot", .gc = true, .gc_timeout = 500 };
	const struct jprof_agent_dump *dump;
	const char *stats;
	bool was = false;
	assert_int_equal(jprof_agent_dump(agent, &opts, &dump, &err), 0);
	assert_true(dump->files);
	assert_int_equal(strncmp(dump->dump, "/t/a.", 5), 0);
	assert_contains(dump->dump, ".3.j0.heap");
	assert_contains(dump->sidecar, ".3.j0.heap.json");
	assert_string_equal(dump->gc, "done");
	assert_int_equal(dump->seq, 3);
	assert_near(dump->milliseconds, 12);
	assert_int_equal(jprof_agent_stats(agent, &stats, &err), 0);
	assert_string_equal(stats, "{\"jemalloc\":{\"version\":\"5.3.0\"}}");
	assert_int_equal(jprof_agent_set_active(agent, false, &was, &err), 0);
	assert_true(was);
	assert_int_equal(jprof_agent_dump(agent, NULL, &dump, &err), JPROF_E_IO);
	assert_contains(err.text, "no room in /t");
	assert_is_message(err.text);
	jprof_agent_free(agent);
	stop_fake(&fake);
	static const char *const asked[] = { "report", "dump label=boot gc=1 timeout=500", "stats", "deactivate",
		                             "dump" };
	assert_int_equal(fake.count, jp_count(asked));
	for (size_t i = 0; i < jp_count(asked); i++)
		assert_string_equal(fake.asked[i], asked[i]);
}

TEST(test_the_report)
{
	struct fake fake = { 0 };
	struct jprof_process p = myself(fake.path);
	fake.replies[0] = report_of(&p, p.ns_pid, "");
	fake.replies[1] =
	    report_of(&p, p.ns_pid,
	              ",\"jemalloc\":\"5.3.0-0\",\"prof_active\":true,\"lg_sample\":17,\"prefix\":\"/t/a\","
	              "\"signal\":12,\"signal_owned\":true,\"ruby\":\"3.1.2\",\"triggers\":\"every=10m\","
	              "\"dumps\":4,\"last_error\":\"disk full\"");
	start(&fake);
	struct jprof_agent *agent;
	const struct jprof_agent_report *r;
	struct jprof_error err = { 0 };
	assert_int_equal(connect_agent(&p, &agent, &err), 0);
	assert_int_equal(jprof_agent_report(agent, &r, &err), 0);
	assert_int_equal(r->pid, p.ns_pid);
	assert_int_equal(r->lg_sample, 17);
	assert_int_equal(r->signal, 12);
	assert_true(r->signal_owned && r->prof_active);
	assert_int_equal(r->dumps, 4);
	assert_string_equal(r->version, "0.1.0");
	assert_string_equal(r->jemalloc, "5.3.0-0");
	assert_string_equal(r->prefix, "/t/a");
	assert_string_equal(r->ruby, "3.1.2");
	assert_string_equal(r->triggers, "every=10m");
	assert_string_equal(r->last_error, "disk full");
	assert_null(r->last_dump);
	jprof_agent_free(agent);
	stop_fake(&fake);
}

/* The first answer decides whether it is the right process. */
static void refused(const char *reply, const char *why)
{
	struct fake fake = { .replies = { reply } };
	start(&fake);
	struct jprof_process p = myself(fake.path);
	struct jprof_agent *agent = NULL;
	struct jprof_error err = { 0 };
	assert_true(connect_agent(&p, &agent, &err) < 0);
	assert_null(agent);
	assert_contains(err.text, why);
	assert_is_message(err.text);
	stop_fake(&fake);
}

TEST(test_wrong_answers)
{
	struct jprof_process p = myself("");
	refused(report_of(&p, p.ns_pid + 1, ""), "just forked");
	p.start_ticks++;
	refused(report_of(&p, p.ns_pid, ""), "another has its pid");
	p.start_ticks = 0;
	refused(report_of(&p, p.ns_pid, ""), "mount /proc");
	refused("{\"ok\":true,\"protocol\":2}\n", "protocol 2");
	refused("{\"ok\":true,\"protocol\":1", "hung up");
	refused("[1]\n", "says: no");
	refused("\n", "no JSON");
	refused("ok\n", "no JSON");
	refused("{\"ok\":false}\n", "says: no");
	refused("{\"ok\":false,\"error\":\"\\u0007no\\n\"}\n", "says: ");
	refused(NULL, "hung up");
}

TEST(test_dumps_that_are_none)
{
	struct fake fake = { 0 };
	struct jprof_process p = myself(fake.path);
	fake.replies[0] = report_of(&p, p.ns_pid, "");
	fake.replies[1] = "{\"ok\":true}\n";
	fake.replies[2] = "{\"ok\":true,\"dump\":\"relative.heap\"}\n";
	static const char *const names[] = { ".3.j0.hea", ".3.0.heap", ".3.j.heap", ".j0.heap", ".3.j0.heap.json" };
	unsigned count = 3;
	for (size_t i = 0; i < jp_count(names) && count < requests_kept; i++)
		fake.replies[count++] = dump_line("/t/", p.ns_pid, names[i], ".json", "");
	start(&fake);
	struct jprof_agent *agent;
	const struct jprof_agent_dump *dump;
	struct jprof_error err = { 0 };
	assert_int_equal(connect_agent(&p, &agent, &err), 0);
	for (unsigned i = 1; i < count; i++)
		assert_int_equal(jprof_agent_dump(agent, NULL, &dump, &err), JPROF_E_FORMAT);
	struct jprof_dump_file *none = NULL;
	assert_int_equal(jprof_agent_files(agent, NULL, &none, &none, &err), JPROF_E_ARGUMENT);
	struct jprof_agent_dump_opts opts = { .size = sizeof opts, .label = "a b" };
	assert_int_equal(jprof_agent_dump(agent, &opts, &dump, &err), JPROF_E_ARGUMENT);
	jprof_agent_free(agent);
	stop_fake(&fake);
	assert_int_equal(fake.count, count);
}

/* Another process, and another directory or name for the side-car, or none. */
TEST(test_dumps_of_others)
{
	struct fake fake = { 0 };
	struct jprof_process p = myself(fake.path);
	fake.replies[0] = report_of(&p, p.ns_pid, ",\"prefix\":\"/t/a\"");
	fake.replies[1] = dump_line("/t/", p.ns_pid + 1, ".3.j0.heap", ".json", "");
	fake.replies[2] = dump_line("/t/", p.ns_pid, ".3.j0.heap", ".jso", "");
	fake.replies[3] = "{\"ok\":true,\"dump\":\"/t/b.1.0.j0.heap\",\"sidecar\":\"/t/b.1.0.j0.heap.json\"}\n";
	fake.replies[4] = dump_line("/t/", p.ns_pid, ".3.j0.heap", ".json", ",\"fds\":2");
	fake.replies[5] = dump_line("", p.ns_pid, ".3.j0.heap", ".json", ",\"fds\":2");
	fake.replies[6] = dump_line("/t/", p.ns_pid, ".3.j0.heap", ".json", ",\"graph\":true");
	fake.replies[7] = dump_line("/t/", p.ns_pid, ".3.j0.heap", ".json", ",\"graph\":false,\"graph_why\":\"no\"");
	start(&fake);
	struct jprof_agent *agent;
	const struct jprof_agent_dump *dump;
	struct jprof_error err = { 0 };
	assert_int_equal(connect_agent(&p, &agent, &err), 0);
	for (int i = 1; i < 7; i++)
		assert_int_equal(jprof_agent_dump(agent, NULL, &dump, &err), JPROF_E_FORMAT);
	assert_int_equal(jprof_agent_graph(agent), -1);
	assert_int_equal(jprof_agent_dump(agent, NULL, &dump, &err), 0);
	assert_string_equal(dump->graph_why, "no");
	assert_int_equal(jprof_agent_graph(agent), -1);
	assert_string_equal(fake.asked[1], "dump"); /* it said nothing of descriptors */
	jprof_agent_free(agent);
	stop_fake(&fake);
}

/* Between the look at /proc and the connection it may have become another user's, or another process. */
TEST(test_who_it_is_now)
{
	struct fake fake = { 0 };
	struct jprof_process p = myself(fake.path);
	struct jprof_agent *agent = NULL;
	struct jprof_error err = { 0 };
	p.uid++;
	fake.replies[0] = report_of(&p, p.ns_pid, "");
	start(&fake);
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_IO);
	assert_contains(err.text, "a moment ago");
	stop_fake(&fake);
	p.uid--;
	p.start_ticks++;
	fake = (struct fake){ .replies = { report_of(&p, p.ns_pid, "") } };
	start(&fake);
	p.agent_socket = fake.path;
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_IO);
	assert_contains(err.text, "another has its pid");
	assert_null(agent);
	stop_fake(&fake);
}

TEST(test_labels)
{
	assert_true(jprof_agent_label_good("boot"));
	assert_true(jprof_agent_label_good("A-z_0.9"));
	assert_false(jprof_agent_label_good(""));
	assert_false(jprof_agent_label_good("a b"));
	assert_false(jprof_agent_label_good("a\nb"));
	assert_false(jprof_agent_label_good("a/b"));
	char text[66];
	memset(text, 'x', sizeof text);
	text[65] = '\0';
	assert_false(jprof_agent_label_good(text));
	text[64] = '\0';
	assert_true(jprof_agent_label_good(text));
}

TEST(test_no_socket_there)
{
	struct jprof_agent *agent = NULL;
	struct jprof_error err = { 0 };
	struct jprof_process p = myself("/nowhere/at/all");
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_IO);
	assert_contains(err.text, "/nowhere/at/all");
	p.agent_socket = "/dev/null";
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_IO);
	assert_contains(err.text, "/dev/null");
	p.agent_socket = "@jprof nobody listens here";
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_IO);
	p.agent_socket = NULL;
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_ARGUMENT);
	assert_null(agent);
}

TEST(test_silence)
{
	struct fake fake = { .replies = { "" } };
	start(&fake);
	struct jprof_process p = myself(fake.path);
	struct jprof_agent_opts opts = { .size = sizeof opts, .timeout = 50 };
	struct jprof_agent *agent = NULL;
	struct jprof_error err = { 0 };
	assert_int_equal(jprof_agent_connect(&p, &opts, &agent, &err), JPROF_E_IO);
	assert_int_equal(err.advice, JPROF_ADVICE_TIMEOUT);
	assert_null(agent);
	stop_fake(&fake);
}

static void abstract(struct fake *fake, char *name, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	snprintf(name, size, "@jprof-test.%d", (int)getpid());
	memcpy(address.sun_path + 1, name + 1, strlen(name + 1));
	start_at(fake, &address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name)));
}

TEST(test_an_abstract_name)
{
	struct fake fake = { 0 };
	char name[64] = "";
	struct jprof_process p = myself(name);
	fake.replies[0] = report_of(&p, p.ns_pid, "");
	abstract(&fake, name, sizeof name);
	struct jprof_agent *agent;
	struct jprof_error err = { 0 };
	if (connect_agent(&p, &agent, &err))
		fail_msg("%s", err.text);
	jprof_agent_free(agent);
	stop_fake(&fake);
}

/* Who listens, as the kernel has it, must be the process that names the socket, whatever the report says. */
TEST(test_who_listens)
{
	struct fake fake = { 0 };
	int ready[2];
	char byte;
	assert_int_equal(pipe(ready), 0);
	strcpy(fake.dir, "/tmp/jprof-link-XXXXXX");
	assert_non_null(mkdtemp(fake.dir));
	snprintf(fake.path, sizeof fake.path, "%s/s", fake.dir);
	struct jprof_process p = myself(fake.path);
	fake.replies[0] = report_of(&p, p.ns_pid, "");
	pid_t child = fork();
	if (!child) {
		struct sockaddr_un address = { .sun_family = AF_UNIX };
		strcpy(address.sun_path, fake.path);
		start_at(&fake, &address, sizeof address);
		byte = write(ready[1], "", 1) == 1;
		pthread_join(fake.thread, NULL);
		_exit(!byte);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	struct jprof_agent *agent = NULL;
	struct jprof_error err = { 0 };
	char words[100];
	snprintf(words, sizeof words, "process %d: the socket that it names belongs to process %d", p.pid, (int)child);
	assert_int_equal(connect_agent(&p, &agent, &err), JPROF_E_IO);
	assert_contains(err.text, words);
	assert_null(agent);
	waitpid(child, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	unlink(fake.path);
	rmdir(fake.dir);
}

int main(void)
{
	int failures = run_listed(NULL, NULL);
	jprof_processes_free(own);
	return failures;
}
