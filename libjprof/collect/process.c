#include "collect/process.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/textparts.h"
#include "collect/announcement.h"
#include "collect/procfs.h"
#include "collect/roles.h"
#include "input/maps.h"

enum { small_limit = 1 << 16, cmdline_limit = 1 << 16, maps_limit = 32 << 20 };

static struct jp_span span_of_text(const struct jp_strbuf *text)
{
	return (struct jp_span){ text->text, text->len };
}

/* ruby, ruby3.1, ruby-mri; not rubyfmt. */
static bool is_ruby_name(const char *name)
{
	return jp_begins(name, "ruby") && strchr("0123456789.- ", name[4]);
}

static int short_of_memory(int rc)
{
	return rc == ENOMEM ? -1 : 0;
}

/* The same; what says nothing of the process, but that we or the kernel lack something, is noted. What a process can
 * bring about, such as a path that is too long, is not: a list of all processes would fail by it. */
static int note_unreadable(struct jprof_process *p, int rc)
{
	if (rc == EMFILE || rc == ENFILE || rc == EIO)
		p->error = rc;
	return short_of_memory(rc);
}

static char *words_of(struct jp_arena *arena, const struct jp_strbuf *cmdline)
{
	char *words = jp_arena_dup(arena, cmdline->text ? cmdline->text : "", cmdline->len);
	size_t len = cmdline->len;
	while (words && len && (!words[len - 1] || words[len - 1] == ' '))
		words[--len] = '\0';
	for (size_t i = 0; words && i < len; i++)
		if (!words[i])
			words[i] = ' ';
	return words;
}

/* 0, or an errno. */
static int read_stat(const char *proc, struct jprof_process *p)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_proc_stat stat;
	int rc = jp_proc_read(proc, p->pid, "stat", small_limit, &text);
	if (rc)
		return rc;
	if (!jp_proc_stat_parse(span_of_text(&text), &stat))
		return ESRCH;
	p->ppid = stat.ppid;
	p->start_ticks = stat.start_ticks;
	p->state = stat.state == 'Z' || stat.state == 'X' ? JPROF_PROCESS_ZOMBIE : JPROF_PROCESS_ALIVE;
	return 0;
}

/* 0, or an errno. */
static int read_status(const char *proc, struct jprof_process *p, struct jp_proc_status *status)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	int rc = jp_proc_read(proc, p->pid, "status", small_limit, &text);
	if (rc)
		return rc;
	jp_proc_status_parse(span_of_text(&text), status);
	p->ns_pid = status->ns_pid;
	p->uid = status->uid;
	p->rss = status->rss;
	p->caught = status->caught;
	if (status->tgid && status->tgid != p->pid) {
		p->pid = status->tgid;
		return EAGAIN;
	}
	return 0;
}

static int read_cmdline(struct jp_arena *arena, const char *proc, struct jprof_process *p)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	if (note_unreadable(p, jp_proc_read(proc, p->pid, "cmdline", cmdline_limit, &text)))
		return -1;
	/* argv[0] without what a title leaves behind it. */
	size_t len = text.text ? strnlen(text.text, text.len) : 0;
	while (len && text.text[len - 1] == ' ')
		len--;
	p->title = jp_arena_dup(arena, text.text ? text.text : "", len);
	p->cmdline = words_of(arena, &text);
	if (!p->title || !p->cmdline)
		return -1;
	struct jp_title role = jp_title_role(p->title, p->cmdline);
	p->server = role.server;
	p->role = role.role;
	return 0;
}

/* 0, or an errno. It is EAGAIN where p->pid was a thread's id, and is that of the thread's process now. */
static int read_kernel_texts(const char *proc, struct jprof_process *p, struct jp_proc_status *status)
{
	*status = (struct jp_proc_status){ 0 };
	*p = (struct jprof_process){ .pid = p->pid, .state = JPROF_PROCESS_ENDED };
	p->title = p->cmdline = p->server = p->role = p->program = p->name = "";
	int rc = read_stat(proc, p);
	return rc ? rc : read_status(proc, p, status);
}

int jp_process_read_basics(struct jp_arena *arena, const char *proc, struct jprof_process *p)
{
	struct jp_proc_status status;
	int rc = read_kernel_texts(proc, p, &status);
	if (rc == EAGAIN)
		rc = read_kernel_texts(proc, p, &status);
	if (rc) {
		p->state = JPROF_PROCESS_ENDED;
		return note_unreadable(p, rc);
	}
	p->name = jp_arena_dup(arena, status.name, strlen(status.name));
	return p->name ? read_cmdline(arena, proc, p) : -1;
}

static int note_announce(struct jp_arena *arena, struct jprof_process *p, const char *path)
{
	struct jp_announce a;
	if (!jp_announce_parse(path, &a))
		return 0;
	p->agent_version = a.version;
	p->agent_signal = a.signal;
	p->agent_socket = NULL;
	if (!a.socket_len)
		return 0;
	p->agent_socket = jp_arena_dup(arena, a.socket, a.socket_len);
	return p->agent_socket ? 0 : -1;
}

static int note_trouble(struct jp_arena *arena, struct jprof_process *p, int trouble, int error)
{
	char text[256];
	jp_trouble_text(trouble, error, text, sizeof text);
	p->agent_trouble = jp_arena_dup(arena, text, strlen(text));
	return p->agent_trouble ? 0 : -1;
}

/* What one mapping tells. 0, or -1 when memory is short. */
static int note_map(struct jp_arena *arena, struct jprof_process *p, const struct jprof_map *map)
{
	const char *path = map->path, *base = jp_basename(path);
	const char **found = NULL;
	int trouble, error;
	if (jp_begins(path, "/memfd:"))
		return note_announce(arena, p, path);
	if (jp_begins(base, "libjprof-agent") && jp_trouble_parse(map->offset, &trouble, &error) &&
	    note_trouble(arena, p, trouble, error))
		return -1;
	if (jp_begins(base, "libjemalloc"))
		found = &p->jemalloc;
	else if (jp_begins(base, "libjprof-agent"))
		found = &p->agent_library;
	else if (jp_begins(base, "libruby") && strstr(base, ".so"))
		found = &p->ruby;
	if (!found || *found)
		return 0;
	*found = jp_arena_dup(arena, path, strlen(path));
	return *found ? 0 : -1;
}

static int read_program(struct jp_arena *arena, const char *proc, struct jprof_process *p)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) exe = { 0 };
	int rc = jp_proc_link(proc, p->pid, "exe", &exe);
	if (rc)
		return note_unreadable(p, rc);
	p->program = jp_arena_dup(arena, exe.text, exe.len);
	if (!p->program)
		return -1;
	if (is_ruby_name(jp_basename(p->program)))
		p->ruby = p->program;
	return 0;
}

int jp_process_read_maps(struct jp_arena *arena, const char *proc, struct jprof_process *p)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jprof_maps *maps = NULL;
	struct jp_reader reader;
	if (read_program(arena, proc, p))
		return -1;
	int rc = jp_proc_read(proc, p->pid, "maps", maps_limit, &text);
	if (rc)
		return note_unreadable(p, rc);
	p->readable = text.len > 0;
	jp_reader_init(&reader, text.text, text.len);
	(void)jp_maps_read(&reader, "maps", &maps, NULL);
	if (!maps)
		return -1;
	int failed = 0;
	for (size_t i = 0; !failed && i < jprof_maps_count(maps); i++)
		failed = note_map(arena, p, jprof_maps_at(maps, i));
	jprof_maps_free(maps);
	if (!p->ruby && !p->readable && is_ruby_name(p->name))
		p->ruby = p->name;
	return failed;
}

int jp_process_read(struct jp_arena *arena, const char *proc, struct jprof_process *p)
{
	if (jp_process_read_basics(arena, proc, p))
		return -1;
	if (p->state != JPROF_PROCESS_ALIVE)
		return 0;
	if (jp_process_read_maps(arena, proc, p))
		return -1;
	uint64_t now = jp_proc_start_ticks(proc, p->pid);
	if (now != p->start_ticks)
		p->state = JPROF_PROCESS_ENDED;
	return now ? 0 : note_unreadable(p, errno);
}
