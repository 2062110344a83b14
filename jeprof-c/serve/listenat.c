#include "serve/listenat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/say.h"

enum { listen_queue = 64 };

static bool listen_failed(struct listener *l, const char *where, const char *why)
{
	say("--listen=%s: %s", where, why);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	return false;
}

/* ---- an address ------------------------------------------------------------------------------------------------ */

union listen_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static bool parse_port(const char *text, in_port_t *port)
{
	char *end;
	errno = 0;
	unsigned long n = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 65536;
	*port = htons((in_port_t)n);
	return n < 65536 && !errno && !*end;
}

/* HOST:PORT, [HOST]:PORT; numbers alone, so that nobody else decides where it listens. Its length, or 0. */
static socklen_t parse_address(const char *where, union listen_address *address)
{
	char host[64];
	const char *colon = strrchr(where, ':');
	in_port_t port;
	if (!colon || !parse_port(colon + 1, &port) || (size_t)(colon - where) >= sizeof host)
		return 0;
	memcpy(host, where, (size_t)(colon - where));
	host[colon - where] = '\0';
	size_t len = strlen(host);
	*address = (union listen_address){ 0 };
	if (len > 2 && *host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		address->six.sin6_family = AF_INET6;
		address->six.sin6_port = port;
		return inet_pton(AF_INET6, host + 1, &address->six.sin6_addr) == 1 ? sizeof address->six : 0;
	}
	address->four.sin_family = AF_INET;
	address->four.sin_port = port;
	const char *number = strcmp(host, "localhost") != 0 ? host : "127.0.0.1";
	return inet_pton(AF_INET, number, &address->four.sin_addr) == 1 ? sizeof address->four : 0;
}

static bool is_loopback(const union listen_address *a)
{
	if (a->any.sa_family == AF_INET)
		return ntohl(a->four.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&a->six.sin6_addr);
}

static void name_address(struct listener *l)
{
	union listen_address a;
	socklen_t len = sizeof a;
	char host[INET6_ADDRSTRLEN];
	if (getsockname(l->fd, &a.any, &len))
		return;
	bool six = a.any.sa_family == AF_INET6;
	inet_ntop(a.any.sa_family, six ? (void *)&a.six.sin6_addr : (void *)&a.four.sin_addr, host, sizeof host);
	snprintf(l->url, sizeof l->url, "http://%s%s%s:%u", six ? "[" : "", host, six ? "]" : "",
	         (unsigned)ntohs(six ? a.six.sin6_port : a.four.sin_port));
}

static bool listen_at_address(struct listener *l, const char *where)
{
	union listen_address address;
	const int yes = 1;
	socklen_t len = parse_address(where, &address);
	if (!len)
		return listen_failed(l, where, "give ADDRESS:PORT such as 127.0.0.1:6060, or unix:PATH");
	l->fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
	    bind(l->fd, &address.any, len) || listen(l->fd, listen_queue))
		return listen_failed(l, where, strerror(errno));
	l->loopback = is_loopback(&address);
	name_address(l);
	return true;
}

/* ---- a unix socket ------------------------------------------------------------------------------------------- */

/* Why others could put something in its place; NULL: they cannot. */
static const char *doubt_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[sizeof((struct sockaddr_un *)NULL)->sun_path] = ".";
	struct stat st;
	if (slash)
		snprintf(dir, sizeof dir, "%.*s", slash == path ? 1 : (int)(slash - path), path);
	if (stat(dir, &st))
		return strerror(errno);
	if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH))
		return "others may write in its directory: give one that only you can write";
	return NULL;
}

static int unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static bool answers_nobody(const struct sockaddr_un *address)
{
	int fd = unix_socket();
	bool nobody =
	    fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) && errno == ECONNREFUSED;
	close(fd);
	return nobody;
}

/* Why what stands there must stay; NULL: nothing does, or what did was left behind by this user's server. */
static const char *room_for_socket(const struct sockaddr_un *address)
{
	struct stat st;
	if (lstat(address->sun_path, &st))
		return errno == ENOENT ? NULL : strerror(errno);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return "something else is there already: give another path";
	if (!answers_nobody(address))
		return "somebody listens there already";
	return unlink(address->sun_path) ? strerror(errno) : NULL;
}

static bool listen_at_path(struct listener *l, const char *where, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	if (!*path || strlen(path) >= sizeof address.sun_path)
		return listen_failed(l, where, "give a path of 1 to 107 bytes");
	strcpy(address.sun_path, path);
	const char *doubt = doubt_directory(path);
	doubt = doubt ? doubt : room_for_socket(&address);
	if (doubt)
		return listen_failed(l, where, doubt);
	l->fd = unix_socket();
	mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
	bool bound = l->fd >= 0 && !bind(l->fd, (struct sockaddr *)&address, sizeof address);
	umask(before);
	if (!bound || listen(l->fd, listen_queue) || lstat(path, &st))
		return listen_failed(l, where, strerror(errno));
	l->path = path;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	snprintf(l->url, sizeof l->url, "%s", where);
	return true;
}

/* ---- either ---------------------------------------------------------------------------------------------------- */

bool listener_begin(struct listener *l, const char *where)
{
	static const char prefix[] = "unix:";
	*l = (struct listener){ .fd = -1 };
	if (strncmp(where, prefix, sizeof prefix - 1) != 0)
		return listen_at_address(l, where);
	return listen_at_path(l, where, where + sizeof prefix - 1);
}

void listener_end(struct listener *l)
{
	struct stat st;
	if (l->path && !lstat(l->path, &st) && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct listener){ .fd = -1 };
}
