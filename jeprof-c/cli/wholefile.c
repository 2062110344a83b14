#include "cli/wholefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/shortage.h"
#include "jprof.h"

char *file_whole(const char *path, size_t most, size_t *len)
{
	struct jp_strbuf text = { 0 };
	char chunk[1 << 14];
	size_t n;
	FILE *file = fopen(path, "re");
	*len = 0;
	if (!file)
		return NULL;
	jp_strbuf_str(&text, "");
	while (!text.failed && text.len <= most && (n = fread(chunk, 1, sizeof chunk, file)) > 0)
		jp_strbuf_add(&text, chunk, n);
	int error = ferror(file) ? errno : text.failed ? ENOMEM : text.len > most ? EFBIG : 0;
	fclose(file);
	if (error) {
		shortage_note_code(text.failed ? JPROF_E_NOMEM : 0);
		jp_strbuf_release(&text);
		errno = error;
		return NULL;
	}
	*len = text.len;
	return text.text;
}

ssize_t file_begin(const char *path, void *head, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;
	if (fd < 0)
		return -1;
	while (len < size && (n = read(fd, (char *)head + len, size - len)) > 0)
		len += (size_t)n;
	close(fd);
	return (ssize_t)len;
}

/* systemd-coredump calls them core.ruby.1000.ID.4711.TIME.zst. Snapshots and dumps have names of their own. */
static bool is_packed_core(const char *path, const unsigned char *head)
{
	static const char *const starts[] = { "\050\265\057\375", "\375\067zX", "\037\213\010", "BZh" };
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	bool packed = false;
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
		packed = packed || !memcmp(head, starts[i], strlen(starts[i]));
	return packed && !strncmp(base, "core", 4) && !strstr(base, ".jprof") && !strstr(base, ".heap");
}

bool is_core(const char *path)
{
	enum { type_at = 16, core = 4 }; /* e_type is ET_CORE, whichever of its two bytes comes first */
	unsigned char head[18];
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || file_begin(path, head, sizeof head) != (ssize_t)sizeof head)
		return false;
	bool plain = !memcmp(head, "\177ELF", 4) && head[type_at] + head[type_at + 1] == core;
	return plain || is_packed_core(path, head);
}
