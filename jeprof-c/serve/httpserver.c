#include "serve/httpserver.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum { most_clients = 16, read_ms = 10000, write_ms = 60000, drain_ms = 1000, accept_pause_ms = 1000 };

enum http_stage { HTTP_FREE, HTTP_READS, HTTP_WAITS, HTTP_WRITES, HTTP_DRAINS };

struct http_client {
	enum http_stage stage;
	int fd;
	int64_t deadline; /* of the stage; INT64_MAX: none */
	struct http_request request;
	char in[http_head_most];
	size_t in_len;
	char out[2048]; /* the head of the answer, and a text behind it */
	size_t out_len, out_sent;
	int file; /* what comes behind that; -1: nothing */
	off_t file_sent;
	size_t file_len;
};

struct http_server {
	const struct listener *listener;
	http_answer_fn *answer;
	void *context;
	int64_t accepts_from; /* by jp_clock_ms: not before, because it could not */
	struct http_client clients[most_clients];
};

/* ---- stages ------------------------------------------------------------------------------------------------------ */

static void enter_stage(struct http_client *c, enum http_stage stage, int64_t milliseconds)
{
	c->stage = stage;
	c->deadline = milliseconds ? jp_clock_ms() + milliseconds : INT64_MAX;
}

static void end_client(struct http_client *c)
{
	close(c->fd);
	if (c->file >= 0)
		close(c->file);
	c->stage = HTTP_FREE;
}

/* What the client still sends is read for a moment: it would be told of a reset, and may then not read the answer. */
static void drain_client(struct http_client *c)
{
	char nothing[4096];
	ssize_t n;
	while ((n = recv(c->fd, nothing, sizeof nothing, 0)) > 0 && jp_clock_ms() < c->deadline)
		continue;
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_client(c);
}

/* ---- the answer --------------------------------------------------------------------------------------------- */

static const char *reason_phrase(int status)
{
	switch (status) {
	case 200: return "OK";
	case 400: return "Bad Request";
	case 403: return "Forbidden";
	case 404: return "Not Found";
	case 405: return "Method Not Allowed";
	case 408: return "Request Timeout";
	case 413: return "Content Too Large";
	case 429: return "Too Many Requests";
	case 431: return "Request Header Fields Too Large";
	case 505: return "HTTP Version Not Supported";
	default: return "Service Unavailable";
	}
}

static void put_head(struct http_client *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put_head(struct http_client *c, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int n = vsnprintf(c->out + c->out_len, sizeof c->out - c->out_len, fmt, args);
	va_end(args);
	c->out_len += n > 0 && (size_t)n < sizeof c->out - c->out_len ? (size_t)n : 0;
}

static void put_date(struct http_client *c)
{
	char date[64];
	time_t now = time(NULL);
	struct tm tm;
	if (gmtime_r(&now, &tm) && strftime(date, sizeof date, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		put_head(c, "Date: %s\r\n", date);
}

static void put_content(struct http_client *c, const struct http_answer *a)
{
	if (a->name)
		put_head(c, "Content-Disposition: attachment; filename=\"%s\"\r\n", a->name);
	if (a->type)
		put_head(c, "Content-Type: %s\r\nContent-Length: %zu\r\nAge: %u\r\n", a->type, a->len, a->age);
	else /* Go's pprof shows the text of such an answer */
		put_head(c,
		         "Content-Type: text/plain; charset=utf-8\r\nX-Go-Pprof: 1\r\n"
		         "Content-Length: %zu\r\n",
		         strlen(a->text) + 1);
	if (a->status == 405)
		put_head(c, "Allow: GET, HEAD\r\n");
	if (a->retry_after)
		put_head(c, "Retry-After: %u\r\n", a->retry_after);
}

static void write_client(struct http_client *c)
{
	while (c->out_sent < c->out_len) {
		ssize_t n = send(c->fd, c->out + c->out_sent, c->out_len - c->out_sent, MSG_NOSIGNAL);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			end_client(c);
			return;
		}
		c->out_sent += (size_t)n;
	}
	while (c->file >= 0 && (size_t)c->file_sent < c->file_len) {
		ssize_t n = sendfile(c->fd, c->file, &c->file_sent, c->file_len - (size_t)c->file_sent);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			end_client(c);
			return;
		}
	}
	shutdown(c->fd, SHUT_WR);
	enter_stage(c, HTTP_DRAINS, drain_ms);
	drain_client(c);
}

static void begin_answer(struct http_client *c, const struct http_answer *a)
{
	put_head(c, "HTTP/1.1 %d %s\r\n", a->status, reason_phrase(a->status));
	put_date(c);
	put_content(c, a);
	put_head(c, "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n");
	if (!a->type && !c->request.head)
		put_head(c, "%s\n", a->text);
	if (a->type && c->request.head) {
		close(a->file);
	} else if (a->type) {
		c->file = a->file;
		c->file_len = a->len;
	}
	enter_stage(c, HTTP_WRITES, write_ms);
	write_client(c);
}

static void refuse_client(struct http_client *c, int status, const char *text)
{
	struct http_answer a = { .status = status };
	snprintf(a.text, sizeof a.text, "%s", text);
	begin_answer(c, &a);
}

/* ---- the request -------------------------------------------------------------------------------------------- */

/* A web page may have a browser ask this machine, under a name of its own that leads here: such a page could read the
 * answer. */
static bool is_local_name(const char *host)
{
	bool number = !host[strspn(host, "0123456789.")];
	return !*host || !strcasecmp(host, "localhost") || (number && !strncmp(host, "127.", 4)) ||
	       !strcmp(host, "[::1]");
}

static void ask_answer(struct http_server *s, struct http_client *c, bool waited)
{
	struct http_answer a = { .status = 200 };
	if (s->listener->loopback && !is_local_name(c->request.host))
		refuse_client(c, 403,
		              "ask for 127.0.0.1, [::1] or localhost, or have jprof serve listen at another address");
	else if (s->answer(s->context, &c->request, waited, &a))
		begin_answer(c, &a);
	else
		enter_stage(c, HTTP_WAITS, 0);
}

static void read_client(struct http_server *s, struct http_client *c)
{
	size_t seen = c->in_len, end;
	ssize_t n = recv(c->fd, c->in + seen, sizeof c->in - seen, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		end_client(c);
		return;
	}
	c->in_len += (size_t)n;
	struct http_fault fault = http_head_end(c->in, c->in_len, seen, &end);
	if (!fault.status && end)
		fault = http_head_parse(c->in, end, &c->request);
	if (fault.status)
		refuse_client(c, fault.status, fault.text);
	else if (end)
		ask_answer(s, c, false);
}

/* ---- all clients -------------------------------------------------------------------------------------------- */

static struct http_client *free_client(struct http_server *s)
{
	for (size_t i = 0; i < most_clients; i++)
		if (s->clients[i].stage == HTTP_FREE)
			return &s->clients[i];
	return NULL;
}

static void accept_client(struct http_server *s)
{
	struct http_client *c = free_client(s);
	int fd = accept4(s->listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
			s->accepts_from = jp_clock_ms() + accept_pause_ms;
		return;
	}
	c->fd = fd;
	c->file = -1;
	c->in_len = c->out_len = c->out_sent = c->file_len = 0;
	c->file_sent = 0;
	c->request = (struct http_request){ 0 };
	enter_stage(c, HTTP_READS, read_ms);
}

static short events_of(const struct http_client *c)
{
	return c->stage == HTTP_WRITES ? POLLOUT : c->stage == HTTP_READS || c->stage == HTTP_DRAINS ? POLLIN : 0;
}

/* What it waits for: the clients, and the listener behind them. Returns when the next thing is due. */
static int64_t plan_wait(struct http_server *s, struct pollfd fds[static most_clients + 1])
{
	int64_t due = INT64_MAX, now = jp_clock_ms();
	for (size_t i = 0; i < most_clients; i++) {
		const struct http_client *c = &s->clients[i];
		fds[i] = (struct pollfd){ .fd = c->stage == HTTP_FREE ? -1 : c->fd, .events = events_of(c) };
		if (c->stage != HTTP_FREE && c->deadline < due)
			due = c->deadline;
	}
	bool pauses = now < s->accepts_from;
	fds[most_clients] = (struct pollfd){ .fd = free_client(s) && !pauses ? s->listener->fd : -1, .events = POLLIN };
	return pauses && s->accepts_from < due ? s->accepts_from : due;
}

static void serve_client(struct http_server *s, struct http_client *c, short events)
{
	if (events && c->stage == HTTP_READS)
		read_client(s, c);
	else if (events && c->stage == HTTP_WRITES)
		write_client(c);
	else if (events && c->stage == HTTP_DRAINS)
		drain_client(c);
	else if (events)
		end_client(c); /* it has gone */
	if (c->stage == HTTP_READS && jp_clock_ms() >= c->deadline)
		refuse_client(c, 408, "a request takes 10 seconds at most");
	else if (c->stage != HTTP_FREE && jp_clock_ms() >= c->deadline)
		end_client(c);
}

void http_server_step(struct http_server *s, const sigset_t *mask)
{
	struct pollfd fds[most_clients + 1];
	int64_t due = plan_wait(s, fds), left = due - jp_clock_ms();
	left = left < 0 ? 0 : left;
	struct timespec wait = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };
	if (ppoll(fds, most_clients + 1, due == INT64_MAX ? NULL : &wait, mask) < 0)
		return;
	for (size_t i = 0; i < most_clients; i++)
		if (fds[i].fd >= 0)
			serve_client(s, &s->clients[i], fds[i].revents);
	if (fds[most_clients].revents)
		accept_client(s);
}

void http_server_retry(struct http_server *s)
{
	for (size_t i = 0; i < most_clients; i++)
		if (s->clients[i].stage == HTTP_WAITS)
			ask_answer(s, &s->clients[i], true);
}

struct http_server *http_server_new(const struct listener *listener, http_answer_fn *answer, void *context)
{
	struct http_server *s = calloc(1, sizeof *s);
	if (s) {
		s->listener = listener;
		s->answer = answer;
		s->context = context;
	}
	return s;
}

void http_server_free(struct http_server *s)
{
	for (size_t i = 0; s && i < most_clients; i++)
		if (s->clients[i].stage != HTTP_FREE)
			end_client(&s->clients[i]);
	free(s);
}
