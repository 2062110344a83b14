#include "collect/dumpsidecar.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/jsonin.h"
#include "base/strbuf.h"

enum { sidecar_limit = 16 << 20 };

/* The process may hold the file, too, and move its offset: only pread will do. */
static int read_all(const struct jprof_dump_file *file, struct jp_strbuf *text)
{
	char chunk[1 << 12];
	ssize_t n;
	while ((n = pread(file->fd, chunk, sizeof chunk, (off_t)text->len)) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			jp_strbuf_add(text, chunk, (size_t)n);
		if (text->failed || text->len > sidecar_limit)
			return text->failed ? ENOMEM : EFBIG;
	}
	return n < 0 ? errno : 0;
}

static int parse_sidecar(const struct jprof_dump_file *file, struct jprof_json **json, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	int error = read_all(file, &text);
	if (error == ENOMEM)
		return jp_error_nomem(err);
	if (error)
		return jp_error(err, JPROF_E_IO, file->name, 0, "cannot be read: %s", strerror(error));
	return jp_json_parse(text.text ? text.text : "", text.len, file->name, json, err);
}

static int refuse_sidecar(const struct jprof_target *t, const struct jprof_dump_file *file, const char *what,
                          struct jprof_error *err)
{
	return jp_error(err, JPROF_E_FORMAT, NULL, 0, "process %d: the side-car %s is not taken: %s", t->pid,
	                file->name, what);
}

int jp_sidecar_check(const struct jprof_target *t, const struct jprof_dump_file *sidecar, const char *dump,
                     int64_t since, struct jprof_error *err)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = NULL;
	int rc = parse_sidecar(sidecar, &json, err);
	if (rc)
		return rc;
	const char *name = jp_json_text(json, "dump");
	if (!name || strcmp(name, dump))
		return refuse_sidecar(t, sidecar, "it is of another dump", err);
	if (jp_json_number(json, "pid") != (uint64_t)t->ns_pid || jp_json_number(json, "start_ticks") != t->start_ticks)
		return refuse_sidecar(t, sidecar, "it is of another process", err);
	if (since && jp_json_seconds(json, "time") < since)
		return refuse_sidecar(t, sidecar, "the dump was made before it was asked for", err);
	return 0;
}

int jprof_target_sidecar(const struct jprof_target *t, const struct jprof_dump_file *dump, struct jprof_dump_file **out,
                         struct jprof_error *err)
{
	if (jp_null(err, t, dump, out))
		return JPROF_E_ARGUMENT;
	struct jprof_dump_file *sidecar;
	int rc = jp_dump_file_beside(t, dump, ".json", &sidecar, err);
	if (rc)
		return rc;
	rc = jp_sidecar_check(t, sidecar, dump->name, 0, err);
	if (rc)
		jprof_dump_file_free(sidecar);
	else
		*out = sidecar;
	return rc;
}

bool jp_sidecar_is_of_signal(const struct jprof_dump_file *sidecar)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = NULL;
	if (parse_sidecar(sidecar, &json, NULL))
		return true;
	const char *reason = jp_json_text(json, "reason");
	return !reason || !strcmp(reason, "signal");
}
