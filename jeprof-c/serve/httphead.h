/* The head of an HTTP/1.x request (RFC 9112, RFC 9110), read strictly and without allocating: what is not well formed
 * has no meaning here, but a status and a sentence. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { http_head_most = 8192, http_head_lines = 64, http_host_size = 256 };

enum http_page { HTTP_NO_PAGE, HTTP_HEALTH, HTTP_HEAP, HTTP_ALLOCS, HTTP_METRICS, HTTP_PAGE };

struct http_request {
	bool head; /* HEAD: the answer has no body */
	enum http_page page;
	bool gc;                   /* ?gc=1: garbage is collected first */
	char host[http_host_size]; /* without its port; "": none was given, which HTTP/1.0 allows */
};

/* What is wrong with a request: 0, or a status and one sentence, static. */
struct http_fault {
	int status;
	const char *text;
};

/* Reads data[0..len), what has come so far, of which the first `seen` bytes were read before: *end is the length of the
 * head, 0 while it is not there yet. What can be refused already is. */
struct http_fault http_head_end(const char *data, size_t len, size_t seen, size_t *end);

/* Reads a whole head, of http_head_end's length. */
struct http_fault http_head_parse(const char *data, size_t len, struct http_request *request);
