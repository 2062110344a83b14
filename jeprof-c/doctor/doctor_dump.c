/* Checks of how a dump comes about and where it goes. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "doctor/doctor.h"
#include "snap/silence.h"

/* ---- the agent --------------------------------------------------------------------------------------------- */

bool preloads_agent(const struct scene *s)
{
	return (s->process && s->process->agent_library) || (s->preload && strstr(s->preload, "libjprof-agent"));
}

/* What is loaded and gives no report. */
static void check_silent(const struct scene *s, struct findings *f)
{
	const struct silence_env env = { .known = s->env_known, .agent = s->agent_words, .conf = s->conf };
	char text[doctor_text_most];
	bool profiles = scene_profiles(s) != 0;
	if (!s->process->agent_trouble && s->process->jemalloc && !profiles)
		snprintf(text, sizeof text, "not active, for jemalloc does not profile");
	else if (!silence_text(s->process, &env, text, sizeof text))
		snprintf(text, sizeof text,
		         "tells nothing, and the reason is not known: if it began a moment ago, ask again");
	findings_add(f, "agent", s->process->agent_trouble ? VERDICT_BAD : VERDICT_WARN,
	             s->process->agent_trouble ? "fix that, and start it anew"
	                                       : "it needs prof:true, a Ruby or JPROF_AGENT=for=all, and a "
	                                         "mallctl that it can see; off and socket=off silence it",
	             "is loaded, but %s", text);
}

static void check_report(const struct scene *s, struct findings *f)
{
	const struct jprof_agent_report *r = s->report;
	if (r->last_error)
		findings_add(f, "agent", VERDICT_WARN, "fix what it says; see the row directory",
		             "version %s answers; its last error: %s", r->version ? r->version : "?", r->last_error);
	else
		findings_add(f, "agent", VERDICT_OK, NULL, "version %s answers; %llu dumps made",
		             r->version ? r->version : "?", (unsigned long long)r->dumps);
}

void check_agent(const struct scene *s, struct findings *f)
{
	if (!s->process)
		check_agent_of_command(s, f);
	else if (s->report)
		check_report(s, f);
	else if (s->process->agent_version && !s->process->agent_socket)
		findings_add(f, "agent", s->process->agent_trouble ? VERDICT_BAD : VERDICT_WARN,
		             s->process->agent_trouble ? "fix that, and start it anew" : "start it without socket=off",
		             "%s%s", s->process->agent_trouble ? "is there, but " : "is there without a socket",
		             s->process->agent_trouble ? s->process->agent_trouble : "");
	else if (s->process->agent_version)
		findings_add(f, "agent", VERDICT_BAD,
		             "see the row directory, which held the socket; else look as the same user or as root",
		             "is there, and does not answer: %s%s%s", s->agent_error.path,
		             *s->agent_error.path ? ": " : "", s->agent_error.text);
	else if (!s->process->readable)
		findings_add(f, "agent", VERDICT_UNKNOWN, NULL, "what is mapped may not be seen");
	else if (s->process->agent_library)
		check_silent(s, f);
	else if (preloads_agent(s))
		findings_add(f, "agent", VERDICT_BAD,
		             "its file and all directories above must be readable for the user who starts the program; "
		             "see the row preload",
		             "LD_PRELOAD names it, and the loader did not load it");
	else
		findings_add(f, "agent", VERDICT_WARN, "start it by: jprof run -- COMMAND",
		             "none: jprof snap cannot ask for a dump");
}

/* ---- Ruby's lines ------------------------------------------------------------------------------------------ */

/* Whether a version of jemalloc is one whose stacks the agent can add to. */
static bool has_stack_hook(const char *version)
{
	int major, minor;
	return sscanf(version, "%d.%d", &major, &minor) != 2 || major > 5 || (major == 5 && minor >= 3);
}

static const char newer_jemalloc[] = "preload a jemalloc of 5.3 or later";

static void check_ruby_of_command(const struct scene *s, struct findings *f)
{
	if (s->proved && preloads_agent(s) && program_is_ruby(&s->target) && !has_stack_hook(s->proof.version))
		findings_add(
		    f, "ruby", VERDICT_WARN, newer_jemalloc,
		    "samples would have no Ruby stacks: jemalloc %s has no hook for the stacks that it samples",
		    s->proof.version);
}

/* Nothing where JPROF_AGENT has slots=off. */
void check_slots(const struct scene *s, struct findings *f)
{
	const struct jprof_agent_report *r = s->report;
	if (r && r->ruby && r->ruby_slots)
		findings_add(f, "slots", VERDICT_OK, NULL, "objects in slots of Ruby's own heap are sampled");
	else if (r && r->ruby && r->ruby_slots_why)
		findings_add(f, "slots", VERDICT_WARN, "man jprof-agent says where they are sampled",
		             "objects in slots of Ruby's own heap are not sampled: %s", r->ruby_slots_why);
}

void check_ruby(const struct scene *s, struct findings *f)
{
	const struct jprof_agent_report *r = s->report;
	if (!r)
		check_ruby_of_command(s, f);
	else if (r->ruby && r->ruby_stacks)
		findings_add(f, "ruby", VERDICT_OK, NULL, "Ruby %s: samples have Ruby stacks", r->ruby);
	else if (r->ruby && r->ruby_stacks_why)
		findings_add(f, "ruby", VERDICT_WARN,
		             r->jemalloc && !has_stack_hook(r->jemalloc)
		                 ? newer_jemalloc
		                 : "man jprof-ruby has the next step for each reason",
		             "Ruby %s: samples have no Ruby stacks: %s", r->ruby, r->ruby_stacks_why);
	else if (r->ruby)
		findings_add(f, "ruby", VERDICT_WARN, "start it with the agent that came with this jprof",
		             "Ruby %s: samples have no Ruby stacks: the agent, of version %s, takes none", r->ruby,
		             r->version ? r->version : "?");
}

/* ---- USR2 -------------------------------------------------------------------------------------------------- */

static bool ignores(int pid, int signal)
{
	char path[64], line[256];
	bool ignored = false;
	snprintf(path, sizeof path, "/proc/%d/status", pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file))
		if (!strncmp(line, "SigIgn:", 7))
			ignored = strtoull(line + 7, NULL, 16) >> (signal - 1) & 1;
	if (file)
		fclose(file);
	return ignored;
}

/* Whether a handler is there proves nothing: Ruby's own lets the process die of the signal. */
static void check_signal_of_process(const struct scene *s, struct findings *f)
{
	const struct jprof_process *p = s->process;
	const char *what = usr2_of(p->server, p->role);
	bool caught = p->caught >> (SIGUSR2 - 1) & 1;
	if (!caught && ignores(p->pid, SIGUSR2))
		findings_add(f, "signal", VERDICT_OK, NULL, "USR2 is ignored by this process: it makes no dump");
	else if (!caught && p->ns_pid == 1)
		findings_add(f, "signal", VERDICT_OK, NULL,
		             "USR2 does nothing: it has no handler, and is pid 1 in its namespace");
	else if (what)
		findings_add(f, "signal", VERDICT_WARN, signal_fix, "USR2 %s", what);
	else if (p->ruby && caught)
		findings_add(
		    f, "signal", VERDICT_WARN, signal_fix,
		    "USR2 kills a plain Ruby, unless the program has a trap for it; its bit in SigCgt (set here) is Ruby's "
		    "own and proves nothing");
	else if (caught)
		findings_add(f, "signal", VERDICT_UNKNOWN, signal_fix,
		             "USR2 has a handler of the program's own: what it does is not known");
	else
		findings_add(f, "signal", VERDICT_WARN, signal_fix, "USR2 kills this process: it has no handler");
}

void check_signal(const struct scene *s, struct findings *f)
{
	if (!s->process)
		check_signal_of_command(s, f);
	else if (s->report && s->report->signal && s->report->signal_owned)
		findings_add(f, "signal", VERDICT_OK, NULL, "signal %d%s makes a dump: the handler is the agent's",
		             s->report->signal, s->report->signal == SIGUSR2 ? " (USR2)" : "");
	else
		check_signal_of_process(s, f);
}

/* ---- the directory ----------------------------------------------------------------------------------------- */

/* Splits prof_prefix; a relative one is relative to the working directory. False: there is none. */
static bool find_prefix(const struct scene *s, char *prefix, size_t size)
{
	if (s->report && s->report->prefix)
		snprintf(prefix, size, "%s", s->report->prefix);
	else if (!scene_option(s, "prof_prefix", prefix, size)) {
		if (scene_profiles(s) <= 0)
			return false;
		snprintf(prefix, size, "jeprof");
	}
	return true;
}

static void dump_directory(const struct scene *s, const char *prefix, char *dir, size_t size)
{
	char link[64], cwd[2048] = ".";
	const char *slash = strrchr(prefix, '/');
	int len = slash ? (int)(slash - prefix) : 0;
	if (*prefix == '/') {
		snprintf(dir, size, "%.*s", len ? len : 1, prefix);
		return;
	}
	if (s->process) {
		snprintf(link, sizeof link, "/proc/%d/cwd", s->process->pid);
		ssize_t n = readlink(link, cwd, sizeof cwd - 1);
		cwd[n > 0 ? n : 1] = '\0';
	}
	snprintf(dir, size, "%s%s%.*s", cwd, len ? "/" : "", len, prefix);
}

static const char dir_fix[] = "make it, or name another by prof_prefix or jprof run --dir=DIR";
static const char space_fix[] = "make room, or name another directory by prof_prefix or --dir=DIR";

/* Bytes of the last dump, where that is a file; 0: not known. Nothing else tells: a dump has all stacks that were ever
 * sampled, also those of which nothing is left. */
static double last_dump_size(const struct scene *s)
{
	struct look look;
	const char *path = s->report ? s->report->last_dump : NULL;
	return path && *path == '/' && !scene_look(s, path, &look) ? (double)look.st.st_size : 0;
}

static void check_space(const struct scene *s, struct findings *f, const struct statvfs *there, const char *dir)
{
	enum { small = mb };
	double room = (double)there->f_bavail * (double)there->f_frsize, last = last_dump_size(s);
	double need = last > small ? last : small;
	bool no_inodes = there->f_files && !there->f_favail;
	enum verdict verdict = room < need || no_inodes ? VERDICT_BAD : room < 10 * need ? VERDICT_WARN : VERDICT_OK;
	const char *fix = verdict == VERDICT_OK ? NULL : space_fix;
	if (no_inodes)
		findings_add(f, "space", verdict, fix, "%s: no more files can be made (no inodes are free)", dir);
	else if (last > 0)
		findings_add(f, "space", verdict, fix, "%s has %.1f MB free; the last dump has %.1f MB", dir, room / mb,
		             last / mb);
	else
		findings_add(
		    f, "space", verdict, fix,
		    "%s has %.1f MB free; how large a dump gets is known after the first: some 500 bytes for each "
		    "stack that was ever sampled",
		    dir, room / mb);
}

/* For a command that becomes another user: by owner and mode. */
static bool may_write_there(const struct scene *s, const struct look *look)
{
	if (s->process || s->uid == geteuid())
		return look->may_write;
	unsigned shift = look->st.st_uid == s->uid ? 6 : 0;
	return !s->uid || (look->st.st_mode >> shift & 3) == 3;
}

/* An agent that answers gives snap its dumps from memory. */
static enum verdict without_files(const struct scene *s)
{
	return s->report ? VERDICT_WARN : VERDICT_BAD;
}

static const char *snap_goes_on(const struct scene *s)
{
	return s->report ? "; jprof snap gets dumps from memory all the same" : "";
}

static void check_seen_directory(const struct scene *s, struct findings *f, const struct look *look, const char *dir)
{
	const struct stat *st = &look->st;
	if (!S_ISDIR(st->st_mode))
		findings_add(f, "directory", without_files(s), dir_fix, "%s is no directory%s", dir, snap_goes_on(s));
	else if (look->room.f_flag & ST_RDONLY)
		findings_add(f, "space", without_files(s), space_fix, "%s is on a read-only file system%s", dir,
		             snap_goes_on(s));
	else if (!may_write_there(s, look))
		findings_add(f, "directory", without_files(s),
		             "give it to that user, or name another by prof_prefix or --dir=DIR",
		             "%s may not be written by user %u: it belongs to user %u, mode %04o%s", dir, s->uid,
		             (unsigned)st->st_uid, (unsigned)st->st_mode & 07777, snap_goes_on(s));
	else {
		findings_add(f, "directory", VERDICT_OK, NULL, "%s may be written by user %u%s", dir, s->uid,
		             s->elsewhere ? ", as the process sees it" : "");
		check_space(s, f, &look->room, dir);
	}
}

/* Names hold the pid: where each container has its own pids, two may write the same name. */
static void check_shared(const struct scene *s, struct findings *f, const char *prefix)
{
	const struct jprof_process *p = s->process;
	if (p && p->ns_pid && p->ns_pid != p->pid && p->ns_pid < 100)
		findings_add(f, "prefix", VERDICT_WARN,
		             "if it is a shared volume, give each container a prefix of its own: --label",
		             "%s.%d.* may be written by another container too, for it has pid %d in its own namespace",
		             prefix, p->ns_pid, p->ns_pid);
}

/* jprof run makes the directory if its parent is there. */
static bool can_be_made(const struct scene *s, const char *dir)
{
	char parent[6200];
	struct look look;
	const char *slash = strrchr(dir, '/');
	if (!s->made || strcmp(s->made, dir))
		return false;
	snprintf(parent, sizeof parent, "%.*s", !slash ? 1 : slash == dir ? 1 : (int)(slash - dir), slash ? dir : ".");
	return !scene_look(s, parent, &look) && look.may_write;
}

bool can_write_dumps(const struct scene *s)
{
	char prefix[4096], dir[6200];
	struct look look;
	if (!find_prefix(s, prefix, sizeof prefix) || !*prefix)
		return true;
	dump_directory(s, prefix, dir, sizeof dir);
	if (scene_look(s, dir, &look))
		return errno != ENOENT || can_be_made(s, dir);
	return S_ISDIR(look.st.st_mode) && may_write_there(s, &look) && !(look.room.f_flag & ST_RDONLY);
}

void check_directory(const struct scene *s, struct findings *f)
{
	char prefix[4096], dir[6200];
	if (!s->jemalloc || !find_prefix(s, prefix, sizeof prefix))
		return;
	if (!*prefix) {
		findings_add(f, "directory", VERDICT_BAD, "set prof_prefix:/DIR/NAME",
		             "prof_prefix is empty: jemalloc cannot name a dump");
		return;
	}
	dump_directory(s, prefix, dir, sizeof dir);
	struct look look;
	int rc = scene_look(s, dir, &look);
	if (rc && errno == ENOENT && can_be_made(s, dir))
		findings_add(f, "directory", VERDICT_OK, NULL, "%s is made by jprof run, for user %u", dir, s->uid);
	else if (rc && errno == EACCES)
		findings_add(f, "directory", VERDICT_UNKNOWN, "look as that user or as root", "%s may not be seen",
		             dir);
	else if (rc)
		findings_add(f, "directory", without_files(s), dir_fix, "%s, where dumps are to go: %s%s", dir,
		             strerror(errno), snap_goes_on(s));
	else
		check_seen_directory(s, f, &look, dir);
	check_shared(s, f, prefix);
}
