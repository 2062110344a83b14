#include "report/servicename.h"

#include <ctype.h>
#include <string.h>

#include "cli/names.h"

/* What a title calls the application: "shop" of "puma 5.6.5 (tcp://0:80) [shop]" and of "sidekiq 7.1.2 shop [0 of 5
 * busy]". Its length; 0: nothing. */
static size_t application_of(const char *title, const char **at)
{
	static const char sidekiq[] = "sidekiq ";
	if (!strncmp(title, sidekiq, sizeof sidekiq - 1)) {
		const char *version = title + sizeof sidekiq - 1;
		*at = version + strcspn(version, " ");
		*at += strspn(*at, " ");
		return **at == '[' ? 0 : strcspn(*at, " ");
	}
	const char *open = strrchr(title, '['), *end = open ? strchr(open, ']') : NULL;
	bool named = end && end > open + 1 && !end[1] && open > title;
	*at = named ? open + 1 : title;
	return named ? (size_t)(end - open - 1) : 0;
}

/* "shop: Puma" of "puma 5.6.5 (tcp://0:80) [shop]", "kvserver" of /usr/bin/kvserver. */
static void add_service(struct jp_strbuf *text, const struct jprof_service *service, const char *file)
{
	const char *application, *word = service->title,
				 *program = *service->program || !file ? service->program : file;
	bool by_title = *word && !strncmp(jp_basename(program), "ruby", 4);
	size_t named = by_title ? application_of(service->title, &application) : 0;
	if (!by_title)
		word = program_name(program, service->started);
	size_t len = by_title ? strcspn(word, " :[") : strlen(word);
	for (const char *slash; (slash = memchr(word, '/', len)); word = slash + 1)
		len -= (size_t)(slash + 1 - word);
	if (named) {
		jp_strbuf_visible_bytes(text, application, named);
		jp_strbuf_str(text, len ? ": " : "");
	}
	if (named && len)
		jp_strbuf_visible_bytes(text, &(const char){ (char)toupper((unsigned char)*word++) }, 1);
	if (len)
		jp_strbuf_visible_bytes(text, word, len - (named ? 1 : 0));
	else if (!named)
		jp_strbuf_str(text, "a program");
}

static void add_number_of(struct jp_strbuf *text, size_t count, const char *one, const char *many)
{
	if (count == 1)
		jp_strbuf_printf(text, "a %s", one);
	else
		jp_strbuf_printf(text, "%zu %s", count, many);
}

void whose_add(struct jp_strbuf *text, const struct jprof_service *service, const char *file)
{
	add_service(text, service, file);
	if (service->processes < 2)
		return;
	bool masters = service->workers && service->workers < service->processes;
	jp_strbuf_str(text, masters ? ", master and " : ", ");
	if (masters)
		add_number_of(text, service->workers, "worker", "workers");
	else
		add_number_of(text, service->processes, "process", "processes");
}
