/* The head of a request: what is taken, and what is refused with which status, however it comes in pieces. */
#include "serve/httphead.h"

#include "harness.h"

/* Reads it in pieces of `piece` bytes, as a server does. */
static struct http_fault read_head(const char *text, size_t len, size_t piece, struct http_request *request)
{
	size_t end = 0;
	*request = (struct http_request){ 0 };
	for (size_t seen = 0; seen < len; seen += piece) {
		size_t came = len - seen < piece ? len : seen + piece;
		struct http_fault fault = http_head_end(text, came, seen, &end);
		if (fault.status)
			return fault;
		if (end)
			return http_head_parse(text, end, request);
	}
	return (struct http_fault){ 0 };
}

static void check_status(const char *text, size_t len, int status)
{
	struct http_request request;
	for (size_t piece = 1; piece <= len; piece += piece < 8 ? 1 : 61) {
		struct http_fault fault = read_head(text, len, piece, &request);
		if (fault.status != status)
			fail_msg("status %d, not %d, in pieces of %zu: %.60s", fault.status, status, piece, text);
		assert_int_equal(!fault.text, !status);
	}
}

#define HOST "Host: localhost\r\n\r\n"

TEST(test_status)
{
	static const struct {
		const char *text;
		int status;
	} heads[] = {
		{ "GET /healthz HTTP/1.1\r\n" HOST, 0 },
		{ "HEAD /healthz HTTP/1.1\r\n" HOST, 0 },
		{ "GET / HTTP/1.1\r\n" HOST, 0 },
		{ "GET /metrics HTTP/1.1\r\n" HOST, 0 },
		{ "GET /healthz HTTP/1.0\r\n\r\n", 0 },
		{ "GET http://localhost/healthz HTTP/1.1\r\n" HOST, 0 },
		{ "GET /healthz HTTP/1.1\r\nContent-Length: 0\r\nX: \t a \r\n" HOST, 0 },
		{ "GET /healthz HTTP/1.1", 0 }, /* not there yet */
		{ "GET /debug/pprof/heap?debug=0&seconds=0&gc=1&other=%41 HTTP/1.1\r\n" HOST, 0 },
		{ "GET /debug/pprof/heap?debug=1 HTTP/1.1\r\n" HOST, 400 },
		{ "GET /debug/pprof/allocs?seconds=30 HTTP/1.1\r\n" HOST, 400 },
		{ "GET /debug/pprof/profile HTTP/1.1\r\n" HOST, 404 },
		{ "GET /debug/pprof/heap/ HTTP/1.1\r\n" HOST, 404 },
		{ "GET /../healthz HTTP/1.1\r\n" HOST, 404 },
		{ "GET // HTTP/1.1\r\n" HOST, 404 },
		{ "GET /metrics/ HTTP/1.1\r\n" HOST, 404 },
		{ "POST /debug/pprof/symbol HTTP/1.1\r\n" HOST, 405 },
		{ "OPTIONS * HTTP/1.1\r\n" HOST, 405 },
		{ "GET healthz HTTP/1.1\r\n" HOST, 400 },
		{ "GET http://localhost HTTP/1.1\r\n" HOST, 400 },
		{ "GET /healthz\r\n\r\n", 400 },
		{ "GET /healthz HTTP/1.1 \r\n" HOST, 400 },
		{ "GET  /healthz HTTP/1.1\r\n" HOST, 400 },
		{ " GET /healthz HTTP/1.1\r\n" HOST, 400 },
		{ "G(T /healthz HTTP/1.1\r\n" HOST, 400 },
		{ "\r\nGET /healthz HTTP/1.1\r\n" HOST, 400 },
		{ "\r\n\r\n", 400 },
		{ "GET /healthz HTTP/2.0\r\n" HOST, 505 },
		{ "GET /healthz XTTP/1.1\r\n" HOST, 400 },
		{ "GET /healthz HTTP/1.1\r\n\r\n", 400 }, /* no Host */
		{ "GET /healthz HTTP/1.1\r\nHost:\r\n\r\n", 400 },
		{ "GET /healthz HTTP/1.1\r\nHost: a\r\n" HOST, 400 },
		{ "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n", 400 },
		{ "GET /healthz HTTP/1.1\r\nX: a\r\n folded\r\n" HOST, 400 },
		{ "GET /healthz HTTP/1.1\r\nno colon\r\n" HOST, 400 },
		{ "GET /healthz HTTP/1.1\r\n: value\r\n" HOST, 400 },
		{ "GET /healthz HTTP/1.1\r\nContent-Length: 5\r\n" HOST, 413 },
		{ "GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n" HOST, 413 },
		{ "GET /healthz HTTP/1.1\n", 400 },
		{ "GET /healthz HTTP/1.1\rX", 400 },
		{ "GET /heal\tthz HTTP/1.1\r\n" HOST, 404 },
		{ "GET /heal\x7fz", 400 },
		{ "\x16\x03\x01", 400 }, /* TLS */
	};
	for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
		check_status(heads[i].text, strlen(heads[i].text), heads[i].status);
	check_status("GET /healthz\0 HTTP/1.1", 22, 400);
}

TEST(test_limits)
{
	char text[2 * http_head_most];
	struct http_request request;
	memset(text, 'a', sizeof text);
	memcpy(text, "GET /", 5);
	assert_int_equal(read_head(text, sizeof text, 512, &request).status, 431);
	assert_int_equal(read_head(text, http_head_most - 1, 512, &request).status, 0);
	for (size_t lines = http_head_lines; lines <= http_head_lines + 1; lines++) {
		size_t len = (size_t)sprintf(text, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n");
		for (size_t i = 1; i < lines; i++)
			len += (size_t)sprintf(text + len, "X-%zu: y\r\n", i);
		len += (size_t)sprintf(text + len, "\r\n");
		assert_int_equal(read_head(text, len, len, &request).status, lines > http_head_lines ? 431 : 0);
	}
}

TEST(test_request)
{
	static const char text[] =
	    "HEAD /debug/pprof/allocs?gc=1 HTTP/1.1\r\nUser-Agent: x\r\nhOST: [::1]:6060\r\n\r\n";
	struct http_request request;
	assert_int_equal(read_head(text, sizeof text - 1, 7, &request).status, 0);
	assert_true(request.head);
	assert_int_equal(request.page, HTTP_ALLOCS);
	assert_true(request.gc);
	assert_string_equal(request.host, "[::1]");
	static const char plain[] = "GET /debug/pprof/heap?gc=0 HTTP/1.1\r\nHost: a.b:80\r\n\r\nmore";
	assert_int_equal(read_head(plain, sizeof plain - 1, sizeof plain - 1, &request).status, 0);
	assert_false(request.head);
	assert_int_equal(request.page, HTTP_HEAP);
	assert_false(request.gc);
	assert_string_equal(request.host, "a.b");
}
