#include "report/allformats.h"

#include <string.h>

#include "dot.h"

/* For the user's browser: for people, though drawn. */
static const struct jprof_format web = {
	.name = "web", .help = "the picture in your browser, by xdg-open", .for_people = true, .sites = true
};
static const char drawn_for_web[] = "svg";

static size_t count(const struct jprof_format *at(size_t i))
{
	size_t n = 0;
	while (at(n))
		n++;
	return n;
}

const struct jprof_format *format_at(size_t i)
{
	size_t reports = count(jprof_format_at), pictures = count(dot_format_at);
	if (i < reports)
		return jprof_format_at(i);
	i -= reports;
	return i < pictures ? dot_format_at(i) : i == pictures ? &web : NULL;
}

const struct jprof_format *format_find(const char *name)
{
	const struct jprof_format *format;
	for (size_t i = 0; (format = format_at(i)); i++)
		if (!strcmp(format->name, name))
			return format;
	return NULL;
}

const char *format_picture(const char *name)
{
	const struct jprof_format *format;
	for (size_t i = 0; (format = dot_format_at(i)); i++)
		if (!strcmp(format->name, name))
			return format->name;
	return strcmp(web.name, name) ? NULL : drawn_for_web;
}
