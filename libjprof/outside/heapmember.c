/* What a process's own memory says, for its member in a bundle. */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/opts.h"
#include "collect/below.h"
#include "collect/procfs.h"
#include "outside/holding.h"
#include "outside/livesource.h"
#include "outside/rubybuffers.h"

/* ---- a jemalloc that is not known -------------------------------------------------------------------------------- */

/* "5.3.0-0-g" and 40 digits: the first such text among these bytes; false: there is none. */
static bool version_among(struct jp_span bytes, char version[32])
{
	static const char mark[] = "-g";
	enum { id_digits = 40, most_before = 24 };
	const char *end = bytes.ptr + bytes.len, *at = bytes.ptr;
	for (; (at = memmem(at, (size_t)(end - at), mark, 2)); at += 2) {
		const char *id = at + 2, *start = at;
		size_t digits = 0;
		while (digits < id_digits && id + digits < end && isxdigit((unsigned char)id[digits]))
			digits++;
		while (start > bytes.ptr && at - start < most_before &&
		       (isdigit((unsigned char)start[-1]) || start[-1] == '.' || start[-1] == '-'))
			start--;
		if (digits == id_digits && at - start >= 7 && isdigit((unsigned char)*start)) {
			snprintf(version, 32, "%.*s", (int)(at - start), start);
			return true;
		}
	}
	return false;
}

/* Reads the file as the process sees it, in pieces that overlap by more than such a text has. */
static bool version_in_file(const struct jprof_target *t, const char *path, char version[32])
{
	enum { size = 1 << 16, overlap = 128, most = 64 << 20 };
	struct stat st;
	int jp_cleanup(jp_file_close) fd =
	    jp_opens_with_its_rights(t) ? jp_below_open(t, JPROF_OPEN_FILE, path, &st) : -1;
	char *piece = fd < 0 ? NULL : malloc(size);
	bool found = false;
	for (off_t at = 0; piece && !found && at < most; at += size - overlap) {
		ssize_t n = pread(fd, piece, size, at);
		found = n > 0 && version_among((struct jp_span){ piece, (size_t)n }, version);
		if (n < size)
			break;
	}
	free(piece);
	return found;
}

/* The library that is mapped, which may be one that is not known; NULL: there is none. */
static const char *jemalloc_of(const struct jp_memsource *source)
{
	for (size_t i = 0; i < jprof_maps_count(source->maps); i++)
		if (strstr(jprof_maps_at(source->maps, i)->path, "libjemalloc"))
			return jprof_maps_at(source->maps, i)->path;
	return NULL;
}

static int refuse_jemalloc(const struct jprof_target *t, const struct jp_memsource *source, struct jprof_error *err)
{
	char version[32] = "of an unknown version";
	const char *library = jemalloc_of(source);
	if (!library)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0,
		                "process %d: there is no jemalloc in its memory that jprof knows", t->pid);
	(void)version_in_file(t, library, version);
	return jp_error(
	    err, JPROF_E_UNSUPPORTED, NULL, 0,
	    "process %d: its jemalloc (%s, %s) has no tables that jprof knows, which are those of 5.2 to 5.3", t->pid,
	    library, version);
}

/* ---- what its threads say -------------------------------------------------------------------------------------- */

static bool is_jemalloc_thread(const struct jprof_target *t, const char *thread)
{
	char name[64];
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	snprintf(name, sizeof name, "task/%.20s/comm", thread);
	return !jp_proc_read(t->proc, t->pid, name, sizeof name, &text) && text.len &&
	       !strncmp(text.text, "jemalloc_bg_thd", 15);
}

static bool has_background_thread(const struct jprof_target *t)
{
	DIR *dir = opendir(jp_target_path(t, "task"));
	bool found = false;
	for (struct dirent *e; dir && !found && (e = readdir(dir));)
		found = isdigit((unsigned char)*e->d_name) && is_jemalloc_thread(t, e->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* ---- all of it ----------------------------------------------------------------------------------------------------
 */

/* A process runs on while it is read: what nothing points to is looked for once more, a second later. What counts is
 * what this look finds. */
static int look_again_at(struct jprof_target *t, struct jp_memsource **source, const struct jprof_heap_opts *opts,
                         struct jp_holding *h, struct jprof_error *err)
{
	const struct jp_mapped_files files = jp_files_of_target(t);
	struct jp_lostblocks before = h->lost;
	struct jp_memsource *again = NULL;
	h->lost = (struct jp_lostblocks){ 0 };
	jp_holding_empty(h);
	nanosleep(&(const struct timespec){ .tv_sec = 1 }, NULL);
	int rc = jp_livesource_open(t, &again, err);
	if (!rc) {
		jp_memsource_close(*source);
		*source = again;
		rc = jp_holding_read(again, &files, opts, h) ? jp_error_nomem(err) : 0;
	}
	if (!rc)
		jp_lostblocks_keep(&h->lost, &before);
	jp_lostblocks_release(&before);
	return rc;
}

/* A look is not of one moment: what died between its beginning and its end is found, too, and where all is of one
 * content the next look may find the like at the same place. So there are more looks while one takes away much. */
static int look_until_steady(struct jprof_target *t, struct jp_memsource **source, const struct jprof_heap_opts *opts,
                             struct jp_holding *h, struct jprof_error *err)
{
	enum { most_looks = 5 };
	int rc = 0;
	size_t before = SIZE_MAX;
	for (int looks = 1; !rc && looks < most_looks && h->lost.count && h->lost.count < before - before / 10 &&
	                    jp_holding_lost_much(h, opts);
	     looks++) {
		before = h->lost.count;
		rc = look_again_at(t, source, opts, h, err);
	}
	return rc;
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now = { 0 };
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct jp_jeages ages_now(const struct jprof_target *t, const struct jp_memsource *source)
{
	int64_t boot = clock_ms(CLOCK_BOOTTIME), real = clock_ms(CLOCK_REALTIME);
	long ticks = sysconf(_SC_CLK_TCK);
	return (struct jp_jeages){ .pid = t->pid,
		                   .start_ticks = t->start_ticks,
		                   .began = t->start_ticks * 1000 / (uint64_t)(ticks > 0 ? ticks : 100),
		                   .now = (uint64_t)boot,
		                   .boot = (uint64_t)((real - boot) / 1000 * 1000),
		                   .monotonic = boot - clock_ms(CLOCK_MONOTONIC),
		                   .realtime = boot - real,
		                   .ids = jp_jeages_place(source->maps) };
}

/* What is asked for beside a dump, as far as it is known. */
static int add_beside(struct jp_memsource *source, const struct jprof_heap_opts *opts, struct jp_holding *h,
                      struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	bool points = opts->referrers && h->referrers.count, lost = h->lost.known && jp_holding_lost_much(h, opts);
	int rc = jp_holding_graph(h, source, opts, writer, err);
	if (rc || !h->jemalloc.version || (!points && !lost))
		return rc;
	if (jp_holding_write_beside(h, source, opts, &text))
		return jp_error_nomem(err);
	rc = jprof_bundle_writer_file(writer, "outside.json", text.text, text.len, err);
	return rc ? rc : jp_holding_lost(h, source, writer, err);
}

static int add_heap(struct jprof_target *t, struct jp_memsource **source, const struct jprof_heap_opts *opts,
                    struct jp_holding *h, struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const struct jp_mapped_files files = jp_files_of_target(t);
	int rc = jp_holding_read(*source, &files, opts, h) ? jp_error_nomem(err) : 0;
	rc = rc ? rc : look_until_steady(t, source, opts, h, err);
	rc = rc ? rc : jprof_target_check(t, err);
	if (rc)
		return rc;
	if (opts->beside)
		return add_beside(*source, opts, h, writer, err);
	if (!jp_holding_tells(h) || (!h->jemalloc.version && jemalloc_of(*source)))
		return refuse_jemalloc(t, *source, err);
	h->jemalloc.background_thread = has_background_thread(t);
	struct jp_jeages jp_cleanup(jp_jeages_release) ages = ages_now(t, *source);
	if (jp_holding_dump(h, *source, &ages, opts) || jp_holding_write(h, *source, opts, &text))
		return jp_error_nomem(err);
	rc = jprof_bundle_writer_file(writer, "heap.json", text.text, text.len, err);
	rc = rc ? rc : jp_holding_lost(h, *source, writer, err);
	return rc ? rc : jp_holding_graph(h, *source, opts, writer, err);
}

int jprof_target_heap(struct jprof_target *t, const struct jprof_heap_opts *given, struct jprof_bundle_writer *writer,
                      struct jprof_heap_seen *seen, struct jprof_error *err)
{
	if (jp_null(err, t, writer, seen))
		return JPROF_E_ARGUMENT;
	struct jp_memsource *source;
	struct jprof_rights rights;
	struct jprof_heap_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	rc = jprof_target_rights(t, &rights, err);
	rc = rc ? rc : jp_livesource_open(t, &source, err);
	*seen = (struct jprof_heap_seen){ 0 };
	if (rc && opts.graph)
		seen->graph_why = "its memory may not be read";
	if (rc)
		return opts.beside && rc != JPROF_E_NOMEM ? 0 : rc;
	struct jp_holding *h = calloc(1, sizeof *h);
	rc = h ? add_heap(t, &source, &opts, h, writer, err) : jp_error_nomem(err);
	if (!rc)
		*seen = jp_holding_seen(h);
	if (h)
		jp_holding_empty(h);
	free(h);
	jp_memsource_close(source);
	return rc;
}

int jprof_target_v8(const struct jprof_target *t, struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	if (jp_null(err, t, writer))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_jsonout j = { .out = &text };
	struct jp_memsource *source;
	int rc = jp_livesource_open(t, &source, err);
	if (rc)
		return rc == JPROF_E_NOMEM ? rc : 0;
	struct jp_v8heap v8 = jp_v8heap_find(source);
	jp_memsource_close(source);
	if (!v8.chunks)
		return 0;
	jp_jsonout_open(&j, NULL, '{', false);
	jp_v8heap_write(&v8, &j);
	jp_jsonout_close(&j);
	return text.failed ? jp_error_nomem(err)
	                   : jprof_bundle_writer_file(writer, "v8.json", text.text, text.len, err);
}

static int read_buffers(struct jp_memsource *source, struct jp_strbuf *text)
{
	struct jp_jeextents extents = { 0 };
	struct jp_jeprofile profile = { 0 };
	struct jp_rubypages pages = { 0 };
	struct jp_jeheap *heap = calloc(1, sizeof *heap);
	bool failed = !heap || jp_jeheap_take(source, heap, &extents) ||
	              jp_jeprofile_take(source, heap, &extents, &profile) || jp_rubypages_find(source, &pages) ||
	              jp_rubybuffers_write(source, &profile, &pages, text);
	jp_jeextents_release(&extents);
	jp_jeprofile_release(&profile);
	jp_rubypages_release(&pages);
	free(heap);
	return failed ? -1 : 0;
}

int jprof_target_buffers(const struct jprof_target *t, char **text, size_t *len, struct jprof_error *err)
{
	if (jp_null(err, t, text, len))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf out = { 0 };
	struct jp_memsource *source;
	*text = NULL;
	*len = 0;
	int rc = jp_livesource_open(t, &source, err);
	if (rc)
		return rc == JPROF_E_NOMEM ? rc : 0;
	rc = read_buffers(source, &out);
	jp_memsource_close(source);
	if (rc) {
		jp_strbuf_release(&out);
		return jp_error_nomem(err);
	}
	*text = out.text;
	*len = out.len;
	return 0;
}
