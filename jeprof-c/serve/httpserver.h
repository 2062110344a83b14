/* HTTP/1.1 (RFC 9112) for a few clients at once: GET and HEAD, one request a connection, no threads. A client has 10 s
 * for its request and a minute to take the answer; where 16 are served already others wait to be let in. */
#pragma once

#include <signal.h>

#include "serve/httphead.h"
#include "serve/listenat.h"

struct http_answer {
	int status;
	unsigned retry_after; /* seconds; 0: nothing is said of it */
	const char *type;     /* of what is in a file: its media type, static; NULL: the answer is `text` */
	const char *name;     /* of a file that is to be saved: what it is called, static; NULL */
	unsigned age;         /* of a file: seconds since its dump */
	int file;             /* its bytes from 0 on, which the server closes */
	size_t len;
	char text[1024];
};

/* Answers a request; false: not yet. Then it is asked again, with `waited`, by http_server_retry. */
typedef bool http_answer_fn(void *context, const struct http_request *request, bool waited, struct http_answer *answer);

struct http_server;

/* The listener must outlive it. NULL when memory is short. */
struct http_server *http_server_new(const struct listener *listener, http_answer_fn *answer, void *context);

/* Waits until something happens, with the signals of `mask` blocked, and does it. A signal that is let through makes it
 * return. */
void http_server_step(struct http_server *server, const sigset_t *mask);

/* Asks again for all whose answer was not there. */
void http_server_retry(struct http_server *server);

/* Closes all connections; NULL is fine. */
void http_server_free(struct http_server *server);
