#include "input/codeimage.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/index.h"
#include "base/reader.h"
#include "base/search.h"
#include "base/textparts.h"
#include "input/ehframe.h"

/* Not in musl's elf.h: of the psABI of AArch64. */
enum { r_aarch64_irelative = 1032 };
enum { most_contents = 512 << 20, most_relocs = 1 << 22, sht_relr = 19 };

/* A file that is being read; `left` of what it may take. */
struct image_source {
	const struct jp_objfile *file;
	struct jp_codeimage *code;
	size_t left;
	bool failed;
};

/* A section's bytes and a NUL behind them, to be freed; NULL: it has none in the file, or there is no room. */
static unsigned char *read_contents(struct image_source *l, const struct jp_elf_section *s)
{
	if (s->type == SHT_NOBITS || !s->size || s->size > l->left)
		return NULL;
	unsigned char *bytes = malloc((size_t)s->size + 1);
	if (!bytes) {
		l->failed = true;
		return NULL;
	}
	if (!jp_elf_read_at(l->file->fd, s->offset, bytes, (size_t)s->size)) {
		free(bytes);
		return NULL;
	}
	bytes[s->size] = '\0';
	l->left -= (size_t)s->size;
	return bytes;
}

/* ---- pieces --------------------------------------------------------------------------------------- */

static bool is_wanted(const struct jp_elf_section *s)
{
	return s->type == SHT_PROGBITS && s->flags & SHF_ALLOC && !(s->flags & SHF_TLS) &&
	       s->address <= UINT64_MAX - s->size && !jp_begins(s->name, ".eh_frame") &&
	       !jp_begins(s->name, ".gcc_except_table");
}

static void add_piece(struct image_source *l, const struct jp_elf_section *s)
{
	struct jp_image *image = &l->code->image;
	unsigned char *bytes = read_contents(l, s);
	if (!bytes)
		return;
	if (jp_array_push(image->pieces, image->piece_count, l->code->piece_cap)) {
		l->failed = true;
		free(bytes);
		return;
	}
	bool code = s->flags & SHF_EXECINSTR;
	bool relocated = !strcmp(s->name, ".got") || !strcmp(s->name, ".got.plt") || jp_begins(s->name, ".data.rel.ro");
	image->pieces[image->piece_count++] =
	    (struct jp_piece){ .start = s->address,
		               .bytes = bytes,
		               .len = (size_t)s->size,
		               .code = code,
		               .fixed = relocated || !(s->flags & SHF_WRITE),
		               .written = s->flags & SHF_WRITE,
		               .stubs = code && (jp_begins(s->name, ".plt") || jp_begins(s->name, ".iplt")) };
}

static int by_piece(const void *a, const void *b)
{
	const struct jp_piece *x = a, *y = b;
	return jp_order_by(x->start, y->start, jp_order(x->len, y->len));
}

/* Such as lie over another are none. */
static void sort_pieces(struct jp_image *image)
{
	size_t kept = 0;
	if (image->piece_count)
		qsort(image->pieces, image->piece_count, sizeof *image->pieces, by_piece);
	for (size_t i = 0; i < image->piece_count; i++) {
		const struct jp_piece *last = kept ? &image->pieces[kept - 1] : NULL;
		if (last && image->pieces[i].start - last->start < last->len)
			free((void *)image->pieces[i].bytes);
		else
			image->pieces[kept++] = image->pieces[i];
	}
	image->piece_count = kept;
}

/* ---- symbols -------------------------------------------------------------------------------------- */

static int by_symbol_value(const void *a, const void *b, void *symbols)
{
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct jp_dynamic_symbol *x = (const struct jp_dynamic_symbol *)symbols + m;
	const struct jp_dynamic_symbol *y = (const struct jp_dynamic_symbol *)symbols + n;
	return jp_order_by(x->value, y->value, jp_order(m, n));
}

static void take_symbols(struct image_source *l, struct jp_bytes in, size_t strings)
{
	struct jp_image *image = &l->code->image;
	size_t count = in.len / sizeof(Elf64_Sym);
	if (count >= JP_NONE - 1)
		return;
	image->symbols = calloc(count + 1, sizeof *image->symbols);
	image->by_value = calloc(count + 1, sizeof *image->by_value);
	l->failed = l->failed || !image->symbols || !image->by_value;
	for (size_t i = 0; !l->failed && i < count; i++) {
		uint64_t name = jp_bytes_uint(&in, 4);
		jp_bytes_uint(&in, 2); /* st_info, st_other */
		bool defined = jp_bytes_uint(&in, 2) != SHN_UNDEF;
		uint64_t value = jp_bytes_uint(&in, 8);
		jp_bytes_uint(&in, 8); /* st_size */
		image->symbols[i] = (struct jp_dynamic_symbol){ .name = l->code->strings + (name < strings ? name : 0),
			                                        .value = defined ? value : 0 };
		if (image->symbols[i].value)
			image->by_value[image->by_value_count++] = (uint32_t)i;
	}
	if (l->failed)
		return;
	image->symbol_count = (uint32_t)count;
	if (image->by_value_count)
		qsort_r(image->by_value, image->by_value_count, sizeof *image->by_value, by_symbol_value,
		        image->symbols);
}

static void read_symbols(struct image_source *l)
{
	const struct jp_elf_section *symbols = jp_elf_section_find(&l->file->headers, NULL, SHT_DYNSYM);
	const struct jp_elf_section *names = jp_elf_section_linked(&l->file->headers, symbols);
	l->code->strings = names ? (char *)read_contents(l, names) : NULL;
	unsigned char *table = l->code->strings ? read_contents(l, symbols) : NULL;
	if (table)
		take_symbols(l, (struct jp_bytes){ .data = table, .len = (size_t)symbols->size }, (size_t)names->size);
	free(table);
}

/* ---- relocations ---------------------------------------------------------------------------------- */

static void add_reloc(struct image_source *l, struct jp_reloc reloc)
{
	struct jp_image *image = &l->code->image;
	if (image->reloc_count >= most_relocs)
		return;
	if (jp_array_push(image->relocs, image->reloc_count, l->code->reloc_cap))
		l->failed = true;
	else
		image->relocs[image->reloc_count++] = reloc;
}

/* Source: the psABI supplements of both machines. */
static void take_reloc(struct image_source *l, uint64_t at, uint64_t info, uint64_t addend)
{
	bool arm = l->code->image.machine == EM_AARCH64;
	uint32_t type = (uint32_t)info, symbol = (uint32_t)(info >> 32);
	bool relative = arm ? type == R_AARCH64_RELATIVE || type == r_aarch64_irelative
	                    : type == R_X86_64_RELATIVE || type == R_X86_64_IRELATIVE;
	bool named = arm ? type == R_AARCH64_GLOB_DAT || type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_ABS64
	                 : type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT || type == R_X86_64_64;
	if (relative)
		add_reloc(l, (struct jp_reloc){ .at = at, .value = addend, .symbol = JP_NONE, .word = true });
	else if (symbol && symbol < l->code->image.symbol_count)
		add_reloc(l, (struct jp_reloc){ .at = at,
		                                .value = arm || type == R_X86_64_64 ? addend : 0,
		                                .symbol = symbol,
		                                .word = named });
}

/* Packed relative relocations: an address, or 63 bits for the words behind the last. Source: the generic ABI. */
static void add_packed_relocs(struct image_source *l, struct jp_bytes in)
{
	uint64_t next = 0;
	while (in.len - in.pos >= 8 && !l->failed && l->code->image.reloc_count < most_relocs) {
		uint64_t entry = jp_bytes_uint(&in, 8), value;
		uint64_t first = entry & 1 ? next : entry, bits = entry & 1 ? entry >> 1 : 1;
		for (unsigned i = 0; bits >> i; i++)
			if (bits >> i & 1 && jp_image_word(&l->code->image, first + 8 * (uint64_t)i, &value))
				add_reloc(l, (struct jp_reloc){ first + 8 * (uint64_t)i, value, JP_NONE, true });
		next = entry & 1 ? next + 63 * 8 : entry + 8;
	}
}

static int by_reloc(const void *a, const void *b)
{
	const struct jp_reloc *x = a, *y = b;
	return jp_order_by(x->at, y->at, jp_order_by(x->symbol, y->symbol, jp_order(x->value, y->value)));
}

/* The loader's tables are mostly sorted. What is relocated twice stays once. */
static void sort_relocs(struct jp_image *image)
{
	size_t i = 1, kept = 0;
	while (i < image->reloc_count && image->relocs[i - 1].at < image->relocs[i].at)
		i++;
	if (i >= image->reloc_count)
		return;
	qsort(image->relocs, image->reloc_count, sizeof *image->relocs, by_reloc);
	for (i = 0; i < image->reloc_count; i++)
		if (!kept || image->relocs[kept - 1].at != image->relocs[i].at)
			image->relocs[kept++] = image->relocs[i];
	image->reloc_count = kept;
}

static void read_relocs(struct image_source *l)
{
	const struct jp_elf_headers *h = &l->file->headers;
	for (size_t i = 0; i < h->section_count && !l->failed; i++) {
		const struct jp_elf_section *s = &h->sections[i];
		bool packed = s->type == sht_relr;
		unsigned char *table =
		    (s->type == SHT_RELA || packed) && s->flags & SHF_ALLOC ? read_contents(l, s) : NULL;
		struct jp_bytes in = { .data = table, .len = table ? (size_t)s->size : 0 };
		if (packed)
			add_packed_relocs(l, in);
		while (!packed && in.len - in.pos >= sizeof(Elf64_Rela)) {
			uint64_t at = jp_bytes_uint(&in, 8), info = jp_bytes_uint(&in, 8);
			take_reloc(l, at, info, jp_bytes_uint(&in, 8));
		}
		free(table);
	}
	sort_relocs(&l->code->image);
}

/* ---- functions ------------------------------------------------------------------------------------ */

static bool is_in_code(const struct jp_image *image, const struct jp_codebounds *f)
{
	const struct jp_piece *piece = jp_image_piece(image, f->start);
	return piece && piece->code && !piece->stubs && f->end > f->start && f->end - piece->start <= piece->len;
}

/* Of such as lie over each other the first stays. */
static void take_bounds(struct image_source *l)
{
	struct jp_image *image = &l->code->image;
	const struct jp_elf_section *frames = jp_elf_section_find(&l->file->headers, ".eh_frame", SHT_NULL);
	unsigned char *bytes = frames ? read_contents(l, frames) : NULL;
	struct jp_codebounds *all = NULL;
	size_t count = 0;
	if (!bytes)
		return;
	int rc = jp_ehframe_walk((struct jp_bytes){ .data = bytes, .len = (size_t)frames->size }, frames->address, 8,
	                         &all, &count);
	image->functions = rc ? NULL : calloc(count + 1, sizeof *image->functions);
	l->failed = l->failed || !image->functions;
	for (size_t i = 0; image->functions && i < count; i++) {
		size_t n = image->function_count;
		if (is_in_code(image, &all[i]) && (!n || image->functions[n - 1].end <= all[i].start))
			image->functions[image->function_count++] =
			    (struct jp_function_bounds){ all[i].start, all[i].end };
	}
	free(all);
	free(bytes);
}

/* ---- all of it ------------------------------------------------------------------------------------ */

int jp_codeimage_read(const struct jp_objfile *file, struct jp_codeimage *code)
{
	const struct jp_elf_headers *h = &file->headers;
	struct image_source l = { .file = file, .code = code, .left = most_contents };
	*code = (struct jp_codeimage){ .image = { .machine = h->machine, .placed = h->type == ET_EXEC } };
	if (h->bits != 64 || h->big_endian || (h->machine != EM_X86_64 && h->machine != EM_AARCH64))
		return 0;
	for (size_t i = 0; i < h->section_count && !l.failed; i++)
		if (is_wanted(&h->sections[i]))
			add_piece(&l, &h->sections[i]);
	sort_pieces(&code->image);
	if (!l.failed)
		read_symbols(&l);
	if (!l.failed)
		read_relocs(&l);
	if (!l.failed)
		take_bounds(&l);
	return l.failed ? -1 : 0;
}

void jp_codeimage_release(struct jp_codeimage *code)
{
	struct jp_image *image = &code->image;
	for (size_t i = 0; i < image->piece_count; i++)
		free((void *)image->pieces[i].bytes);
	free(image->pieces);
	free(image->relocs);
	free(image->symbols);
	free(image->by_value);
	free(image->functions);
	free(code->strings);
	*code = (struct jp_codeimage){ 0 };
}
