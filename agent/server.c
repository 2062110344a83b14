#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "announce.h"
#include "dump.h"
#include "errno_text.h"
#include "handle.h"
#include "place.h"
#include "request.h"
#include "self.h"
#include "textbuf.h"

enum { LINE_MAX_BYTES = 4096, IDLE_MS = 5000, REPLY_MS = 5000, DEAF_MS = 500, OVERFLOW_UID = 65534 };
enum { FDS_MAX = 4, BACKLOG = 32, REFUSALS = 48, REFUSE_MS = 50 };

_Static_assert(SERVER_POLLS == HANDLE_CLIENTS + 1, "one for each client, and the listener");

static struct client {
	uint64_t heard; /* when it last sent something */
	size_t len;
	char line[LINE_MAX_BYTES];
} clients[HANDLE_CLIENTS];

static char socket_path[PATH_MAX + 64]; /* "" or "@...": no file */
static uint64_t deaf_until;             /* nobody can be taken, for want of descriptors or memory; or is to be */
static unsigned refused;                /* of those that take_clients() took */
static int listen_error;                /* why the last socket could not be made */

static void random_hex(char *hex, size_t bytes)
{
	unsigned char raw[16] = { 0 };
	if (getrandom(raw, bytes, GRND_NONBLOCK) != (ssize_t)bytes) {
		uint64_t clock = self_clock();
		memcpy(raw, &clock, sizeof clock);
	}
	for (size_t i = 0; i < bytes; i++)
		sprintf(hex + 2 * i, "%02x", raw[i]);
}

static int listen_at(const struct sockaddr_un *address, size_t len)
{
	handle_lock();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = fd < 0 ? errno : 0;
	handle_keep(HANDLE_LISTEN, fd);
	handle_unlock();
	if (!error && (bind(fd, (const void *)address, (socklen_t)len) != 0 || listen(fd, BACKLOG) != 0))
		error = errno;
	if (error)
		handle_close(HANDLE_LISTEN);
	listen_error = error;
	return error;
}

int server_error(void)
{
	return listen_error;
}

/* Others cannot even connect; but root may become another user, whose own must still be able to. By a descriptor: in a
 * directory that is anybody's the name may be that of another file by now. */
static void set_socket_mode(const char *path)
{
	char held[40];
	struct stat st;
	int fd = handle_open(HANDLE_BRIEF, path, O_PATH | O_NOFOLLOW);
	snprintf(held, sizeof held, HANDLE_PATH, fd);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		chmod(held, st.st_uid == 0 ? 0666 : 0600);
	handle_close(HANDLE_BRIEF);
}

/* Whether a socket there can still be reached when root has become another user, whoever that is. */
static bool stays_in_reach(int dir)
{
	struct stat st;
	return geteuid() != 0 || (fstat(dir, &st) == 0 && st.st_mode & S_IXOTH);
}

/* Through the directory's descriptor, for a path may be longer than an address. */
static bool open_in(const char *dir, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = handle_open(HANDLE_DIR, dir, O_PATH | O_DIRECTORY);
	if (fd < 0) {
		dump_failed("no control socket in %s: %s", dir, errno_text(errno));
		return false;
	}
	if (!stays_in_reach(fd)) {
		handle_close(HANDLE_DIR);
		return false;
	}
	snprintf(address.sun_path, sizeof address.sun_path, HANDLE_PATH "/%s", fd, name);
	int error = listen_at(&address, sizeof address);
	if (error)
		dump_failed("no control socket in %s: %s", dir, errno_text(error));
	else
		set_socket_mode(address.sun_path);
	handle_close(HANDLE_DIR);
	return !error;
}

static bool open_abstract(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = (size_t)snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s", name);
	return listen_at(&address, offsetof(struct sockaddr_un, sun_path) + 1 + len) == 0;
}

static bool fits(const struct dump_place *place)
{
	return strlen(place->dir) + 64 < ANNOUNCE_SOCKET_MAX;
}

const char *server_open(void)
{
	static struct dump_place place;
	char hex[17], name[64];
	server_unlink();
	handle_close(HANDLE_LISTEN);
	random_hex(hex, 8);
	snprintf(name, sizeof name, ".jprof-agent.%d.%s.sock", (int)getpid(), hex);
	int error = place_find(&place);
	if (error)
		dump_failed("no control socket in the directory of the dumps: %s", errno_text(error));
	else
		place_sweep(&place);
	if (!error && fits(&place) && open_in(place.dir, name))
		snprintf(socket_path, sizeof socket_path, "%s/%s", place.dir[1] ? place.dir : "", name);
	else if (open_abstract(name + 1))
		snprintf(socket_path, sizeof socket_path, "@%s", name + 1);
	return socket_path;
}

bool server_has_file(void)
{
	return *socket_path == '/';
}

void server_unlink(void)
{
	if (*socket_path == '/')
		unlink(socket_path);
	*socket_path = 0;
}

void server_forked(void)
{
	*socket_path = 0;
}

static void drop_client(int i)
{
	handle_close(HANDLE_CLIENT + i);
}

/* With `count` descriptors, if any, that go with the first byte. */
static ssize_t send_some(int fd, char *data, size_t len, const int *fds, size_t count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = { 0 };
	struct iovec part = { data, len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	if (count) {
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(count * sizeof(int));
		memcpy(CMSG_DATA(rights), fds, count * sizeof(int));
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Those that are there, in their order. */
static void take_handed(int fds[FDS_MAX])
{
	static const int slots[FDS_MAX] = { HANDLE_DUMP, HANDLE_SIDECAR, HANDLE_TABLE, HANDLE_GRAPH_READ };
	size_t count = 0;
	for (size_t i = 0; i < FDS_MAX; i++) {
		int fd = handle_fd(slots[i]);
		if (fd >= 0)
			fds[count++] = fd;
	}
}

/* All of it, with so many descriptors of the dump, to a client that reads it in time. */
static bool send_all(int fd, const struct textbuf *text, unsigned with)
{
	uint64_t end = self_clock() + REPLY_MS;
	int fds[FDS_MAX] = { -1, -1, -1, -1 };
	take_handed(fds);
	for (size_t done = 0; done < text->len;) {
		ssize_t n = send_some(fd, text->data + done, text->len - done, fds, done ? 0 : with);
		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		struct pollfd writable = { .fd = fd, .events = POLLOUT };
		uint64_t now = self_clock();
		if ((errno != EAGAIN && errno != EINTR) || now >= end || poll(&writable, 1, (int)(end - now)) == 0)
			return false;
	}
	return true;
}

static bool answer_line(int i, char *line)
{
	struct textbuf reply = { 0 };
	unsigned with = request_answer(line, &reply);
	int fd = handle_fd(HANDLE_CLIENT + i);
	bool sent = !reply.failed && fd >= 0 && send_all(fd, &reply, with);
	if (with)
		dump_close();
	textbuf_free(&reply);
	return sent;
}

/* Answers the whole lines; what is left stays. */
static bool answer_lines(int i)
{
	struct client *client = &clients[i];
	char *start = client->line, *end = client->line + client->len, *newline;
	while ((newline = memchr(start, '\n', (size_t)(end - start)))) {
		*newline = 0;
		if (newline > start && newline[-1] == '\r')
			newline[-1] = 0;
		if (!answer_line(i, start))
			return false;
		start = newline + 1;
	}
	client->len = (size_t)(end - start);
	memmove(client->line, start, client->len);
	if (client->len < sizeof client->line)
		return true;
	char too_long[] = "";
	answer_line(i, too_long);
	return false;
}

static void hear(int i)
{
	struct client *client = &clients[i];
	int fd = handle_fd(HANDLE_CLIENT + i);
	ssize_t n = fd < 0 ? 0 : recv(fd, client->line + client->len, sizeof client->line - client->len, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	client->heard = self_clock();
	client->len += n > 0 ? (size_t)n : 0;
	if (n <= 0 || !answer_lines(i))
		drop_client(i);
}

/* In a user namespace all who have no number there get this one. */
static bool is_anybody(uid_t uid)
{
	char map[64];
	unsigned inside, outside, count;
	if (uid != OVERFLOW_UID || self_read_file("/proc/self/uid_map", map, sizeof map) <= 0)
		return false;
	return sscanf(map, "%u %u %u", &inside, &outside, &count) != 3 || count != UINT32_MAX;
}

static bool may_ask(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof peer;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0)
		return false;
	return peer.uid == 0 || (peer.uid == geteuid() && !is_anybody(peer.uid));
}

/* A free place, or that of the client which has been silent longest. */
static int first_place(void)
{
	int oldest = 0;
	for (int i = 0; i < HANDLE_CLIENTS; i++) {
		if (handle_fd(HANDLE_CLIENT + i) < 0)
			return i;
		if (clients[i].heard < clients[oldest].heard)
			oldest = i;
	}
	return oldest;
}

/* In how many ms the next client can be taken. */
static int room_in(void)
{
	int i = first_place();
	uint64_t now = self_clock(), silent = now - clients[i].heard;
	if (now < deaf_until)
		return (int)(deaf_until - now);
	return handle_fd(HANDLE_CLIENT + i) < 0 || silent >= IDLE_MS ? 0 : (int)(IDLE_MS - silent);
}

int server_timeout(void)
{
	int ms = room_in();
	return ms ? ms : -1;
}

/* Takes one that is allowed to ask; only for such a one another is dropped. False where nobody is there any more. */
static bool take_one(int listener)
{
	handle_lock();
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), error = errno, i;
	bool kept = handle_keep(HANDLE_PEER, fd);
	handle_unlock();
	if (fd < 0 && error != EAGAIN && error != EINTR && error != ECONNABORTED)
		deaf_until = self_clock() + DEAF_MS;
	if (!kept)
		return false;
	if (!may_ask(fd)) {
		refused++;
		handle_close(HANDLE_PEER);
		return true;
	}
	drop_client(i = first_place());
	handle_move(HANDLE_PEER, HANDLE_CLIENT + i);
	clients[i].len = 0;
	clients[i].heard = self_clock();
	return true;
}

/* Those that are refused are taken together, and then nobody for a while: whatever they do, they cost no more than
 * REFUSALS of them each REFUSE_MS. Whoever may ask waits in the kernel's queue for so long. */
static void take_clients(void)
{
	int listener = handle_fd(HANDLE_LISTEN);
	refused = 0;
	while (listener >= 0 && refused < REFUSALS && room_in() == 0 && take_one(listener))
		;
	if (refused)
		deaf_until = self_clock() + REFUSE_MS;
}

/* While there is no room the listener is not waited for. */
void server_polls(struct pollfd *polls)
{
	polls[0] = (struct pollfd){ .fd = room_in() == 0 ? handle_fd(HANDLE_LISTEN) : -1, .events = POLLIN };
	for (int i = 0; i < HANDLE_CLIENTS; i++)
		polls[1 + i] = (struct pollfd){ .fd = handle_fd(HANDLE_CLIENT + i), .events = POLLIN };
}

void server_serve(const struct pollfd *polls)
{
	for (int i = 0; i < HANDLE_CLIENTS; i++)
		if (polls[1 + i].fd >= 0 && polls[1 + i].revents)
			hear(i);
	if (polls[0].fd >= 0 && polls[0].revents)
		take_clients();
}
