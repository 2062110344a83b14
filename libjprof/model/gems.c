#include "model/gems.h"

#include <ctype.h>
#include <string.h>

struct jp_span jp_gem_below(const char *path, size_t first_part)
{
	static const struct {
		const char *begin, *gem;
	} others[] = { { "google/protobuf", "google-protobuf" } };
	for (size_t i = 0; i < jp_count(others); i++) {
		size_t len = strlen(others[i].begin);
		if (!strncmp(path, others[i].begin, len) && strchr("/._", path[len]))
			return (struct jp_span){ others[i].gem, strlen(others[i].gem) };
	}
	return (struct jp_span){ path, first_part };
}

struct jp_span jp_vendored_gem(const char *path)
{
	static const char folder[] = "/vendor_ruby/";
	const char *s = strstr(path, folder);
	if (!s)
		return (struct jp_span){ 0 };
	s += strlen(folder);
	if (isdigit((unsigned char)*s) && strchr(s, '/'))
		s = strchr(s, '/') + 1;
	size_t len = strcspn(s, "/");
	const char *ending = s[len] ? NULL : strchr(s, '.');
	return jp_gem_below(s, ending ? (size_t)(ending - s) : len);
}

const char *jp_gem_version(const struct jp_intern *gems, struct jp_span name)
{
	const char *found = NULL;
	for (uint32_t i = 0; gems && i < gems->count; i++) {
		const char *text = jp_intern_get(gems, i);
		if (strncmp(text, name.ptr, name.len) != 0 || text[name.len] != ' ')
			continue;
		if (found)
			return NULL;
		found = text + name.len + 1;
	}
	return found;
}
