#include "serve/httphead.h"

#include <string.h>
#include <strings.h>

static const struct http_fault no_fault = { 0 };

static struct http_fault bad_request(const char *text)
{
	return (struct http_fault){ 400, text };
}

/* ---- where it ends ------------------------------------------------------------------------------------------ */

struct http_fault http_head_end(const char *data, size_t len, size_t seen, size_t *end)
{
	*end = 0;
	for (size_t i = seen; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		bool after_return = i && data[i - 1] == '\r';
		if (after_return != (c == '\n'))
			return bad_request("a line of a request ends with CR and LF together");
		if ((c < ' ' && c != '\t' && c != '\r' && c != '\n') || c == 0x7f)
			return bad_request("the head of a request has no control characters");
		if (i >= 3 && !memcmp(data + i - 3, "\r\n\r\n", 4)) {
			*end = i + 1;
			return no_fault;
		}
		if (i + 1 >= http_head_most)
			return (struct http_fault){ 431, "the head of a request has 8192 bytes at most" };
	}
	return no_fault;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

/* A part of the head. */
struct http_span {
	const char *at;
	size_t len;
};

static bool is_http_word(struct http_span s, const char *word)
{
	return s.len == strlen(word) && !memcmp(s.at, word, s.len);
}

static bool is_field_name(struct http_span s, const char *name)
{
	return s.len == strlen(name) && !strncasecmp(s.at, name, s.len);
}

static bool is_token(struct http_span s)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	for (size_t i = 0; i < s.len; i++) {
		char c = s.at[i], low = (char)(c | 0x20);
		if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && (!c || !strchr(others, c)))
			return false;
	}
	return s.len;
}

/* Takes what stands before the first `stop`, and that, off the front of *rest; all where there is none. */
static struct http_span take_until(struct http_span *rest, char stop)
{
	const char *at = memchr(rest->at, stop, rest->len);
	struct http_span first = { rest->at, at ? (size_t)(at - rest->at) : rest->len };
	size_t taken = first.len + (at != NULL);
	*rest = (struct http_span){ rest->at + taken, rest->len - taken };
	return first;
}

/* Up to the next CR and LF, which http_head_end has found in pairs. */
static struct http_span take_head_line(struct http_span *rest)
{
	struct http_span line = take_until(rest, '\n');
	line.len -= line.len > 0;
	return line;
}

static struct http_span without_blanks(struct http_span s)
{
	while (s.len && (*s.at == ' ' || *s.at == '\t'))
		s = (struct http_span){ s.at + 1, s.len - 1 };
	while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* ---- the request line ----------------------------------------------------------------------------------------- */

static enum http_page http_page_of(struct http_span path)
{
	static const struct {
		const char *path;
		enum http_page page;
	} pages[] = {
		{ "/healthz", HTTP_HEALTH },
		{ "/debug/pprof/heap", HTTP_HEAP },
		{ "/debug/pprof/allocs", HTTP_ALLOCS },
		{ "/metrics", HTTP_METRICS },
		{ "/", HTTP_PAGE },
	};
	for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
		if (is_http_word(path, pages[i].path))
			return pages[i].page;
	return HTTP_NO_PAGE;
}

static bool is_nothing(struct http_span value)
{
	return !value.len || is_http_word(value, "0");
}

/* The parameters that Go's own handlers have; others are for other servers. */
static struct http_fault take_parameters(struct http_span query, struct http_request *request)
{
	while (query.len) {
		struct http_span value = take_until(&query, '&'), name = take_until(&value, '=');
		if (is_http_word(name, "gc"))
			request->gc = !is_nothing(value);
		else if (is_http_word(name, "debug") && !is_nothing(value))
			return bad_request("debug=N asks for Go's text, which this server does not have: leave it out");
		else if (is_http_word(name, "seconds") && !is_nothing(value))
			return bad_request("seconds=N asks for a difference, which this server does not make: leave it "
			                   "out, and compare two profiles");
	}
	return no_fault;
}

/* "/PATH?QUERY", or the same behind http://HOST, as proxies send it. */
static struct http_fault take_target(struct http_span target, struct http_request *request)
{
	static const char scheme[] = "http://";
	size_t begin = sizeof scheme - 1;
	if (target.len > begin && !strncasecmp(target.at, scheme, begin)) {
		const char *path = memchr(target.at + begin, '/', target.len - begin);
		if (path)
			target = (struct http_span){ path, target.len - (size_t)(path - target.at) };
	}
	if (!target.len || *target.at != '/')
		return bad_request("a request begins with GET /PATH HTTP/1.1");
	struct http_span path = take_until(&target, '?');
	request->page = http_page_of(path);
	if (!request->page)
		return (struct http_fault){
			404, "there are /debug/pprof/heap, /debug/pprof/allocs, /metrics, / and /healthz"
		};
	return take_parameters(target, request);
}

static struct http_fault take_request_line(struct http_span line, struct http_request *request, bool *newer)
{
	struct http_span method = take_until(&line, ' '), target = take_until(&line, ' ');
	if (!is_token(method) || line.len != sizeof "HTTP/1.1" - 1 || strncmp(line.at, "HTTP/", 5) != 0 ||
	    memchr(line.at, ' ', line.len))
		return bad_request("a request begins with GET /PATH HTTP/1.1");
	*newer = is_http_word(line, "HTTP/1.1");
	if (!*newer && !is_http_word(line, "HTTP/1.0"))
		return (struct http_fault){ 505, "HTTP/1.1 and HTTP/1.0 are spoken here" };
	request->head = is_http_word(method, "HEAD");
	if (!request->head && !is_http_word(method, "GET"))
		return (struct http_fault){ 405, "GET and HEAD are all that is answered here" };
	return take_target(target, request);
}

/* ---- its fields ------------------------------------------------------------------------------------------------- */

static struct http_fault take_host(struct http_span value, struct http_request *request)
{
	if (*request->host || !value.len || value.len >= sizeof request->host)
		return bad_request("a request has one Host");
	const char *end = *value.at == '[' ? memchr(value.at, ']', value.len) : NULL;
	struct http_span rest = value, name = end ? (struct http_span){ value.at, (size_t)(end + 1 - value.at) }
	                                          : take_until(&rest, ':');
	if (!name.len)
		return bad_request("a request has one Host");
	memcpy(request->host, name.at, name.len);
	request->host[name.len] = '\0';
	return no_fault;
}

static struct http_fault take_header_field(struct http_span line, struct http_request *request)
{
	bool named = memchr(line.at, ':', line.len);
	struct http_span name = take_until(&line, ':'), value = without_blanks(line);
	if (!named || !is_token(name))
		return bad_request("a field of a request is NAME: VALUE, on one line");
	if (is_field_name(name, "host"))
		return take_host(value, request);
	if (is_field_name(name, "transfer-encoding") ||
	    (is_field_name(name, "content-length") && !is_http_word(value, "0")))
		return (struct http_fault){ 413, "a request has no body here" };
	return no_fault;
}

struct http_fault http_head_parse(const char *data, size_t len, struct http_request *request)
{
	struct http_span rest = { data, len };
	bool newer = false;
	*request = (struct http_request){ 0 };
	struct http_fault fault = take_request_line(take_head_line(&rest), request, &newer);
	for (size_t lines = 0; !fault.status && rest.len; lines++) {
		struct http_span line = take_head_line(&rest);
		if (!line.len)
			break;
		if (lines == http_head_lines)
			return (struct http_fault){ 431, "the head of a request has 64 fields at most" };
		fault = take_header_field(line, request);
	}
	if (!fault.status && newer && !*request->host)
		return bad_request("a request has one Host");
	return fault;
}
