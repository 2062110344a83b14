/* How an agent announces itself in /proc/PID/maps: docs/internals/agent.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jp_announce {
	int version;
	int signal; /* 0: none */
	const char
	    *socket; /* inside the text; "@NAME": in the abstract namespace, "": none. Ends before " (deleted)" */
	size_t socket_len;
};

/* Whether the path of a mapping is an announcement; of a version below 1 or with a socket that is neither an
 * absolute path nor a name, it is none. */
bool jp_announce_parse(const char *path, struct jp_announce *announce);

/* What keeps an agent from being asked, by the offset at which it maps its own library; false where the offset is one
 * of the library's own segments. `error` is an errno, 0: none. */
bool jp_trouble_parse(uint64_t offset, int *trouble, int *error);

/* In words, and what to do. */
void jp_trouble_text(int trouble, int error, char *text, size_t size);
