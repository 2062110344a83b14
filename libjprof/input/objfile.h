/* An ELF file that code ran from: what it is, whether it is the one that was mapped, and the
 * names of addresses in it. */
#ifndef JP_INPUT_OBJFILE_H
#define JP_INPUT_OBJFILE_H

#include <libelf.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "jprof.h"

/* One function at an address. Strings live as long as the object file. */
struct jp_symframe {
	const char *name; /* as the linker or DWARF knows it, mangled; NULL: not known */
	const char *file; /* NULL: not known */
	unsigned line;    /* 0: not known */
	bool inlined;
};

/* A question and its answer. */
struct jp_lookup {
	uint64_t vaddr;    /* image-relative address */
	uint32_t location; /* the caller's mark */
	enum jprof_source source;
	uint64_t fde_start, fde_end; /* bounds of the function from .eh_frame; 0, 0: not known */
	struct jp_symframe *frames;  /* innermost first; the last is the physical function */
	unsigned frame_count;
};

struct jp_range {
	uint64_t start, end;
};

struct jp_segment {
	uint64_t offset, vaddr, file_size, mem_size;
	bool executable;
};

struct jp_objfile {
	struct jp_arena arena;
	char *path;
	char *root; /* see jp_file_open_untrusted; NULL: none */
	int fd;
	struct stat st;
	Elf *elf;
	struct jp_range *code; /* executable sections; none if the file has no section headers */
	size_t code_count;
	struct jp_segment *segments; /* PT_LOAD */
	size_t segment_count;
	bool program; /* an executable, not a library */
	char build_id[2 * 64 + 1];
	struct jp_objfile *debug;  /* its separate debug file, or NULL */
	struct jp_objfile *shared; /* what dwz moved out of its debug information, or NULL */
	struct jp_minidebug *mini; /* its .gnu_debugdata, or NULL */
	bool loaded;               /* its debug information and tables were looked for */
	struct jp_strbuf remarks;  /* what of its debug information cannot be used, and why; parted by "; " */
	struct jp_dwarf *dwarf;
	struct jp_symtab *symtab;
	struct jp_ehframe *ehframe;
};

struct jp_debug_where;

/* Opens the ELF file at `path`, as untrusted: see jp_file_open_untrusted. */
int jp_objfile_open(const char *root, const char *path, struct jp_objfile **file, struct jprof_error *err);
void jp_objfile_close(struct jp_objfile *file);

/* Image-relative address of a file offset, by the program headers; false if no code lies there. */
bool jp_objfile_vaddr(const struct jp_objfile *file, uint64_t offset, uint64_t *vaddr);

/* Whether an image-relative address lies in an executable section or, without section headers, segment. */
bool jp_objfile_is_code(const struct jp_objfile *file, uint64_t vaddr);

/* Whether the executable mapping [offset, offset+len) of a file fits this one's program headers. */
bool jp_objfile_fits(const struct jp_objfile *file, uint64_t start, uint64_t offset, uint64_t len);

/* Adds to file->remarks. */
void jp_objfile_remark(struct jp_objfile *file, const char *fmt, ...) jp_printf(2, 3);

/* Whether the file has a .symtab, with contents. */
bool jp_objfile_has_symtab(const struct jp_objfile *file);

/* Answers lookups, which are sorted by vaddr and new. `where` tells where separate debug
 * files may be. 0, or -1 when memory is short. */
int jp_objfile_symbolize(struct jp_objfile *file, const struct jp_debug_where *where, struct jp_lookup *lookups,
                         size_t count);

/* Bounds [start, end) of the function that holds `vaddr`: those of its symbol, else of its description in .eh_frame.
 * False where neither is known. After jp_objfile_symbolize. */
bool jp_objfile_function(const struct jp_objfile *file, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* The name of the function that begins there, or NULL. After jp_objfile_symbolize. */
const char *jp_objfile_symbol_at(const struct jp_objfile *file, uint64_t vaddr);

/* The shortest name of a function in the symbol tables that ends in `word`, or NULL. */
const char *jp_objfile_symbol_ending(const struct jp_objfile *file, const char *word);

/* Whether the file defines the function `name` for others. After jp_objfile_symbolize. */
bool jp_objfile_exports(const struct jp_objfile *file, const char *name);

#endif
