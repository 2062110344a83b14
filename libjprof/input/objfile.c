#include "input/objfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

enum { page = 4096 };

/* ---- opening ------------------------------------------------------------------------------------ */

/* A segment may hold headers and data beside its code: sections tell them apart. */
static int load_headers(struct jp_objfile *file, struct jprof_error *err)
{
	struct jp_elf_headers *h = &file->headers;
	int rc = jp_elf_headers_read(file->fd, file->path, &file->arena, h, err);
	if (rc)
		return rc;
	file->code = jp_arena_alloc(&file->arena, (h->section_count + 1) * sizeof *file->code);
	if (!file->code)
		return jp_error_nomem(err);
	for (size_t i = 0; i < h->section_count; i++) {
		const struct jp_elf_section *s = &h->sections[i];
		if (s->flags & SHF_EXECINSTR && s->size <= UINT64_MAX - s->address)
			file->code[file->code_count++] = (struct jp_range){ s->address, s->address + s->size };
	}
	file->program = h->type == ET_EXEC;
	for (size_t i = 0; i < h->segment_count; i++)
		file->program = file->program || h->segments[i].type == PT_INTERP;
	return 0;
}

int jp_objfile_borrow(int fd, const char *path, struct jp_objfile **out, struct jprof_error *err)
{
	struct jp_objfile *file = calloc(1, sizeof *file);
	if (!file)
		return jp_error_nomem(err);
	file->path = strdup(path);
	file->fd = fd;
	file->borrowed = true;
	int rc = file->path ? load_headers(file, err) : jp_error_nomem(err);
	if (rc)
		jp_objfile_close(file);
	else
		*out = file;
	return rc;
}

/* Of a file that could not be opened. */
static int refuse_unopened(struct jp_root root, const char *path, int error, struct jprof_error *err)
{
	if (!jp_file_is_absent(error))
		jp_unread_add(root.unread, path, jp_file_why(error));
	return jp_error(err, JPROF_E_IO, path, 0, "%s",
	                error == EINVAL      ? "is not a regular file"
	                : error == ETIMEDOUT ? "lies on a file system that does not answer"
	                : error == ECHILD    ? "cannot be opened: the process that opens files has ended"
	                                     : strerror(error));
}

/* Headers and build-id. */
static int load_opened(struct jp_objfile *file, struct jprof_error *err)
{
	struct jprof_error why = { 0 };
	int rc = load_headers(file, &why);
	int id = rc ? 0 : jp_elf_build_id(file->fd, &file->headers, file->build_id);
	if (id)
		rc = id == JPROF_E_IO ? jp_error(&why, id, file->path, 0, "%s", strerror(errno)) : jp_error_nomem(&why);
	if (rc == JPROF_E_IO)
		jp_unread_add(file->root.unread, file->path, why.text);
	if (rc && err)
		*err = why;
	return rc;
}

int jp_objfile_open(struct jp_root root, const char *path, struct jp_objfile **out, struct jprof_error *err)
{
	struct jp_objfile *file = calloc(1, sizeof *file);
	if (!file)
		return jp_error_nomem(err);
	file->path = strdup(path);
	file->root = (struct jp_root){ .path = root.path ? strdup(root.path) : NULL,
		                       .opener = root.opener,
		                       .notice = root.notice,
		                       .unread = root.unread };
	file->fd = jp_file_open_untrusted(root, path, &file->st);
	int rc, error = errno;
	if (!file->path || (root.path && !file->root.path))
		rc = jp_error_nomem(err);
	else
		rc = file->fd < 0 ? refuse_unopened(root, path, error, err) : load_opened(file, err);
	if (rc)
		jp_objfile_close(file);
	else
		*out = file;
	return rc;
}

void jp_objfile_close(struct jp_objfile *file)
{
	if (!file)
		return;
	jp_strbuf_release(&file->remarks);
	if (!file->borrowed)
		jp_file_close(&file->fd);
	jp_arena_release(&file->arena);
	free(file->path);
	free((void *)file->root.path);
	free(file);
}

void jp_objfile_closed(struct jp_objfile **file)
{
	jp_objfile_close(*file);
}

/* ---- addresses -------------------------------------------------------------------------------------- */

bool jp_objfile_vaddr(const struct jp_objfile *file, uint64_t offset, uint64_t *vaddr)
{
	for (size_t i = 0; i < file->headers.segment_count; i++) {
		const struct jp_elf_segment *s = &file->headers.segments[i];
		if (s->code && offset >= s->offset && offset - s->offset < s->file_size) {
			*vaddr = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

bool jp_objfile_is_code(const struct jp_objfile *file, uint64_t vaddr)
{
	for (size_t i = 0; i < file->code_count; i++)
		if (vaddr >= file->code[i].start && vaddr < file->code[i].end)
			return true;
	if (file->code_count)
		return false;
	for (size_t i = 0; i < file->headers.segment_count; i++) {
		const struct jp_elf_segment *s = &file->headers.segments[i];
		if (s->code && vaddr >= s->vaddr && vaddr - s->vaddr < s->mem_size)
			return true;
	}
	return false;
}

/* A mapping's unit: pages may be larger than 4096, then starts and lengths are multiples of more. */
static uint64_t mapping_unit(uint64_t start, uint64_t offset, uint64_t len)
{
	uint64_t size = 65536, all = start | offset | len;
	while (size > page && all & (size - 1))
		size /= 2;
	return size;
}

bool jp_objfile_fits(const struct jp_objfile *file, uint64_t start, uint64_t offset, uint64_t len)
{
	uint64_t size = mapping_unit(start, offset, len);
	for (size_t i = 0; i < file->headers.segment_count; i++) {
		const struct jp_elf_segment *s = &file->headers.segments[i];
		if (!s->code || s->offset > UINT64_MAX - s->file_size - size)
			continue;
		for (uint64_t unit = page; unit <= size; unit *= 2) {
			uint64_t first = s->offset / unit * unit;
			uint64_t end = (s->offset + s->file_size + unit - 1) / unit * unit;
			if (offset == first && end == offset + len)
				return true;
		}
	}
	return false;
}

bool jp_objfile_holds(const struct jp_objfile *file, uint64_t offset, uint64_t len, struct jp_range *whole)
{
	for (size_t i = 0; i < file->headers.segment_count; i++) {
		const struct jp_elf_segment *s = &file->headers.segments[i];
		if (!s->code || s->offset > UINT64_MAX - s->file_size - page)
			continue;
		whole->start = s->offset / page * page;
		whole->end = (s->offset + s->file_size + page - 1) / page * page;
		if (offset >= whole->start && offset < whole->end && len <= whole->end - offset)
			return true;
	}
	return false;
}

/* ---- what others ask -------------------------------------------------------------------------------- */

void jp_objfile_remark(struct jp_objfile *file, const char *fmt, ...)
{
	char text[640];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (file->remarks.len)
		jp_strbuf_str(&file->remarks, "; ");
	jp_strbuf_visible(&file->remarks, text);
}

bool jp_objfile_has_symtab(const struct jp_objfile *file)
{
	return jp_elf_section_find(&file->headers, NULL, SHT_SYMTAB);
}
