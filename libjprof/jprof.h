/* libjprof: reads jemalloc heap dumps, names their addresses and answers "where is my memory".
 *
 * The way through the library:
 *
 *   bytes --jprof_profile_open--> profile, or, for a look at what stands in a dump,
 *   bytes --jprof_dump_open--> dump --jprof_profile_new--> profile
 *   profile --jprof_profile_add, jprof_profile_difference--> sums and differences
 *           --jprof_profile_symbolize--> functions, files and lines: from here on it does not change
 *           --jprof_view_new--> view: folded, filtered, of one counter and granularity
 *   view    --jprof_table_new, jprof_graph_new, jprof_coverage_new, jprof_render--> answers
 *
 * The order is kept: what comes too early or too late is JPROF_E_ARGUMENT with a sentence.
 *
 * Rules that hold everywhere:
 * - A function returns 0 or a negative code of enum jprof_code. It stores its result in the out
 *   parameter, and leaves that untouched on failure. The last parameter, which may be NULL, reports
 *   what went wrong, where, and what to do about it.
 * - Nothing prints, exits, starts a process, uses the network or writes a file; but for
 *   jprof_symbolize_opts.debuginfod, which asks servers and fills their cache. What looks at processes and talks to
 * them is in jprof-live.h, a library of its own. With a struct jprof_opener the caller opens the files that a live
 * process names.
 * - A caller's mistake does no harm. NULL where it is not allowed, a number that does not exist and options without
 *   their size are JPROF_E_ARGUMENT. A function that returns no code gives what an object without anything would give
 *   (NULL, "", 0, false), and NAN for an estimate. So does an index past the end.
 * - No global state: different objects may be used by different threads; one object by one
 *   thread at a time.
 * - The caller of a function that makes an object frees it with the function named _free, which
 *   takes NULL too. A pointer obtained from an object lives as long as the object.
 * - A struct of options starts with its size; leave the rest zero for the defaults:
 *   struct jprof_view_opts opts = { .size = sizeof opts, .full_names = true };
 * - Strings from a dump (paths, names) are bytes as they stand there: they may hold anything but NUL.
 */
#ifndef JPROF_H
#define JPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define JPROF_API __attribute__((visibility("default")))

/* ---- Errors --------------------------------------------------------------------------- */

enum jprof_code {
	JPROF_OK = 0,
	JPROF_E_NOMEM = -4000,       /* memory is short */
	JPROF_E_IO = -4001,          /* a file cannot be read */
	JPROF_E_FORMAT = -4002,      /* the bytes are not what they should be */
	JPROF_E_UNSUPPORTED = -4003, /* a known thing that this version does not do */
	JPROF_E_ARGUMENT = -4004,    /* the caller asked for something that does not exist */
	JPROF_E_WRITE = -4005,       /* the caller's writer failed */
	JPROF_E_MEMBER = -4006,      /* a bundle has no such member */
};

/* What would help, as far as the library knows: its texts name no options or commands of a program, which has words
 * of its own for each of these and puts them behind the text. Of struct jprof_symbolize_opts, if not said otherwise. */
enum jprof_advice {
	JPROF_ADVICE_NONE,
	JPROF_ADVICE_FILE,     /* the file that ran: sysroot, lib_prefix or add_lib lead to it */
	JPROF_ADVICE_SYSROOT,  /* sysroot is a directory */
	JPROF_ADVICE_PERF_MAP, /* the list of its code that a JIT compiler wrote: perf_map */
	JPROF_ADVICE_SYMBOLS,  /* debug symbols of the file, in words already */
	JPROF_ADVICE_MAPS,     /* the process's maps: jprof_profile_opts.maps */
	JPROF_ADVICE_THREAD,   /* a thread that the dump has: jprof_dump_thread */
	JPROF_ADVICE_AGAIN,    /* all of it once more: a file was replaced in between */
	JPROF_ADVICE_PATTERN,  /* another pattern; the text begins with the name of the option that holds it */
	JPROF_ADVICE_FUNCTION, /* a pattern that finds functions: a table by cum lists them. The text begins as above */
	JPROF_ADVICE_GROWTH,   /* a difference without what shrank */
	JPROF_ADVICE_LINES,    /* debug information with lines; what there is jprof_coverage_new says */
	JPROF_ADVICE_SOURCE,   /* the source file: source_path and trim_path of the report, or sysroot */
	JPROF_ADVICE_TAGS,     /* a Ruby program that says what it is at: docs/tags.md */
	JPROF_ADVICE_TIMEOUT,  /* a longer timeout of the call */
	JPROF_ADVICE_DUMP_DIR, /* the directory of the dumps: jprof_target_watch */
	JPROF_ADVICE_NO_SIGNAL, /* another way to a dump than a signal */
	JPROF_ADVICE_OPERANDS,  /* the program and its dumps in their order: here a dump is wanted */
	JPROF_ADVICE_FORMAT,    /* another format; the text begins with the name of the one that cannot be */
	JPROF_ADVICE_AGES,      /* dumps of a process with the agent, and their tables */
	JPROF_ADVICE_MEMORY,    /* the right to read another process's memory: root's, with CAP_SYS_PTRACE */
	JPROF_ADVICE_RUBYHEAP,  /* jprof_rubyheap_open: it is no profile */
	JPROF_ADVICE_HEAP,      /* jprof_profile_opts.heap: JPROF_HEAP_ALL */
	JPROF_ADVICE_DUMPLESS,  /* an answer that needs no profile: where memory is, or what grew; see dumpless */
	JPROF_ADVICE_READABLE,  /* the file, so that it can be read: the text says which names are missing, and why */
};

/* What went wrong. The texts are single lines of what people may be shown; `path` is empty and
 * `line` or `column` (from 1) is 0 where there is none. Owned by the caller. Since: 0.1 */
struct jprof_error {
	int code;                 /* of enum jprof_code */
	enum jprof_advice advice; /* what would help. Since: 0.2 */
	unsigned line;
	unsigned column; /* in bytes: in the line, or in a pattern */
	char path[512];
	char text[512];
};

/* Bytes that hold every error as a line. */
enum { JPROF_ERROR_LINE = 1056 };

/* Writes the error as one line, "PATH:LINE:COLUMN: TEXT", without what is not known, into `line`, which has `size`
 * bytes; what does not fit is cut. Returns `line`, or "" where it holds nothing. Since: 0.2 */
JPROF_API const char *jprof_error_line(const struct jprof_error *err, char *line, size_t size);

/* ---- Version ---------------------------------------------------------------------------- */

/* Of this header. What is promised of the ABI: a program that was built with the headers of 0.2.0 or later runs with
 * every library libjprof.so.0 that is not older than they are. Until the soname changes functions are only added,
 * structs of options grow at their end (their size says so), structs that the library hands out by a pointer and enums
 * grow at theirs, and struct jprof_error, jprof_range and jprof_frame stay as they are. libjprof-live.so.0 likewise. */
#define JPROF_VERSION_MAJOR 0
#define JPROF_VERSION_MINOR 2
#define JPROF_VERSION_PATCH 0
#define JPROF_VERSION "0.2.0"

/* The version of the library that is loaded, "MAJOR.MINOR.PATCH"; static. Since: 0.1 */
JPROF_API const char *jprof_version(void);

/* What this build can and cannot do, in words, such as its demangler; static. Since: 0.1 */
JPROF_API const char *jprof_features(void);

/* ---- Texts: for people, JSON and CSV --------------------------------------------------------------------- */

/* The text as a string of JSON, with its quotes: bytes that are no UTF-8 become U+FFFD each; "null" for NULL. Owned by
 * the caller, to be freed by free(); NULL when memory is short. Since: 0.1 */
JPROF_API char *jprof_json_text(const char *text);

/* A value of JSON: text that is held whole, of 64 MB and 32 levels at most. What is missing, null or of another type is
 * NULL; a function that is given NULL finds nothing in it. Of two members of one name the last counts. */
struct jprof_json;

/* Reads the one value that fills the text, and is not null. `name` is used in messages. *json is to be freed; the text
 * need not live on. Since: 0.2 */
JPROF_API int jprof_json_read(const char *text, size_t len, const char *name, struct jprof_json **json,
                              struct jprof_error *err);

/* Frees what jprof_json_read gave, and all in it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_json_free(struct jprof_json *json);

/* A member of an object; NULL: there is none. Since: 0.2 */
JPROF_API const struct jprof_json *jprof_json_get(const struct jprof_json *object, const char *key);

/* The i-th value of an array, from 0; NULL: null, or none. Since: 0.2 */
JPROF_API const struct jprof_json *jprof_json_at(const struct jprof_json *array, size_t i);

/* How many values an array has; 0 of what is none. Since: 0.2 */
JPROF_API size_t jprof_json_count(const struct jprof_json *array);

/* What a text means, and a number, true or false as it stands there; NULL of all else, and of a text with a NUL in it.
 * It lives as long as the value. Since: 0.2 */
JPROF_API const char *jprof_json_string(const struct jprof_json *value);

/* A number; NAN of all else, and beyond the range of a double. Since: 0.2 */
JPROF_API double jprof_json_number(const struct jprof_json *value);

/* The text as a field of CSV (RFC 4180), in quotes: bytes that are no UTF-8 become U+FFFD each, control characters
 * \xNN, and what a spreadsheet would take for a formula begins with an apostrophe; an empty field for NULL. Owned by
 * the caller, to be freed by free(); NULL when memory is short. Since: 0.2 */
JPROF_API char *jprof_csv_text(const char *text);

/* How many of the `len` bytes at `s` are a character that people may be shown as it is; 0: there is none, and the first
 * byte is to be written as \xNN. Such are control characters (C0, DEL, C1), what has no shape or changes the order in
 * which others are shown (bidi overrides and isolates, line separators, zero-width characters, tags: the categories Cc,
 * Cf, Zl, Zp), and bytes that are no UTF-8. jprof writes nothing for people without this. Since: 0.1 */
JPROF_API size_t jprof_visible_len(const char *s, size_t len);

/* Copies the text so, cut between two characters where `size` bytes with the NUL do not hold it; no more than
 * 4 * strlen(text) + 1 are needed. Since: 0.1 */
JPROF_API void jprof_visible(const char *text, char *to, size_t size);

/* ---- Memory maps: /proc/PID/maps ------------------------------------------------------- */

struct jprof_maps;

/* One line of /proc/PID/maps. Addresses and offset in bytes; [start, limit). `path` is the text
 * after the inode with the kernel's \012 undone: a file, "FILE (deleted)", "[vdso]", "" ... */
struct jprof_map {
	uint64_t start;
	uint64_t limit;
	uint64_t offset;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	bool readable;
	bool writable;
	bool executable;
	const char *path;
};

/* Reads the text of a /proc/PID/maps. `name` is used in errors and may be NULL. A line that is
 * no mapping ends the reading with JPROF_E_FORMAT. Since: 0.1 */
JPROF_API int jprof_maps_parse(const void *data, size_t len, const char *name, struct jprof_maps **maps,
                               struct jprof_error *err);

/* The same for a file. Since: 0.1 */
JPROF_API int jprof_maps_open(const char *path, struct jprof_maps **maps, struct jprof_error *err);

/* Number of mappings. Since: 0.1 */
JPROF_API size_t jprof_maps_count(const struct jprof_maps *maps);

/* The i-th mapping, from 0, by ascending address; it lives as long as the maps. Since: 0.1 */
JPROF_API const struct jprof_map *jprof_maps_at(const struct jprof_maps *maps, size_t i);

/* Frees the maps; NULL is fine. Since: 0.1 */
JPROF_API void jprof_maps_free(struct jprof_maps *maps);

/* ---- Dumps: what a file holds ----------------------------------------------------------- */

/* The four counters of a sample. */
enum jprof_counter {
	JPROF_INUSE_SPACE,   /* bytes allocated and not freed: what reports show by default */
	JPROF_INUSE_OBJECTS, /* their objects */
	JPROF_ALLOC_SPACE,   /* bytes allocated since the start; all 0 without prof_accum */
	JPROF_ALLOC_OBJECTS, /* their objects */
	JPROF_COUNTERS
};

struct jprof_dump;

struct jprof_dump_info {
	uint64_t rate;                 /* mean bytes between two samples: 2^lg_prof_sample; 0: not sampled */
	size_t stacks;                 /* stacks read */
	size_t addresses;              /* distinct code addresses in them */
	size_t depth;                  /* frames of the deepest stack */
	size_t threads;                /* threads of the header */
	bool has_alloc;                /* made with prof_accum:true */
	double header[JPROF_COUNTERS]; /* the header's own sums: sampled, not scaled */
	double total[JPROF_COUNTERS];  /* estimates of the truth: every stack scaled, then summed */
	const char *format;            /* "heap_v2", "gperftools heap profile" ...; static */
};

struct jprof_dump_thread {
	uint64_t id;
	const char *name;             /* "" when the thread has none */
	double total[JPROF_COUNTERS]; /* estimates, as in jprof_dump_info */
};

/* Reads a dump in text: heap_v2 (jemalloc 4 to 5.3), gperftools' heap and growth profiles (jemalloc
 * before 4 too), symbolized files with one of these in them; each compressed (gzip, xz, zstd) or
 * not. `name` is used in messages and may be NULL.
 *
 * Where a dump is faulty or cut after at least one sound stack, the part before the fault is
 * read, with one warning; where nothing is sound, JPROF_E_FORMAT. Since: 0.1 */
JPROF_API int jprof_dump_parse(const void *data, size_t len, const char *name, struct jprof_dump **dump,
                               struct jprof_error *err);

/* The same for a file or pipe; "-" is standard input. The table of its Ruby stacks (FILE.ruby) is read with it, if it
 * is that of this very dump: docs/internals/ruby-table.md. Since: 0.1 */
JPROF_API int jprof_dump_open(const char *path, struct jprof_dump **dump, struct jprof_error *err);

/* Whether these first bytes of a file are those of a profile (and so not of a program): in any format
 * that jprof_profile_open reads or refuses with a word about it; 512 bytes are enough. Since: 0.1 */
JPROF_API bool jprof_dump_probe(const void *data, size_t len);

/* What the dump holds; it lives as long as the dump. Since: 0.1 */
JPROF_API const struct jprof_dump_info *jprof_dump_info(const struct jprof_dump *dump);

/* The i-th of info->threads, from 0, by ascending id; it lives as long as the dump. Since: 0.1 */
JPROF_API const struct jprof_dump_thread *jprof_dump_thread(const struct jprof_dump *dump, size_t i);

/* The maps at the end of the dump, or NULL if it has none; they live as long as the dump. Since: 0.1 */
JPROF_API const struct jprof_maps *jprof_dump_maps(const struct jprof_dump *dump);

/* Number of faults that did not make the dump useless. Since: 0.1 */
JPROF_API size_t jprof_dump_warnings(const struct jprof_dump *dump);

/* The i-th fault, from 0; it lives as long as the dump. Since: 0.1 */
JPROF_API const struct jprof_error *jprof_dump_warning(const struct jprof_dump *dump, size_t i);

/* Frees the dump; NULL is fine. Since: 0.1 */
JPROF_API void jprof_dump_free(struct jprof_dump *dump);

/* ---- Profiles: reading them ------------------------------------------------------------------------------ */

struct jprof_profile;

/* Whose memory a profile has. Under jprof's agent a dump may have samples of the objects that lie in slots of Ruby's
 * own heap, beside those of malloc (docs/internals/ruby-table.md); nothing is in both. */
enum jprof_heap {
	JPROF_HEAP_ALL,    /* both, where there are both */
	JPROF_HEAP_MALLOC, /* what malloc gave; a note says what the other is */
	JPROF_HEAP_SLOTS,  /* objects in slots */
};

/* Which samples a profile has. Without any it has what else is known of its processes, as that of a member without a
 * dump. Since: 0.2 */
enum jprof_samples {
	JPROF_SAMPLES_ALL,
	JPROF_SAMPLES_UNREACHABLE, /* of blocks to which no pointer was found, where those were sampled */
};

struct jprof_profile_opts {
	size_t size;
	const struct jprof_maps *maps; /* used in place of the dump's own, if not NULL */
	const char *thread;            /* NULL: all threads together. "*": samples of each thread, labelled "tN"
	                                  or "tN NAME". A number or a name: that thread's samples alone */
	const char *member; /* of a bundle, that of this name, or those of this pid or role; NULL: all, added up. A
	                       bundle without such a member is JPROF_E_MEMBER; other files have none */
	const void *table; /* the table of Ruby stacks (docs/internals/ruby-table.md) of the dump that is read, in place
	                      of the one beside it. Since: 0.2 */
	size_t table_len;  /* of a dump in text; a bundle's members have their own, and jprof_profile_new its dump's */
	const char
	    *worker;   /* samples stay apart from those of others, in a sum too, and are labelled so; views add them up
	                  unless their labels are asked for. "*": each member of a bundle by its place in a service,
	                  "master" or "worker 0", where it has one. NULL: not. Of dumps in text. Since: 0.2 */
	bool dumpless; /* a bundle whose members have no dump is a profile without samples, which has what else the
	                  bundle has of their processes; else it is JPROF_E_FORMAT. Since: 0.2 */
	enum jprof_heap heap; /* of dumps in text with a table. Samples of slots have no thread: with `thread` there are
	                         none, and with "*" they have no label. Since: 0.2 */
	enum jprof_samples samples; /* of a bundle's members. Since: 0.2 */
};

/* A profile of a dump, each stack's counters scaled by 1/(1-exp(-(bytes/objects)/rate)), which
 * is jemalloc's inverse of sampling. `opts` may be NULL. A thread that the dump does not know is
 * JPROF_E_ARGUMENT. The profile keeps nothing of the dump or the maps. Since: 0.1 */
JPROF_API int jprof_profile_new(const struct jprof_dump *dump, const struct jprof_profile_opts *opts,
                                struct jprof_profile **profile, struct jprof_error *err);

/* The same of a dump that is not needed whole any more: the profile takes its stacks, which saves memory and time. The
 * dump still has its info, threads, maps and warnings; another profile of it is JPROF_E_ARGUMENT, whether or not this
 * one could be made. Where the options are refused nothing is taken. Since: 0.2 */
JPROF_API int jprof_profile_take(struct jprof_dump *dump, const struct jprof_profile_opts *opts,
                                 struct jprof_profile **profile, struct jprof_error *err);

/* Reads a profile of any kind: what jprof_dump_parse reads, profile.proto of any producer, compressed or
 * not, and bundles. Names and threads that come with it are kept. What is faulty after a sound part is left out with
 * one note; where nothing is sound, JPROF_E_FORMAT. `name` is used in messages and may be NULL. The profile keeps
 * nothing of `data`. Since: 0.1 */
JPROF_API int jprof_profile_parse(const void *data, size_t len, const char *name, const struct jprof_profile_opts *opts,
                                  struct jprof_profile **profile, struct jprof_error *err);

/* The same for a file or pipe; "-" is standard input. Since: 0.1 */
JPROF_API int jprof_profile_open(const char *path, const struct jprof_profile_opts *opts,
                                 struct jprof_profile **profile, struct jprof_error *err);

/* What the input of a profile held. */
struct jprof_profile_info {
	const char *format;  /* "heap_v2", "profile.proto" ...; "" without a dump; static */
	uint64_t rate;       /* mean bytes between two samples; 0: not sampled, or not known */
	size_t stacks;       /* read, with another count for each thread where threads are kept apart */
	size_t addresses;    /* distinct code addresses in them */
	size_t depth;        /* frames of the deepest stack */
	size_t inputs;       /* 1; more after adding, which leaves the rest as it was in the first */
	bool has_alloc;      /* with what was ever allocated: made with prof_accum:true */
	const char *members; /* of a bundle: those that are in it, "17 (master), 21 (worker)"; else "" */
	size_t synthetic;    /* distinct addresses that stand for Ruby stacks and epochs (docs/internals/ruby-table.md),
	                      * and were    taken off their stacks. Since: 0.2 */
	bool has_ruby;       /* stacks have frames of Ruby, JPROF_SOURCE_RUBY. Since: 0.2 */
	bool has_slots;      /* objects in slots of Ruby's own heap were sampled, and are in it. Since: 0.2 */
};

/* What the profile was made of; it lives as long as the profile. Since: 0.1 */
JPROF_API const struct jprof_profile_info *jprof_profile_info(const struct jprof_profile *profile);

/* Frees the profile, after its views; NULL is fine. Since: 0.1 */
JPROF_API void jprof_profile_free(struct jprof_profile *profile);

/* ---- Profiles: sums and differences ---------------------------------------------------------------------- */

/* Adds `other` to `profile`. Stacks match by object file and offset, so those of runs with other load addresses match
 * too. The names that came with the input of `other` are taken over, and its notes. Profiles whose inputs were folded
 * differently (profile.proto, --raw) have different stacks; their rows match by name. Before names are found: of a
 * profile that was symbolized it is JPROF_E_ARGUMENT. A failure leaves `profile` as it was. Since: 0.2 */
JPROF_API int jprof_profile_add(struct jprof_profile *profile, const struct jprof_profile *other,
                                struct jprof_error *err);

/* Makes `profile` the difference: what it holds more than `base`. It remembers what each stack had in the base, of each
 * counter and thread. All else as for jprof_profile_add. Since: 0.2 */
JPROF_API int jprof_profile_difference(struct jprof_profile *profile, const struct jprof_profile *base,
                                       struct jprof_error *err);

/* ---- Profiles: totals, threads and objects --------------------------------------------------------------- */

/* Sum of one counter over all stacks, in bytes or objects; NAN for a counter that does not exist. Since: 0.1 */
JPROF_API double jprof_profile_total(const struct jprof_profile *profile, enum jprof_counter counter);

/* The same over what one heap holds; `base`: of what was subtracted, NAN where nothing was. Since: 0.2 */
JPROF_API double jprof_profile_heap_total(const struct jprof_profile *profile, enum jprof_heap heap,
                                          enum jprof_counter counter, bool base);

/* The same over the stacks of one thread label, as jprof_profile_thread has it. Since: 0.1 */
JPROF_API double jprof_profile_thread_total(const struct jprof_profile *profile, enum jprof_counter counter,
                                            const char *thread);

/* The share, from 0 to 1, of what was added that has stacks which jemalloc cut at its limit of frames (128): their
 * outermost callers are missing. Stacks that go on in Ruby are whole. Since: 0.2 */
JPROF_API double jprof_profile_cut(const struct jprof_profile *profile, enum jprof_counter counter);

/* Number of thread labels. Since: 0.1 */
JPROF_API size_t jprof_profile_threads(const struct jprof_profile *profile);

/* The i-th thread label, from 0: t2 before t10. It lives as long as the profile. Since: 0.1 */
JPROF_API const char *jprof_profile_thread(const struct jprof_profile *profile, size_t i);

/* Number of tags that its stacks may have: 0 of a program that says none. Since: 0.2 */
JPROF_API size_t jprof_profile_tags(const struct jprof_profile *profile);

/* Number of object files and other regions that the input maps. Since: 0.2 */
JPROF_API size_t jprof_profile_objects(const struct jprof_profile *profile);

/* The path of the i-th, from 0, as the maps have it: a name in brackets, or "" where there is no file. It lives as long
 * as the profile. Since: 0.2 */
JPROF_API const char *jprof_profile_object(const struct jprof_profile *profile, size_t i);

/* ---- Profiles: finding names ----------------------------------------------------------------------------- */

/* What is to be opened of that which a live process sees. Paths are its own; links are followed below its root,
 * and none leads out of it. */
enum jprof_open {
	JPROF_OPEN_FILE,   /* a regular file, for reading */
	JPROF_OPEN_DUMP,   /* the same; the path's last component is no link */
	JPROF_OPEN_CGROUP, /* the same, and it lies in a control group's file system */
	JPROF_OPEN_DIR,    /* a directory, for reading and searching */
	JPROF_OPEN_SOCKET, /* a stream socket: connected, close-on-exec, non-blocking, with SO_PASSCRED */
	JPROF_OPEN_MAPPED, /* a file that it has mapped; the path is START-LIMIT, as in /proc/PID/map_files */
};

struct stat;

/* Opens files for the library with the rights of one live process: a caller with more rights must not lend them to it.
 * Paths without a leading slash begin at its working directory. */
struct jprof_opener {
	/* A descriptor, and in *st what fstat reports of the file; or -1 with errno set: EINVAL where it is not of that
	 * kind. It can be read without waiting: of a file system that may hang it is a copy in memory. */
	int (*open)(void *context, enum jprof_open what, const char *path, struct stat *st);

	/* Removes a file, if it is still that of `st`. 0, or -1 with errno set: ESTALE where it is another. */
	int (*remove)(void *context, const char *path, const struct stat *st);
	void *context;
};

/* Calls the program with the fstat of each file that the library opened because a dump, debug information, a directory
 * or a process led to it, for those who must not write onto what was read. Since: 0.2 */
struct jprof_notice {
	void (*opened)(void *context, const struct stat *st);
	void *context;
};

/* A question for names: bytes of the library's own, and the open files that these refer to by number. */
struct jprof_name_question {
	const void *data;
	size_t len;
	const int *files; /* the caller's descriptors; the first is that of the object file */
	size_t file_count;
	size_t places; /* for which names are asked */
};

/* Finds names in place of the library: in a process that can do no harm, because symbols and debug information of
 * others may make it crash, spin or do anything. */
struct jprof_name_finder {
	/* *answer gets memory to be freed by free(): the *len bytes that jprof_names_answer wrote. They are read as
	 * anybody's. Or a negative code with err->text, which completes a sentence about the files: then what has to be
	 * read for these names is not used. JPROF_E_NOMEM ends everything. */
	int (*find)(void *context, const struct jprof_name_question *question, void **answer, size_t *len,
	            struct jprof_error *err);
	void *context;
};

struct jprof_symbolize_opts {
	size_t size;
	const char *program;    /* ELF file of the main program, if its mapped path does not lead to it */
	const char *sysroot;    /* the directory below which all paths of the dump are looked up */
	const char *lib_prefix; /* comma-separated directories tried first: P/a/b/c.so, P/b/c.so, P/c.so */

	/* Comma-separated files that stand in for mapped ones which are not there or are another build:
	 * those of the same file name, then those whose program headers fit. One whose build-id is that of a
	 * file in use gives its debug information. */
	const char *add_lib;

	/* Comma-separated directories searched for separate debug files before /usr/lib/debug; as a path
	 * below sysroot first, then as it stands. /usr/lib/debug itself is looked up below sysroot only. */
	const char *debug_dir;

	/* What is missing after that is asked for by build-id at the servers of $DEBUGINFOD_URLS. The
	 * first that does not answer within $DEBUGINFOD_TIMEOUT seconds (30 if not set) ends the asking. */
	bool debuginfod;

	/* Packs of names (docs/internals/packs.md), for functions of files that have neither debug information nor
	 * .symtab: comma-separated files, each of which must be a pack, and directories with files NAME.jnames, which
	 * need not be there. NULL: none. Since: 0.2 */
	const char *names, *names_dirs;

	/* A directory in which names that were found are kept, and looked for first: the same names come of it. It is
	 * made if it is not there, and not used where it belongs to somebody else or others can write it. What was used
	 * longest ago is removed from it when it has more than `cache_most` bytes (0: 256 MiB). NULL: none. Since: 0.2
	 */
	const char *cache;
	uint64_t cache_most;

	/* A JIT compiler's list of its code (the format of /tmp/perf-PID.map of Linux perf). */
	const char *perf_map;

	/* If not 0, and perf_map is NULL: /tmp/perf-PID.map of this process (below sysroot) is used if it
	 * is there, is a regular file, and belongs to the caller or root and nobody else may write to it. */
	uint64_t perf_map_pid;
	unsigned perf_map_uid; /* it may belong to this user, too */

	/* The process of the dump, if it is alive here: mapped files that were deleted are read through its
	 * /proc/PID/map_files, where the caller may. 0: none. The caller makes sure that it is the process. */
	int live_pid;

	/* With live_pid: opens what lies below sysroot, which is the process's root; NULL: it is opened as any file.
	 * Then .dwo files are not read, which libdw opens by itself. It is not used after the call. */
	const struct jprof_opener *opener;
	bool no_lookup; /* no file is looked for: what has no name from the input is FILE+0xOFFSET */

	/* Addresses without any name get no function, which saves most of the memory where there are millions of them.
	 * Of such a profile there are views without errors, and of these the table, the report "text" and coverage; all
	 * else is JPROF_E_ARGUMENT. The function's name in jprof_profile_frames is "" there. */
	bool lean;
	const struct jprof_notice *notice; /* NULL: nobody is called. It is not used after the call. Since: 0.2 */

	/* Finds the names; NULL: the library does, in this process. A file whose names it does not find is noted. It is
	 * not used after the call. Since: 0.2 */
	const struct jprof_name_finder *finder;
};

/* Gives every address a function, file and line where they can be known: see enum jprof_source. Names that came with
 * the input stay. Files that the dump names are only ever opened if they are regular files. `opts` may be NULL.
 * An address that cannot be named is no error; jprof_coverage_new counts them. A perf_map that cannot be read is one.
 *
 * From here on the profile does not change: a second call does nothing, whatever its options. Since: 0.1 */
JPROF_API int jprof_profile_symbolize(struct jprof_profile *profile, const struct jprof_symbolize_opts *opts,
                                      struct jprof_error *err);

/* Takes from the text of an agent's side-car (docs/internals/agent.md) which builds of its files the process had: proof
 * for or against what is found when symbolizing. A text that is no side-car changes nothing. For the profile of that
 * one dump, before anything is added, and before it is symbolized. Since: 0.1 */
JPROF_API int jprof_profile_sidecar(struct jprof_profile *profile, const void *data, size_t len,
                                    struct jprof_error *err);

/* The same for the file PATH.json beside the dump PATH (where that is compressed, also without its ending), if it is
 * the side-car of a dump of that name; jprof_profile_open does it. None, and one that cannot be read, is no error.
 * Since: 0.2 */
JPROF_API int jprof_profile_find_sidecar(struct jprof_profile *profile, const char *path, struct jprof_error *err);

/* ---- Profiles: remarks ----------------------------------------------------------------------------------- */

/* Number of remarks for the user that arose while reading and symbolizing. Since: 0.1 */
JPROF_API size_t jprof_profile_notes(const struct jprof_profile *profile);

/* The i-th remark, from 0: one line, and none comes twice. It lives as long as the profile. Since: 0.1 */
JPROF_API const char *jprof_profile_note(const struct jprof_profile *profile, size_t i);

/* What would help against the i-th remark. Since: 0.2 */
JPROF_API enum jprof_advice jprof_profile_note_advice(const struct jprof_profile *profile, size_t i);

/* ---- Profiles: errors of estimates ----------------------------------------------------------------------- */

/* How far a number may be off that was estimated from samples: docs/internals/statistics.md. In the number's own
 * unit, objects or bytes. All NAN but `samples` where the input does not say how it was sampled. */
struct jprof_range {
	double error;      /* standard error */
	double low;        /* with 95 % confidence the truth lies between these two */
	double high;       /* ... */
	double samples;    /* sampled objects that it rests on; in a difference those that changed */
	bool few_samples;  /* below 10, and the error is above a tenth: the number may be far off */
	bool within_error; /* of a difference: the interval holds 0, so there may be no change at all */
};

/* What is known of the processes of a profile beside their stacks, added up: in bytes, NAN where it is not known of
 * each of them. A process that forked from another counts what they share as its own, but in pss. */
struct jprof_outside {
	unsigned processes; /* 0: the input tells of none */
	bool related;       /* some of them have a common past, so that the profile has what they share several times */
	double rss_anon;    /* RssAnon of /proc/PID/status: memory that has no file behind it */
	double pss;         /* Pss of /proc/PID/smaps_rollup: shared memory counts once */
	double gc_heap;     /* Ruby's GC heap, by GC.stat: no allocation of malloc, and so in no stack */
	double kept;        /* by jemalloc: resident less allocated of its stats, which are free pages, the gaps between
	                       objects, and its own data */
};

/* Of what was added, or of what was subtracted. Since: 0.2 */
JPROF_API void jprof_profile_outside(const struct jprof_profile *profile, bool base, struct jprof_outside *outside);

/* What /proc, jemalloc and Ruby tell of the memory of a profile's processes, in bytes if not said otherwise. Those from
 * ALLOCATED on are of the moment of the dump, the others of the moment at which it was collected. */
enum jprof_figure {
	JPROF_FIGURE_RSS,       /* /proc/PID/status: the sum of the next three */
	JPROF_FIGURE_RSS_ANON,  /* without a file behind it */
	JPROF_FIGURE_RSS_FILE,  /* of mapped files */
	JPROF_FIGURE_RSS_SHMEM, /* shared memory, memfds */
	JPROF_FIGURE_SWAP,      /* swapped out, and so in none of these */
	JPROF_FIGURE_PSS,       /* /proc/PID/smaps_rollup: shared memory counts once */
	JPROF_FIGURE_SHARED,    /* the part of RSS_ANON that another process has, too, since a fork: Shared_Dirty */
	JPROF_FIGURE_STACKS,    /* /proc/PID/smaps: stacks of threads, as far as they were touched */
	JPROF_FIGURE_JIT,       /* code without a file */
	JPROF_FIGURE_COPIES,    /* pages of mapped files that the process has changed: part of RSS_ANON */
	JPROF_FIGURE_ALLOCATED, /* jemalloc's stats.allocated */
	JPROF_FIGURE_ACTIVE,    /* and stats.active: the pages that hold this */
	JPROF_FIGURE_METADATA,  /* jemalloc's own data */
	JPROF_FIGURE_INTERNAL,  /* the part of it that is allocated as objects are: the profiler's stacks, caches */
	JPROF_FIGURE_DIRTY,     /* pages that were freed and not given back */
	JPROF_FIGURE_MUZZY,     /* likewise; the kernel may take them */
	JPROF_FIGURE_CACHED,    /* objects that were freed and wait in a thread's cache: part of ALLOCATED */
	JPROF_FIGURE_PADDING, /* of ACTIVE: a page for each object that the profiler sampled, and that is not touched */
	JPROF_FIGURE_LARGE_PADDING, /* of ACTIVE: a page for each other object of 14 KiB and more, which begins anywhere
	                               in its first page (cache_oblivious) */
	JPROF_FIGURE_GC_HEAP,       /* the pages of Ruby's GC heap */
	JPROF_FIGURE_GC_FREE, /* the part of them that is free slots; where all slots have one size: before Ruby 3.2 */
	JPROF_FIGURE_SAMPLED, /* objects below 16 KiB that are sampled: jemalloc puts each on pages of its own */
	JPROF_FIGURE_SAMPLED_SPACE, /* and what these hold */
	JPROF_FIGURE_PAGE,          /* the allocator's page, once for each process */
	JPROF_FIGURE_GC_LIVE,       /* of GC_HEAP as much as the share of its slots that hold an object */
	JPROF_FIGURE_GC_RUN,        /* no bytes: processes whose Ruby collected its garbage right before the dump */
	JPROF_FIGURE_SPACE,         /* jemalloc's stats.mapped: of that the kernel may not have given all pages yet */
	JPROF_FIGURE_MAPPED_SPACE, /* /proc/PID/smaps: mappings without a file and without a reserve (MAP_NORESERVE), as
	                              jemalloc makes them, */
	JPROF_FIGURE_MAPPED,       /* ... and what of these is touched */
	JPROF_FIGURE_PAST,         /* likewise of all others without a file, less stacks, code and TRANSIENT */
	JPROF_FIGURE_TABLES,       /* jprof's own: Ruby stacks that the agent keeps, as far as they were touched */
	JPROF_FIGURE_TRANSIENT,    /* Ruby's heap for young arrays, hashes and objects, which Rubies to 3.2 have */
	JPROF_FIGURE_LARGE,        /* of ALLOCATED: objects that have pages of their own, but for SAMPLED */
	JPROF_FIGURE_VM_STACKS,    /* of LARGE, in a Ruby from 3.3 on: objects of 1 MiB, as many as there are threads at
	                              most: a thread's stack in the interpreter, of which it touches a few pages */
	JPROF_FIGURE_ARENAS,       /* of a Ruby with glibc's malloc: free places in its arenas but the main one */
	JPROF_FIGURE_UNREACHABLE,  /* live memory to which no pointer was found, where that was looked for */
	JPROF_FIGURE_V8,           /* heaps of V8, for JavaScript, as far as they are in memory */
	JPROF_FIGURE_SAMPLED_COUNTED, /* of ALLOCATED: what jemalloc counts there for SAMPLED, which is more than
	                                 SAMPLED_SPACE up to 5.3.0, and nothing for most in 5.3.1 */
	JPROF_FIGURE_SAMPLED_PAGES,   /* of ACTIVE: their pages, without PADDING */
	JPROF_FIGURES
};

/* A figure, added up over the processes, of what was added or of what was subtracted. NAN where it is not known of each
 * of them. Since: 0.2 */
JPROF_API double jprof_profile_figure(const struct jprof_profile *profile, bool base, enum jprof_figure figure);

/* How a process's allocator and interpreter are set up. */
struct jprof_settings {
	bool known;
	bool background_thread;
	int64_t dirty_decay_ms; /* -1: never; -2: not known */
	unsigned arenas;        /* at most */
	unsigned arenas_used;   /* that have memory in use; 0: not known */
	char ruby[24];          /* its version, or "" */
};

/* What was seen of a process's own memory, from outside. */
struct jprof_heap_seen {
	char jemalloc[32]; /* its version, as far as its tables tell: "5.3.0"; "": none was seen */
	char malloc[16];   /* of a Ruby without: "glibc", "musl", "tcmalloc"; "" */
	unsigned arenas;   /* then: of glibc's malloc, of all processes */
	uint64_t caches;   /* of threads */
	bool caches_known; /* false: what lies in caches of threads counts as live */
	uint64_t torn,
	    misfits;      /* extents, and objects in caches, that changed while they were read, and are left out */
	bool cut;         /* there was more than is ever read */
	bool core;        /* it was a core */
	uint64_t missing; /* then: bytes of it that were cut off */
	bool samples;     /* it runs with prof:true */
	uint64_t rate;    /* then: bytes between two samples, in the mean; 0: its records of samples are not known */
	const char *graph_why; /* why the graph of Ruby's objects, which was asked for, was not written; NULL. Static */
};

/* The control group that a process is in, in bytes; NAN: not known. */
struct jprof_group {
	bool known;
	double current, limit; /* what counts against the limit; INFINITY: there is none */
	double cache;          /* the part of it that is file pages */
	double anon;           /* the part that is memory of processes */
};

/* Of the process that was added last. Since: 0.2 */
JPROF_API void jprof_profile_settings(const struct jprof_profile *profile, struct jprof_settings *settings);

/* Likewise. Since: 0.2 */
JPROF_API void jprof_profile_group(const struct jprof_profile *profile, struct jprof_group *group);

/* The name that all of its processes were started with, without folders, as their side-cars have it: of a file with
 * several names the one that was meant. NULL: not known, or several. It lives as long as the profile. Since: 0.2 */
JPROF_API const char *jprof_profile_started_as(const struct jprof_profile *profile);

/* Whose memory a profile has, of what was added. The texts live as long as the profile. Since: 0.2 */
struct jprof_service {
	const char
	    *title; /* of a process, a master's if there is one: "puma 5.6.5 (tcp://...) [shop]"; "": not known */
	const char *program; /* path of the main program, or "" */
	const char *started; /* as jprof_profile_started_as(); "": not known, or several */
	size_t processes;    /* 0: not known */
	size_t workers;      /* of which these are */
};

/* Zero and "" of NULL. Since: 0.2 */
JPROF_API void jprof_profile_service(const struct jprof_profile *profile, struct jprof_service *service);

/* Seconds since the epoch at which the newest dump was made, of what was added; 0: not known. Since: 0.2 */
JPROF_API int64_t jprof_profile_time(const struct jprof_profile *profile);

/* Whether a difference has samples, all of them are equal on both sides, and these may be of one process. It is of one
 * dump then, or of two of a process that allocated and freed nothing in between: only times tell which. 1 or 0,
 * or JPROF_E_NOMEM. Since: 0.2 */
JPROF_API int jprof_profile_unchanged(const struct jprof_profile *difference);

/* When the dumps in a file were made, the first and the last, in thousandths of a second since the epoch. Both are 0
 * where something does not say: a plain dump without its side-car, a profile.proto. */
struct jprof_made {
	int64_t first, last;
};

/* Stores in *made what a bundle says, or the side-car beside a dump. The file is not read from a pipe, which could not
 * be read again. Since: 0.2 */
JPROF_API int jprof_made_open(const char *path, struct jprof_made *made, struct jprof_error *err);

/* Stores in *range that of the sum of one counter over all stacks. Since: 0.1 */
JPROF_API void jprof_profile_range(const struct jprof_profile *profile, enum jprof_counter counter,
                                   struct jprof_range *range);

/* Why this profile's ranges are wider than need be, in words; "" where they are exact. Static. Since: 0.1 */
JPROF_API const char *jprof_profile_bound(const struct jprof_profile *profile, enum jprof_counter counter);

/* ---- Profiles: their stacks ------------------------------------------------------------------------------ */

/* One function of a stack. Its texts live as long as the profile. */
struct jprof_frame {
	const char *function; /* short name, or what stands for it */
	const char *full;     /* with parameters */
	const char *file;     /* NULL: not known */
	unsigned line;        /* 0: not known */
	bool inlined;         /* into the next frame */
	bool named;           /* `function` is a function's name */
	uint64_t address;     /* as looked up, in the first process that had it */
	const char *object;   /* path of its object file */
};

/* Number of stacks, with another count for each thread where threads are kept apart. Since: 0.1 */
JPROF_API size_t jprof_profile_stacks(const struct jprof_profile *profile);

/* What the i-th stack, from 0, holds of a counter, in bytes or objects; below 0 in some differences. Since: 0.1 */
JPROF_API double jprof_profile_value(const struct jprof_profile *profile, size_t i, enum jprof_counter counter);

/* Writes the frames of the i-th stack, innermost first, at most `cap` of them. Returns how many there are. Before
 * jprof_profile_symbolize only names of the input are known. Since: 0.1 */
JPROF_API size_t jprof_profile_frames(const struct jprof_profile *profile, size_t i, struct jprof_frame *frames,
                                      size_t cap);

/* ---- Bundles: reading them ------------------------------------------------------------------------------- */

/* A .jprof file holds one member for each process: its dump, the names of the dump's addresses, and what
 * else was gathered. docs/internals/bundle.md has the format. */
struct jprof_bundle;

/* What is known of one process of a bundle. Texts may be NULL when a bundle is written: not known. What is
 * read has "" there. */
struct jprof_bundle_member {
	size_t size;          /* of this struct */
	const char *name;     /* of the member in the bundle; NULL to a writer: the pid, made unique */
	uint64_t pid;         /* 0: not known */
	uint64_t start_ticks; /* since boot, field 22 of /proc/PID/stat; 0: not known */
	const char *boot_id;  /* of /proc/sys/kernel/random/boot_id */
	const char *program;  /* path of the executable */
	const char *title;    /* of the process: the first word of its command line, without arguments */
	const char *role;     /* "master", "worker" or "" */
	const char *label;    /* given by the user: "boot" */
	int64_t time;         /* when the dump began, in seconds since the epoch; 0: not known */
};

struct jprof_bundle_info {
	uint64_t version; /* of the format: 1 */
	const char *tool; /* that wrote it: "jprof 0.2.0" */
	const char *label;
	int64_t time; /* when it was made, in seconds since the epoch; 0: not known */
};

/* Reads a bundle: a tar inside zstd or gzip, or bare. Of one that is cut the members that have their dump are
 * read; jprof_bundle_warning says so. Anything else is JPROF_E_FORMAT, and one of a version that this library
 * does not know JPROF_E_UNSUPPORTED. `name` is used in messages and may be NULL. Nothing of `data` is kept.
 * Since: 0.1 */
JPROF_API int jprof_bundle_parse(const void *data, size_t len, const char *name, struct jprof_bundle **bundle,
                                 struct jprof_error *err);

/* The same for a file or pipe; "-" is standard input. Since: 0.1 */
JPROF_API int jprof_bundle_open(const char *path, struct jprof_bundle **bundle, struct jprof_error *err);

/* What is known of the bundle as a whole; it lives as long as the bundle. Since: 0.1 */
JPROF_API const struct jprof_bundle_info *jprof_bundle_info(const struct jprof_bundle *bundle);

/* Number of members, at least 1. Since: 0.1 */
JPROF_API size_t jprof_bundle_count(const struct jprof_bundle *bundle);

/* The i-th member, from 0, in the order of the file; it lives as long as the bundle. Since: 0.1 */
JPROF_API const struct jprof_bundle_member *jprof_bundle_member(const struct jprof_bundle *bundle, size_t i);

/* The first member from index `from` on whose name is `wanted` (NULL: any); where no member has that name,
 * whose pid, and then whose role is. jprof_bundle_count() if there is none. Since: 0.1 */
JPROF_API size_t jprof_bundle_find(const struct jprof_bundle *bundle, const char *wanted, size_t from);

/* A file of the i-th member, by its name there: "dump.heap", "smaps_rollup" ...; NULL if there is none. It is
 * followed by a NUL that does not count. `len` may be NULL. Since: 0.1 */
JPROF_API const void *jprof_bundle_file(const struct jprof_bundle *bundle, size_t i, const char *file, size_t *len);

/* What is wrong with the bundle without making it useless; NULL: nothing. Since: 0.1 */
JPROF_API const struct jprof_error *jprof_bundle_warning(const struct jprof_bundle *bundle);

/* The profile of the i-th member's dump, with the names that the bundle has for it: symbolizing keeps them and
 * looks for files only where those, proven by build-id, could add more. Since: 0.1 */
JPROF_API int jprof_bundle_profile(const struct jprof_bundle *bundle, size_t i, const struct jprof_profile_opts *opts,
                                   struct jprof_profile **profile, struct jprof_error *err);

/* The difference of the members that opts->member asks for, process by process: each less what the same process had in
 * `base`, or else the one whose place it took (its role, and its number among the workers), and all of that added up.
 * What was replaced, or is on one side only, is noted. Since: 0.2 */
JPROF_API int jprof_bundle_difference(const struct jprof_bundle *bundle, const struct jprof_bundle *base,
                                      const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                                      struct jprof_error *err);

/* Frees the bundle; profiles of it stay; NULL is fine. Since: 0.1 */
JPROF_API void jprof_bundle_free(struct jprof_bundle *bundle);

/* ---- Bundles: writing them ------------------------------------------------------------------------------- */

/* Takes `len` bytes; returns 0, or anything else to stop. */
typedef int jprof_write_fn(void *context, const void *data, size_t len);

enum jprof_compression {
	JPROF_COMPRESS_BEST, /* zstd */
	JPROF_COMPRESS_ZSTD,
	JPROF_COMPRESS_GZIP,
};

struct jprof_bundle_writer_opts {
	size_t size;
	enum jprof_compression compression;
	const char *label; /* of the whole bundle; NULL: none */
	int64_t time;      /* seconds since the epoch; 0: not known. The library itself stores no time in a bundle */
};

/* Writes a bundle: for each process jprof_bundle_writer_member, then its files; then jprof_bundle_writer_finish. What
 * was given is kept compressed in memory until then, for the first thing in a bundle is the list of all that
 * is in it. Equal calls write equal bytes. After a failure in the middle of a file, and after _finish, all calls but
 * _free are JPROF_E_ARGUMENT. */
struct jprof_bundle_writer;

/* Nothing is written before jprof_bundle_writer_finish. `opts` may be NULL. Since: 0.1 */
JPROF_API int jprof_bundle_writer_new(const struct jprof_bundle_writer_opts *opts, jprof_write_fn *write, void *context,
                                      struct jprof_bundle_writer **writer, struct jprof_error *err);

/* Begins a member; `member` may be NULL and is copied. If its first file is agent.json, the agent's side-car, what
 * `member` leaves open is taken from there. Since: 0.1 */
JPROF_API int jprof_bundle_writer_member(struct jprof_bundle_writer *writer, const struct jprof_bundle_member *member,
                                         struct jprof_error *err);

/* Adds a file to the member: docs/internals/bundle.md lists the names; others are kept, too. A name is 1 to 64 of
 * A-Za-z0-9._- and no file has it yet; else JPROF_E_ARGUMENT. Since: 0.1 */
JPROF_API int jprof_bundle_writer_file(struct jprof_bundle_writer *writer, const char *file, const void *data,
                                       size_t len, struct jprof_error *err);

/* The same from where an open file stands to its end, a piece at a time; a pipe or a file of /proc, whose
 * length cannot be known, is read into memory first. It is not closed. Since: 0.1 */
JPROF_API int jprof_bundle_writer_fd(struct jprof_bundle_writer *writer, const char *file, int fd,
                                     struct jprof_error *err);

/* Adds what symbolizing found to the member: its names (symbols.pb.gz), what else folding and `info` need
 * (symbols.json), and the proven build-ids. `profile` is that of the member's dump alone, symbolized. Without `names`
 * only the build-ids: the reader will look for the files itself. Since: 0.1 */
JPROF_API int jprof_bundle_writer_symbols(struct jprof_bundle_writer *writer, const struct jprof_profile *profile,
                                          bool names, struct jprof_error *err);

/* Writes all of it. A bundle without a member is JPROF_E_ARGUMENT, a failing `write` JPROF_E_WRITE. Since: 0.1 */
JPROF_API int jprof_bundle_writer_finish(struct jprof_bundle_writer *writer, struct jprof_error *err);

/* Frees the writer, finished or not; NULL is fine. Since: 0.1 */
JPROF_API void jprof_bundle_writer_free(struct jprof_bundle_writer *writer);

/* ---- Names: where they come from ------------------------------------------------------------- */

/* Where a name comes from, from none to best. Only after JPROF_SOURCE_FDE it is a function's name. */
enum jprof_source {
	JPROF_SOURCE_NONE,       /* file and offset only */
	JPROF_SOURCE_FDE,        /* a function's bounds from .eh_frame: FILE!0xSTART */
	JPROF_SOURCE_REGISTERED, /* what Ruby calls the function, by the file's code: docs/internals/packs.md. Since:
	                            0.2 */
	JPROF_SOURCE_PACK,       /* a pack of names, by the function's content: docs/internals/packs.md. Since: 0.2 */
	JPROF_SOURCE_DYNSYM,     /* an exported symbol whose [value, value+size) holds the address */
	JPROF_SOURCE_SYMTAB,     /* a symbol of .symtab, likewise; also that of MiniDebugInfo */
	JPROF_SOURCE_JIT,        /* a JIT compiler's own list: jprof_symbolize_opts.perf_map */
	JPROF_SOURCE_DWARF,      /* debug information, with lines and inlined functions */
	JPROF_SOURCE_INPUT,      /* the input came with names */
	JPROF_SOURCE_RUBY,       /* a frame of Ruby, out of the table beside the dump. Since: 0.2 */
	JPROF_SOURCES
};

/* Whether the file that gave the names is the one that ran. */
enum jprof_proof {
	JPROF_PROOF_NO_FILE,      /* no file there: nothing was named */
	JPROF_PROOF_CONTRADICTED, /* a different file: nothing was named */
	JPROF_PROOF_UNVERIFIED,   /* neither proof nor contradiction */
	JPROF_PROOF_INODE,        /* the very inode that was mapped, by the dump's maps */
	JPROF_PROOF_BUILD_ID,     /* the build-id that the input has */
	JPROF_PROOF_INPUT,        /* no file was needed: the input came with all names */
};

struct jprof_names_opts {
	size_t size;
	const char *soname; /* what the library is loaded as; NULL: as it says itself, or its name */
	const char *version, *source, *distribution; /* of the package that it is from; NULL: not known */
	const struct jprof_name_finder *finder;      /* reads the file; NULL: the library does. Since: 0.2 */
};

/* Makes a pack of names (docs/internals/packs.md) of the ELF file at `path`, by the .symtab in it or in its debug file
 * (`debug`, may be NULL), and writes it: for jprof_symbolize_opts.names. The same files and options make the same
 * bytes. JPROF_E_FORMAT where there is no .symtab, JPROF_E_UNSUPPORTED for machines other than x86-64 and AArch64;
 * nothing is written then. `opts` may be NULL. Since: 0.2 */
JPROF_API int jprof_names_learn(const char *path, const char *debug, const struct jprof_names_opts *opts,
                                jprof_write_fn *write, void *context, struct jprof_error *err);

/* Answers a question for names (struct jprof_name_finder), and writes the answer at once: a pure function, which opens
 * nothing, asks for nothing but memory, and reads only `files`. `question->places` is not looked at. The bytes may be
 * anybody's: JPROF_E_FORMAT. JPROF_E_IO: the object file cannot be read. JPROF_E_UNSUPPORTED: code is to be decoded,
 * and the library that does it was not loaded when this process began. Since: 0.2 */
JPROF_API int jprof_names_answer(const struct jprof_name_question *question, jprof_write_fn *write, void *context,
                                 struct jprof_error *err);

/* What jprof_symbolize_opts.cache keeps. */
struct jprof_cache_sum {
	uint64_t files; /* one for each object file and what its names came from */
	uint64_t bytes;
	uint64_t most; /* how many bytes there may be, if the caller did not say */
};

/* How much is kept in the cache at `path`; nothing where there is no such directory. JPROF_E_IO where it is one that is
 * not used, or cannot be read. Since: 0.2 */
JPROF_API int jprof_cache_measure(const char *path, struct jprof_cache_sum *sum, struct jprof_error *err);

/* Removes all of it, which is *removed. Other files, and the directory, stay. Since: 0.2 */
JPROF_API int jprof_cache_empty(const char *path, struct jprof_cache_sum *removed, struct jprof_error *err);

/* ---- Object files: what an ELF file is to its loader ---------------------------------------- */

struct jprof_binary;

struct jprof_binary_info {
	unsigned bits;           /* 64 or 32 */
	unsigned machine;        /* e_machine, as <elf.h> numbers it */
	bool big_endian;         /* ... */
	const char *interpreter; /* the loader that it asks for; "": a library, or a static program */
	const char *libc;        /* "glibc" or "musl", by its loader or the libraries that it needs; "": not known */
	const char *build_id;    /* lower-case hex; "" if it has none */
};

/* Opens the ELF file at `path`, if it is a regular file. With `root` (not NULL) the path and all links on its way
 * are resolved below that directory. Since: 0.1 */
JPROF_API int jprof_binary_open(const char *root, const char *path, struct jprof_binary **binary,
                                struct jprof_error *err);
/* What its headers say; it lives as long as the binary. Since: 0.1 */
JPROF_API const struct jprof_binary_info *jprof_binary_info(const struct jprof_binary *binary);

/* The same by an opener, which outlives the binary; NULL: as above. Since: 0.2 */
JPROF_API int jprof_binary_open_by(const struct jprof_opener *opener, const char *root, const char *path,
                                   struct jprof_binary **binary, struct jprof_error *err);

/* Number of the libraries that it needs by itself (DT_NEEDED). Since: 0.1 */
JPROF_API size_t jprof_binary_needed_count(const struct jprof_binary *binary);

/* The name of the i-th of them, from 0, in its order; it lives as long as the binary. Since: 0.1 */
JPROF_API const char *jprof_binary_needed(const struct jprof_binary *binary, size_t i);

/* Whether one of its symbol tables defines `name`. False with errno ENOMEM: memory is short. Since: 0.1 */
JPROF_API bool jprof_binary_defines(const struct jprof_binary *binary, const char *name);

/* Whether it defines `name` for others: what is preloaded into a program sees only that. False with errno
 * ENOMEM: memory is short. Since: 0.2 */
JPROF_API bool jprof_binary_exports(const struct jprof_binary *binary, const char *name);

/* The best that names its functions: JPROF_SOURCE_DWARF, _SYMTAB or _DYNSYM, in the file or in a separate
 * debug file that belongs to it and lies where such files lie (below `root`). JPROF_SOURCE_NONE: memory is short.
 * Since: 0.1 */
JPROF_API enum jprof_source jprof_binary_source(struct jprof_binary *binary);

/* How many of its functions packs of names know, where nothing else names them, and how many it has by .eh_frame; both
 * are 0 where there is no pack of it. `names` and `names_dirs` as in struct jprof_symbolize_opts; the finder reads the
 * file, NULL: the library does. Since: 0.2 */
JPROF_API int jprof_binary_packed(struct jprof_binary *binary, const char *names, const char *names_dirs,
                                  const struct jprof_name_finder *finder, size_t *named, size_t *functions,
                                  struct jprof_error *err);

/* Closes the file and frees the binary; NULL is fine. Since: 0.1 */
JPROF_API void jprof_binary_free(struct jprof_binary *binary);

/* ---- Views --------------------------------------------------------------------------------- */

enum jprof_granularity {
	JPROF_BY_FUNCTION,
	JPROF_BY_LINE,
	JPROF_BY_FILE,
	JPROF_BY_ADDRESS,
	JPROF_BY_LIBRARY, /* by owner: "libxml2 via nokogiri.so" */
	JPROF_BY_SITE,  /* by line of Ruby, "app/models/user.rb:42 User#tags": flat is what was allocated there, by what
	                   is of Ruby itself, or native; where there is no Ruby, by function. Since: 0.2 */
	JPROF_BY_KIND,  /* by what kind of memory it is: "Ruby data", "native gems", "own code". Since: 0.2 */
	JPROF_BY_GROUP, /* likewise, with whose: "native gems: nokogiri 1.16.2". Since: 0.2 */
	JPROF_BY_TAG,   /* by what the program said it was at (docs/tags.md): "route GET /users/:id". Since: 0.2 */
};

/* Which frames of a stack there are, where the profile has frames of Ruby: jprof_profile_info.has_ruby. */
enum jprof_ruby {
	JPROF_RUBY_MERGED, /* the native part, and Ruby's frames outside of it */
	JPROF_RUBY_ONLY,   /* Ruby's alone; one frame stands for no Ruby stack */
	JPROF_RUBY_OFF,    /* the native part alone: what a reader without the table sees */
};

/* Name of the row of small objects that Ruby to 3.2 moved after a GC: nobody knows which line made them. Since: 0.2 */
#define JPROF_NO_CREATOR "after a GC: creator not known"

/* Where code comes from: of Ruby by its path. */
enum jprof_origin {
	JPROF_ORIGIN_NATIVE, /* it is none of Ruby's, or of several */
	JPROF_ORIGIN_APPLICATION,
	JPROF_ORIGIN_GEM,
	JPROF_ORIGIN_STDLIB, /* what Ruby brings in Ruby */
	JPROF_ORIGIN_VM,     /* Ruby's own methods, and marks for what is not known */
};

/* Which frames say how memory was got and not for what, and are taken away. */
enum jprof_fold {
	JPROF_FOLD_STD,   /* those of alloc, and what std of C++ and Rust does for its user: std::vector ... */
	JPROF_FOLD_NONE,  /* the allocator's alone, as in jeprof */
	JPROF_FOLD_ALLOC, /* and wrappers of malloc: zmalloc, ruby_xmalloc, __rust_alloc ... */
	JPROF_FOLD_VM,    /* those of std, and an interpreter's machinery between two useful frames: vm_exec_core ... */
	JPROF_FOLD_RAW,   /* none at all: stacks begin in the allocator */
};

/* Patterns are Perl regular expressions (PCRE2), found anywhere in a text; NULL or "" does nothing. They look at short
 * and full names of functions. One that begins with "lib:" looks at object files instead: by file name, and by what
 * they are called as owners, such as a gem; of stacks, one that begins with "group:" at what they are by group. Frames
 * are dropped first, then stacks, as in jeprof. */
/* Of which number of a row its ages are. Since: 0.2 */
enum jprof_ages {
	JPROF_AGES_NONE,
	JPROF_AGES_FLAT,
	JPROF_AGES_CUM,
};

struct jprof_view_opts {
	size_t size;
	enum jprof_counter counter;
	enum jprof_granularity granularity;
	enum jprof_fold fold;
	const char *retain;      /* keep only frames whose outermost function matches */
	const char *exclude;     /* drop those */
	const char *focus;       /* keep only stacks in which a function, a FILE:LINE or an address matches */
	const char *ignore;      /* drop those */
	const char *also_focus;  /* a second focus: both must match */
	const char *also_ignore; /* a second ignore */
	const char *thread;      /* of a profile with thread labels: those of this label, number or name; NULL: all */
	bool drop_negative;      /* negative values of a difference are 0 */
	bool full_names;         /* rows have names with parameters */
	bool errors;             /* how far each number may be off; "csv" and "json" want it */
	bool percent_of_base;    /* what was subtracted is 100 %, if anything was */
	bool short_names;        /* patterns look at short names alone, as jeprof's. Since: 0.2 */
	const char *fold_also;   /* functions that fold as an allocation wrapper does, beside those that are known */
	bool percent_of_changes; /* of a difference: all that grew and all that shrank together is, so that no share is
	                            above 100 %. Since: 0.2 */
	enum jprof_ruby ruby;    /* Since: 0.2 */
	const char *trim_path;   /* the first of these prefixes (comma-separated) that a path of Ruby begins
	                            with is taken off; else the directory that the process was in. "": paths are
	                            shown whole. Since: 0.2 */
	const char *rules;       /* by kind and by group: rules that go before those that are built in, in the format of
	                            docs/internals/parts.md; JPROF_E_FORMAT where a line is none. Since: 0.2 */
	size_t rules_len;
	enum jprof_ages ages; /* rows have ages. This and the next two are JPROF_E_ARGUMENT of a profile whose dumps
	                         do not say when its samples were allocated. Since: 0.2 */
	uint64_t older;       /* only what is at least so old, in milliseconds; 0: all */
	uint64_t newer;       /* only what is less old, likewise */
	const char *tag;      /* keep only stacks whose tag matches; no tag is an empty text. Since: 0.2 */
	bool labels; /* "proto": what differs in its worker (jprof_profile_opts) or age stays apart, and is labelled
	                with these. JPROF_E_ARGUMENT with `errors` or `ages`. Since: 0.2 */
	enum jprof_heap heap; /* of what the profile has, only what this heap holds. Since: 0.2 */
};

/* What is 100 %. */
enum jprof_shares {
	JPROF_SHARES_OF_ROWS,    /* what the rows have: all but what filters dropped */
	JPROF_SHARES_OF_BASE,    /* what was subtracted */
	JPROF_SHARES_OF_CHANGES, /* the changes of all stacks, without their signs */
};

/* What a view is of. */
struct jprof_view_info {
	enum jprof_counter counter;
	enum jprof_granularity granularity;
	bool full_names, errors;
	bool difference;          /* something was subtracted: values may have shrunk */
	const char *thread;       /* the label of its only thread; NULL: all that the profile has */
	const char *heading;      /* the thread's short name, for the line "Total (HEADING)"; NULL: of no one thread */
	double total;             /* of all stacks, those without frames too */
	struct jprof_range range; /* of the total; with opts->errors, else zero */
	double flat;              /* sum of the flat values of all rows */
	double percent_of;        /* what was given to be 100 %; 0: nothing, it is `flat` */
	size_t rows;              /* that are not of zeros alone */
	enum jprof_shares shares; /* of what percentages are. Since: 0.2 */
	double base;              /* of a difference, all that was subtracted. Since: 0.2 */
	const char *program;      /* path of the main program; NULL: not known. Since: 0.2 */
	enum jprof_ages ages;     /* Since: 0.2 */
	uint64_t older, newer;    /* as asked for, moved to the nearest border between epochs. Since: 0.2 */
	bool forked;              /* with ages: some of it came over a fork. Since: 0.2 */
};

/* A view: what to look at, and in which terms. It never changes; two reports of it, in either order, are what each is
 * alone. What a filter drops has no stack any more, but stays in the total. */
struct jprof_view;

/* Makes a view of a profile, which must be symbolized (else JPROF_E_ARGUMENT) and outlive its views. An unknown
 * counter, granularity, fold or thread, and a faulty pattern or one that takes too long, is JPROF_E_ARGUMENT. `opts`
 * may be NULL. Since: 0.2 */
JPROF_API int jprof_view_new(const struct jprof_profile *profile, const struct jprof_view_opts *opts,
                             struct jprof_view **view, struct jprof_error *err);

/* What the view is of; it lives as long as the view. Since: 0.2 */
JPROF_API const struct jprof_view_info *jprof_view_info(const struct jprof_view *view);

/* Number of thread labels; 0 for the view of one thread. Since: 0.2 */
JPROF_API size_t jprof_view_threads(const struct jprof_view *view);

/* Makes the view of the i-th thread label alone, from 0 (t2 before t10). The whole view must outlive it. An index past
 * the end is JPROF_E_ARGUMENT. Since: 0.2 */
JPROF_API int jprof_view_thread(const struct jprof_view *view, size_t i, struct jprof_view **part,
                                struct jprof_error *err);

/* Frees the view, after its tables, graphs and parts; NULL is fine. Since: 0.1 */
JPROF_API void jprof_view_free(struct jprof_view *view);

/* ---- Tables -------------------------------------------------------------------------------- */

/* What the ages of a row, in one dump, say of it: docs/ages.md, docs/internals/statistics.md. Since: 0.2 */
enum jprof_shape {
	JPROF_SHAPE_NONE, /* was not asked for */
	JPROF_SHAPE_FEW,  /* fewer than ten samples */
	JPROF_SHAPE_UNKNOWN,
	JPROF_SHAPE_STARTUP, /* there since the start, unchanged */
	JPROF_SHAPE_LEVELLED_OFF,
	JPROF_SHAPE_TURNOVER, /* old ones go as new ones come */
	JPROF_SHAPE_GROWING,
	JPROF_SHAPE_ONE_JUMP, /* all in one short time, kept since */
	JPROF_SHAPES          /* how many there are */
};

/* For programs: "levelled_off"; "" of JPROF_SHAPE_NONE and of what is no shape. Static. Since: 0.2 */
JPROF_API const char *jprof_shape_key(enum jprof_shape shape);

struct jprof_table_opts {
	size_t size;
	bool cum;       /* order by cumulative value */
	size_t top;     /* rows at most; 0: all */
	bool by_change; /* the largest change first, whatever its sign. Since: 0.2 */
};

struct jprof_table;

/* One row: `flat` is what was allocated right there, `cum` what was allocated there or in
 * something called from there (recursion counts once). */
struct jprof_row {
	const char *name;
	double flat;
	double cum;
	struct jprof_range flat_range; /* in a view with errors, else zero */
	struct jprof_range cum_range;
	const char *object;       /* path of the object file; NULL: several, or not known */
	const char *file;         /* source file; NULL likewise */
	unsigned line;            /* 0: several, or not known */
	enum jprof_source source; /* of the name, the least that one of its frames has; NONE by library */
	enum jprof_origin origin; /* Since: 0.2, as the next three */
	const char *library;      /* of Ruby: "application", "nokogiri 1.16.2"; else NULL, or several */
	const char *from;   /* by site, of a gem: the line of the application from which most of flat came, or NULL */
	double from_value;  /* and how much of flat that is */
	const char *what;   /* by group: what its memory is, by a rule, or NULL */
	const char *remedy; /* and what would make it less */
	double mean;      /* bytes of an object of flat, on average; NAN: not known, as in lean profiles. Since: 0.2 */
	double last_hour; /* in a view with ages: what was allocated in the hour before the dump, but not at startup; */
	double older;     /* before that, but not at startup; */
	double startup;   /* at the start of the process; */
	double before_fork;     /* and in a process from which it was forked. Since: 0.2, as the next two */
	enum jprof_shape shape; /* with ages, of no difference; */
	double shape_samples;   /* and how many sampled objects that rests on */
	double live; /* by a counter of what was ever allocated: how much of flat is in use, in the same unit; 0 of lean
	                profiles. Since: 0.2, as the next */
	double freed; /* and how much was freed */
};

/* The rows of a view, ordered by flat or cum descending (by_change: without their signs), then by name. Rows of only
 * zeros are left out. `opts` may be NULL. The view must outlive the table. Since: 0.1 */
JPROF_API int jprof_table_new(const struct jprof_view *view, const struct jprof_table_opts *opts,
                              struct jprof_table **table, struct jprof_error *err);

/* Number of rows. Since: 0.1 */
JPROF_API size_t jprof_table_count(const struct jprof_table *table);

/* The i-th row, from 0; it lives as long as the view, or of a lean profile until the next is asked for. Since: 0.1 */
JPROF_API const struct jprof_row *jprof_table_at(const struct jprof_table *table, size_t i);

/* Frees the table; NULL is fine. Since: 0.1 */
JPROF_API void jprof_table_free(struct jprof_table *table);

/* ---- What a view holds most of ------------------------------------------------------------ */

/* The stack that holds most, in the rows of a view: stacks of equal rows are one. */
struct jprof_path {
	double value;             /* by the view's counter */
	size_t count;             /* rows: what all stacks from the same root begin with is left out, but for its inner
	                             end, and a row that calls itself stands once */
	const char *const *names; /* the outermost first; the innermost is the row that has the value in `flat` */
	const char *tag;  /* what most of it was allocated for, "route GET /users/:id"; NULL: nothing has tags */
	double tag_value; /* how much */
};

/* Makes it; *path is NULL where no stack holds anything. The view must outlive it. Since: 0.2 */
JPROF_API int jprof_path_new(const struct jprof_view *view, struct jprof_path **path, struct jprof_error *err);

/* Frees it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_path_free(struct jprof_path *path);

/* Objects of one of jemalloc's size classes. A dump has bytes and objects of each stack, so a stack that allocates
 * several sizes counts at their mean. */
struct jprof_size {
	double
	    limit; /* bytes of the largest object in the class; 0: no one size, as where objects came and bytes went */
	double bytes, objects;    /* in use, or ever allocated, as the view's counter has it */
	struct jprof_range range; /* of what the counter counts; in a view with errors, else zero */
};

struct jprof_sizes;

/* The classes that a view has objects of, from the smallest on; no one size is last. Since: 0.2 */
JPROF_API int jprof_sizes_new(const struct jprof_view *view, struct jprof_sizes **sizes, struct jprof_error *err);

/* Number of classes. Since: 0.2 */
JPROF_API size_t jprof_sizes_count(const struct jprof_sizes *sizes);

/* The i-th class, from 0; it lives as long as the sizes. Since: 0.2 */
JPROF_API const struct jprof_size *jprof_sizes_at(const struct jprof_sizes *sizes, size_t i);

/* Frees them; NULL is fine. Since: 0.2 */
JPROF_API void jprof_sizes_free(struct jprof_sizes *sizes);

/* ---- Coverage: who named what ------------------------------------------------------------- */

/* What one object file (or a region without one) gave. Bytes are those of the view's
 * counter whose innermost remaining frame lies there. */
struct jprof_coverage_file {
	const char *path;     /* as in the maps; "" for addresses outside all mappings */
	const char *build_id; /* lower-case hex, "" when not known */
	enum jprof_proof proof;
	const char *reason; /* why no or few names or lines, in words; "" when nothing is wrong */
	const char *advice; /* what would name the rest, in words; "" when nothing is missing */
	double bytes[JPROF_SOURCES];
	uint64_t addresses[JPROF_SOURCES]; /* distinct addresses in any frame, by source */
	enum jprof_advice advised;         /* the code of `advice`. Since: 0.2 */
};

struct jprof_coverage;

/* Of all that a view shows, by its counter. Since: 0.1 */
JPROF_API int jprof_coverage_new(const struct jprof_view *view, struct jprof_coverage **coverage,
                                 struct jprof_error *err);

/* Number of object files that stacks pass through. Since: 0.1 */
JPROF_API size_t jprof_coverage_count(const struct jprof_coverage *coverage);

/* The i-th file, from 0, by descending bytes; it lives as long as the coverage and the view. Since: 0.1 */
JPROF_API const struct jprof_coverage_file *jprof_coverage_at(const struct jprof_coverage *coverage, size_t i);

/* Share (0 to 1) of the bytes whose innermost frame has a function's name; 1 for an empty profile. Since: 0.1 */
JPROF_API double jprof_coverage_named(const struct jprof_coverage *coverage);

/* Frees the coverage; NULL is fine. Since: 0.1 */
JPROF_API void jprof_coverage_free(struct jprof_coverage *coverage);

/* ---- Call graphs ----------------------------------------------------------------------------- */

struct jprof_graph;

struct jprof_graph_opts {
	size_t size;
	bool whole;          /* no limits: all nodes and all edges; the limits below are not looked at */
	size_t nodecount;    /* nodes at most; 0: 80, by site 40, half of them for what allocates most itself */
	double nodefraction; /* nodes of up to this share of the scale are dropped; 0: 0.005; negative: none */
	double edgefraction; /* edges of up to this share of the scale are dropped; 0: 0.001; negative: none */
	size_t maxdegree;    /* edges at most out of, and into, a node; 0: 8, and in all 200, or 2.5 for each node */

	/* By site: what a line called before it allocated has nodes, too, with flat values of 0. Since: 0.2 */
	bool inside;
};

/* A row of the view, with the same values. By
 * JPROF_BY_LIBRARY a node is an owner or an object file. */
struct jprof_node {
	const char *name;   /* as in the table */
	const char *full;   /* the function with its parameters; else as `name` */
	const char *object; /* path of the object file where it was seen first; "" outside all mappings */
	const char *owner;  /* a short name for that: "nokogiri 1.13.10", "libxml2" */
	const char *file;   /* NULL: not known */
	unsigned line;      /* the lowest and highest line in it that stacks pass through; 0: not known */
	unsigned last_line;
	bool inlined; /* into what called it */
	double flat;
	double cum;
	struct jprof_range flat_range; /* in a view with errors, else zero */
	struct jprof_range cum_range;
	enum jprof_origin origin; /* Since: 0.2 */
};

/* `to` was called by `from`, both places in the list of nodes. Of what lies below a stack that passes here,
 * each counts once, however often recursion passes. */
struct jprof_edge {
	size_t from, to;
	double value;
	double bridged;           /* the part of it whose stacks only get here through dropped nodes */
	bool residual;            /* all of them do: no direct call is in it */
	bool inlined;             /* no call: `to` is inlined in `from` */
	struct jprof_range range; /* in a view with errors, else zero */
};

/* What a graph shows, and what it leaves out. */
struct jprof_graph_info {
	double total;     /* sum of the flat values of all rows */
	double scale;     /* sum of what they are without sign: what shares and limits refer to */
	bool difference;  /* something was subtracted: values may have shrunk */
	double nodelimit; /* nodes with |cum| up to this were dropped */
	double edgelimit; /* edges with |value| up to this were dropped unless needed to hold the graph together */
	size_t dropped_nodes, dropped_edges;
	double dropped_flat; /* sum of |flat| of the dropped nodes */
};

/* The call graph of a view, by jeprof's rules. Nodes are those of the highest |cum|, but not below the
 * limit. Of the edges between them, highest |value| first, one stays if it is the first into its callee, or
 * joins two parts of the graph, or is above the limit while neither end has maxdegree edges and, without that option,
 * there are not too many in all. A node that was dropped is bridged by an edge from its caller to what it called.
 * `opts` may be NULL. The view must outlive the graph. Since: 0.1 */
JPROF_API int jprof_graph_new(const struct jprof_view *view, const struct jprof_graph_opts *opts,
                              struct jprof_graph **graph, struct jprof_error *err);

/* What the graph shows; it lives as long as the graph. Since: 0.1 */
JPROF_API const struct jprof_graph_info *jprof_graph_info(const struct jprof_graph *graph);

/* Number of nodes. Since: 0.1 */
JPROF_API size_t jprof_graph_nodes(const struct jprof_graph *graph);

/* The i-th node, from 0, by |cum| descending, then name; it lives as long as the graph. Since: 0.1 */
JPROF_API const struct jprof_node *jprof_graph_node(const struct jprof_graph *graph, size_t i);

/* Number of edges. Since: 0.1 */
JPROF_API size_t jprof_graph_edges(const struct jprof_graph *graph);

/* The i-th edge, from 0, by |value| descending, then by its ends; it lives as long as the graph. Since: 0.1 */
JPROF_API const struct jprof_edge *jprof_graph_edge(const struct jprof_graph *graph, size_t i);

/* Frees the graph; NULL is fine. Since: 0.1 */
JPROF_API void jprof_graph_free(struct jprof_graph *graph);

/* ---- Reports ---------------------------------------------------------------------------------- */

/* A format of reports. */
struct jprof_format {
	const char *name;     /* "text" ... */
	const char *help;     /* what it is, in a line */
	const char *argument; /* "RE": it wants a pattern; else NULL */
	bool for_people;      /* to be read; else it is for another program */
	bool by_thread;       /* of a view with thread labels there is one report for each thread */
	bool binary;          /* nothing for a terminal */
	bool errors;          /* it wants a view with errors */
	bool sites;           /* of a profile with Ruby it is best by site. Since: 0.2 */
	bool source;          /* it can repeat the dump itself: jprof_report_opts.source */
};

/* The i-th format, from 0, or NULL after the last. Static. Since: 0.2 */
JPROF_API const struct jprof_format *jprof_format_at(size_t i);

/* The format of that name, or NULL. Static. Since: 0.2 */
JPROF_API const struct jprof_format *jprof_format_find(const char *name);

/* What reports look at beside the view; each uses what is meant for it. */
/* "html": one more view of the same profile or of a part of it, to choose in the page: two other snapshots, or one
 * process. Its options are those of the page's own. Since: 0.2 */
struct jprof_page_part {
	const char *key; /* what the page's answer calls it */
	const struct jprof_view *view;
};

/* "html": what a page that was written has of others' files in it. Since: 0.2 */
struct jprof_page_source {
	size_t lines, files;
	size_t unread; /* files whose lines are missing because they could not be opened or read, though they may be
	                * there */
	char first_unread[512]; /* "PATH: why" */
};

struct jprof_report_opts {
	size_t size;
	bool cum;            /* "text", "csv", "json", "peek": order by cumulative value */
	size_t top;          /* for people, "csv" and "json": rows, stacks or functions at most; 0: all */
	bool show_bytes;     /* for people: integers and "B" in place of "MB" */
	const char *pattern; /* "peek", "list", "disasm": which functions, by a Perl regular expression (PCRE2) found in
	                        their short or full names */
	double least_share;  /* "tree": callees of less than this share are left out; 0: 0.005, negative: none */
	bool total;          /* "list", "disasm": they begin with the line "Total:", too */
	bool normalize;      /* "proto": addresses as in the object files, so that runs match */
	const void *source;  /* "raw": the dump itself, to be repeated; NULL: stacks are written anew */
	size_t source_len;

	/* "list", "disasm": where source files are. Of a path that debug information names the first of these prefixes
	 * (comma-separated) that it begins with is taken off; the file is then looked for below the directories
	 * (comma-separated), with fewer and fewer of its leading directories, and last as it stands, below the sysroot
	 * of symbolizing. */
	const char *trim_path;
	const char *source_path;
	bool by_change;       /* "text", "csv", "json", "peek": order as jprof_table_opts has it. Since: 0.2 */
	bool plain_total;     /* the line "Total:" is jeprof's, without more words. Since: 0.2 */
	const char *total_of; /* what the total is of, as words behind it; NULL: nothing is said. Since: 0.2 */

	/* "json", "list": a program's own words after an advice, such as its options; NULL: none. Since: 0.2 */
	const char *(*advice_words)(enum jprof_advice advice);
	bool called_by; /* "text": after what has no name, what called it in all stacks, if that is one function. Since:
	                   0.2 */

	/* "text": the table for somebody who looks at a terminal of so many columns, instead of jeprof's lines: with
	 * heads over the columns, in the unit that fits the total, names cut in their middle; then what the rows that
	 * `top` left out have together, and the total. 0: jeprof's lines. Since: 0.2, as the next two */
	unsigned columns;
	bool colour;                             /* "text": with ANSI's colours, which only repeat what the words say */
	int (*char_columns)(uint32_t character); /* how many columns it takes; NULL: each takes one */
	bool mean;  /* "text": before the name the mean size of the objects in flat. Since: 0.2 */
	bool freed; /* "text", by a counter of what was ever allocated: how much of each row was freed, and how much is
	               in use. Since: 0.2 */
	const char *page_answer; /* "html": what stands over the pictures, as JSON, which the caller answers for:
	                            docs/internals/page.md; NULL: the total alone. Since: 0.2, as the next four */
	const struct jprof_page_part *page_parts; /* "html": to choose from, beside all */
	size_t page_part_count;
	bool with_source; /* "html": the lines that hold most, with those around them, from the files that "list" would
	                   * read
	                   */
	struct jprof_page_source *page_source; /* "html": filled in; NULL: not wanted */
	const struct jprof_notice *notice;     /* is called for each source file; NULL: nobody is. Since: 0.2 */
	/* "disasm": finds bounds of functions and lines of instructions; NULL: the library does. Since: 0.2 */
	const struct jprof_name_finder *finder;
	bool utf8;   /* "text", with `columns`: heads may have more than ASCII. Since: 0.2 */
	bool chains; /* "tree": a line for each function of a long chain of calls. Since: 0.2 */
};

/* Writes a report in the named format through `write`, in pieces as it is made. An unknown format is JPROF_E_ARGUMENT,
 * as is one that wants what the view does not have; one that cannot show this view JPROF_E_UNSUPPORTED; a failing
 * writer JPROF_E_WRITE. `opts` may be NULL. Since: 0.1 */
JPROF_API int jprof_render(const struct jprof_view *view, const char *format, const struct jprof_report_opts *opts,
                           jprof_write_fn *write, void *context, struct jprof_error *err);

/* Writes all of "json" but the rows; the threads are those of `dump`, the only input, if it is not NULL.
 * `opts` may be NULL. Since: 0.2 */
JPROF_API int jprof_render_info(const struct jprof_view *view, const struct jprof_dump *dump,
                                const struct jprof_report_opts *opts, jprof_write_fn *write, void *context,
                                struct jprof_error *err);

/* ---- Where the memory of processes is --------------------------------------------------------------------- */

/* The parts of a process's memory. */
enum jprof_part {
	JPROF_PART_LIVE,          /* objects that malloc gave and nobody freed, by jemalloc's own count */
	JPROF_PART_KIND,          /* of them by the samples: a kind, "native gems" */
	JPROF_PART_GROUP,         /* whose it is, within a kind: "nokogiri 1.16.2" */
	JPROF_PART_INTERNAL_LIVE, /* what jemalloc allocates for itself, and counts as allocated and as metadata */
	JPROF_PART_NOT_SAMPLED,   /* what jemalloc counts more than the samples let expect; below 0: less */
	JPROF_PART_UNREACHABLE,   /* of live memory that to which no pointer was found, where it was looked for, ... */
	JPROF_PART_LOST,          /* ... and of that blocks of one size, by what is in them */
	JPROF_PART_GC_HEAP,       /* Ruby's: pages that it maps by itself */
	JPROF_PART_GC_OBJECTS,    /* ... slots with an object, */
	JPROF_PART_GC_FREE,       /* and free ones; */
	JPROF_PART_GC_REST,       /* of a series whose rows have Ruby's objects: what the heap has beside these */
	JPROF_PART_OBJECT_TYPE,   /* ... objects of a type, where they were counted: String, Hash, ..., */
	JPROF_PART_OBJECT_CLASS,  /* ... and of a class */
	JPROF_PART_TRANSIENT,     /* Ruby's, to 3.2: where the contents of young arrays, hashes and objects lie */
	JPROF_PART_V8,            /* heaps of V8, for JavaScript */
	JPROF_PART_PAST,          /* what was mapped past malloc, where it is not known to be Ruby's GC heap */
	JPROF_PART_FRAGMENTATION, /* free places between live objects, on pages that therefore stay */
	JPROF_PART_PADDING,       /* of them a page beside each large object */
	JPROF_PART_SIZE_CLASS,    /* ... and those between objects of one size */
	JPROF_PART_FREE_OWNER,    /* of them those of one owner: who freed what lay there */
	JPROF_PART_KEPT,          /* freed, and kept by the allocator: */
	JPROF_PART_DIRTY,         /* ... whole pages, */
	JPROF_PART_MUZZY,         /* ... pages that the kernel may take, */
	JPROF_PART_CACHED,        /* ... objects in the caches of threads */
	JPROF_PART_METADATA,      /* the allocator's own data */
	JPROF_PART_INTERNAL,      /* ... of it what is allocated as objects are: JPROF_PART_INTERNAL_LIVE; the caches of
	                             threads, and what the profiler knows of stacks */
	JPROF_PART_PROFILER,      /* what sampling takes: */
	JPROF_PART_SAMPLE_PAGES,  /* ... a page or more for each sampled small object, */
	JPROF_PART_TABLES,        /* ... and jprof's own tables in the process */
	JPROF_PART_STACKS,        /* of threads */
	JPROF_PART_FILES,         /* the program and its libraries, with pages of them that it changed */
	JPROF_PART_JIT,           /* code that was made at run time */
	JPROF_PART_SHMEM,         /* shared memory */
	JPROF_PART_ANONYMOUS,     /* without a dump: all that has no file behind it, but for stacks and code */
	JPROF_PART_UNTOUCHED,     /* below 0: what parts above have, and the kernel says was never touched */
	JPROF_PART_TWICE,         /* below 0: JPROF_PART_INTERNAL_LIVE, which is live memory and metadata above */
	JPROF_PART_SWAPPED,       /* below 0: what parts above have, and was swapped out */
	JPROF_PART_NOT_EXPLAINED, /* what is left; below 0: parts above have memory that was never touched */
	JPROF_PART_SHARED,        /* below 0: what processes share, and each of them counts */
	JPROF_PART_TOTAL,         /* RSS of one process; Pss of several */
	JPROF_PARTS
};

/* A row of an explanation. Those of depth 0 but the last, the total, add up to that. */
struct jprof_explained {
	enum jprof_part part;
	unsigned depth;   /* 1: a part of the last row of depth 0; 2: of the last of depth 1 */
	const char *name; /* of a kind or group; of a size class the group that all its sampled objects are of; "" */
	const char *what, *remedy; /* of a group: what its memory is, and what would make it less; or NULL */
	uint64_t object_size;      /* of a size class or a group of one size, or of most of it; in bytes; 0 */
	const char
	    *tenants;  /* of a size class: the groups that most of its objects are of now, with their shares; "" */
	double bytes;  /* NAN: not known */
	double growth; /* since the earlier snapshot; NAN: there is none, or it is not known */
	struct jprof_range range, growth_range; /* of what is estimated; error NAN: it is counted */
	double objects, objects_growth;         /* of a type or class; of live memory where each was counted; NAN */
	bool own; /* of a class of objects: the program itself defines it, not Ruby nor a gem, where that was seen */
};

/* What would help. */
enum jprof_help_kind {
	JPROF_HELP_DECAY,      /* give back freed pages sooner, by a thread in the background */
	JPROF_HELP_ARENAS,     /* fewer arenas: less fragmentation */
	JPROF_HELP_GLIBC,      /* likewise of glibc's malloc; or jemalloc */
	JPROF_HELP_SAMPLING,   /* sample less often */
	JPROF_HELP_ACCUMULATE, /* do without prof_accum */
	JPROF_HELP_GC_FREE,    /* free slots in Ruby's GC heap */
	JPROF_HELP_WARMUP,     /* Process.warmup before the fork */
};

struct jprof_help {
	enum jprof_help_kind kind;
	double saves; /* bytes, about */
	bool part;    /* it may be less: a part of that */
};

struct jprof_explain_info {
	unsigned processes;
	bool dumpless;        /* there is no dump: the rows are what /proc says, and the process's own memory */
	double total, growth; /* as the row of the total; NAN: not known */
	double error;         /* half of the 95 % interval of the growth of what malloc gave; NAN: there is none */
	double seconds;       /* between the two snapshots; NAN: not known */
	double shared;        /* of the memory of processes what is still shared since a fork; NAN: not known */
	double
	    before_fork; /* what a master has, and so what its workers had of it when they were forked at most; NAN */
	double still_shared; /* of that, what a worker still shares with it or others, as a mean; NAN */
	unsigned workers;    /* of which these are */
	struct jprof_settings settings;
	struct jprof_group group;
	double group_growth;         /* of group.current; NAN */
	const char *title;           /* of a process, a master's if there is one: "puma 5.6.5 (tcp://...) [shop]"; "" */
	bool ruby;                   /* one of them runs Ruby */
	struct jprof_heap_seen seen; /* of all processes whose memory was read; the version is the last one's */
	bool referrers;              /* what points to the live memory was looked for */
	unsigned roots; /* mappings of memory that were looked into for pointers, where unreachable memory was looked
	                   for; 0: it was not, or not all memory was read */
};

/* The bytes of a part, of what was added or of what was subtracted, as an explanation of these counts it. NAN where it
 * is not known, or is no part that is counted. Since: 0.2 */
JPROF_API double jprof_profile_part(const struct jprof_profile *profile, bool base, enum jprof_part part);

struct jprof_explanation;

struct jprof_explain_opts {
	size_t size;
	const char *rules; /* as in struct jprof_view_opts */
	size_t rules_len;
	bool by_referrer; /* live memory by what points to it, where that was looked for; else by owner or by size */
	bool unreachable; /* also rows of JPROF_PART_LOST, where these were looked for */
};

/* Where the memory of a profile's processes is. `change` is the difference of the same profile to that of an earlier
 * snapshot, or NULL. Both must be symbolized, and not lean. What is not known has no row; nothing is fitted: each row
 * is counted by itself, and what remains is not explained. `opts` may be NULL. Since: 0.2 */
JPROF_API int jprof_explain_new(const struct jprof_profile *profile, const struct jprof_profile *change,
                                const struct jprof_explain_opts *opts, struct jprof_explanation **explanation,
                                struct jprof_error *err);

/* It lives as long as the explanation. Since: 0.2 */
JPROF_API const struct jprof_explain_info *jprof_explain_info(const struct jprof_explanation *explanation);

/* Number of rows. Since: 0.2 */
JPROF_API size_t jprof_explain_count(const struct jprof_explanation *explanation);

/* The i-th row, from 0; it lives as long as the explanation. Since: 0.2 */
JPROF_API const struct jprof_explained *jprof_explain_at(const struct jprof_explanation *explanation, size_t i);

/* The i-th of what would help, from 0: what is sure to save something first, then by how much; NULL: there is no more.
 * Since: 0.2 */
JPROF_API const struct jprof_help *jprof_explain_help(const struct jprof_explanation *explanation, size_t i);

/* Frees it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_explain_free(struct jprof_explanation *explanation);

/* ---- What grew, over a series of snapshots ---------------------------------------------------------------- */

/* What to make of a row, in the order in which rows are shown: docs/diff.md. */
enum jprof_verdict {
	JPROF_LEAK_SUSPECT,
	JPROF_GROWING,
	JPROF_LEVELLED_OFF,
	JPROF_TURNOVER,
	JPROF_UP_AND_DOWN,
	JPROF_ONE_JUMP,
	JPROF_FROM_STARTUP,
	JPROF_MAYBE_GARBAGE,
	JPROF_WITHIN_ERROR,
	JPROF_MINOR_CHANGE,
	JPROF_FEW_SAMPLES,
	JPROF_TOO_EARLY,
	JPROF_SHRANK,
	JPROF_VERDICTS /* how many there are */
};

/* The words of a verdict, the same wherever there are any. Static. */
struct jprof_verdict_words {
	const char *shown; /* "leak suspect" */
	const char *key;   /* for programs: "leak_suspect" */
	const char *means; /* in a line */
	const char *needs; /* what has to be there for it; "": nothing */
};

/* Of an unknown verdict all are "". Since: 0.2 */
JPROF_API const struct jprof_verdict_words *jprof_verdict_words(enum jprof_verdict verdict);

/* A change from one snapshot to another. */
struct jprof_change {
	double growth;            /* in bytes */
	struct jprof_range range; /* error NAN: it is counted, and not estimated */
	double seconds;           /* between the two; NAN: not known */
};

/* Ages of memory. Since: 0.2 */
enum {
	JPROF_AGE_STARTUP = 7, /* from the startup of the process, however old */
	JPROF_AGE_FORK,        /* from before its fork, likewise */
	JPROF_AGE_BANDS        /* how many there are */
};

struct jprof_age_band {
	double under;    /* seconds: what is younger, but not so young that it is in the band before; INFINITY: none */
	const char *key; /* "younger", "older", "startup", "before_fork" */
};

/* The i-th, from 0, the youngest first; NULL: there is none. Static. Since: 0.2 */
JPROF_API const struct jprof_age_band *jprof_age_band(size_t i);

/* What growth there was for one tag. Since: 0.2 */
struct jprof_tag_part {
	const char *tag; /* "route GET /users/:id"; NULL: none */
	double bytes;
};

/* A row of a series: of the profile, or of what lies outside. Texts live as long as the series. */
struct jprof_grown {
	enum jprof_verdict verdict;
	enum jprof_part part;             /* JPROF_PART_LIVE: of the profile; else a part that is counted by itself */
	const char *name;                 /* of a row of the profile; else "" */
	const double *values;             /* at each snapshot, in bytes; NAN: not known */
	const struct jprof_change *steps; /* from each snapshot to the next */
	struct jprof_change whole;        /* from the first to the last */
	double distance;                  /* of the whole from no change at all, in standard errors */
	double chance;    /* that a report of as many rows in which nothing grew has one that is as far; NAN: counted */
	double seen;      /* the smallest growth that would have been beyond chance in this row, in bytes */
	bool largest;     /* it is one of the ten that are judged by themselves */
	double objects;   /* how many more there are; NAN: not known */
	const char *file; /* where it is in the source, NULL: not known or several */
	unsigned line;
	enum jprof_origin origin;
	const char *library;       /* "application", "nokogiri 1.16.2"; NULL: not known or several */
	const char *kind;          /* what most of the growth is, by the rules: "Ruby data: String"; NULL */
	double kind_share;         /* how much of it, from 0 to 1 */
	const char *what, *remedy; /* of that kind, or NULL */
	const char *from;          /* the line of the application that most of the growth came from, or NULL */
	const char *path;          /* or the functions that it came through, outermost first; NULL: there is none */
	enum jprof_shape shape;    /* of what it has at the last snapshot, by age. JPROF_SHAPE_NONE, and the next NULL
	                              or NAN: not known, for it needs dumps that say when their samples were allocated.
	                              Since: 0.2, as all that follow */
	enum jprof_shape shape_since; /* of that what came since the first snapshot */
	const double *ages;           /* bytes at the last snapshot, of JPROF_AGE_BANDS */
	double begun; /* seconds before the last snapshot: all but a few samples came since, or at startup */
	double kept;  /* the part of what it had at the first snapshot that is there at the last, by samples */
	const struct jprof_tag_part *tags; /* what the growth was allocated for, most first; NULL: no stack has a tag */
	size_t tag_count;
	double size; /* the mean bytes of the objects in the size class that most of the growth is; NAN: not known */
	double size_share; /* how much of the growth that is, from 0 to 1, */
	double size_count; /* and how many objects more */
	bool of_gc_heap;   /* tables of Ruby's garbage collector, which grow with its heap; that has a row */
	bool one_buffer;   /* what grew is one object that a larger one replaced, at most, beside a little */
};

struct jprof_series_info {
	size_t snapshots;
	double total[2];          /* memory of the processes (RSS, of several Pss) first and last; NAN: not known */
	double seconds;           /* from first to last; NAN */
	struct jprof_group group; /* of the last */
	double group_growth;      /* of group.current; NAN */
	size_t rows;              /* of the profile, those that did not change too */
	double seen;              /* the smallest growth that would have been seen in a row that is else quiet; bytes */
	double rate;              /* mean bytes between two samples; 0: not known */
	bool ruby;                /* a process runs Ruby, */
	bool collected;           /* and collected its garbage before each snapshot */
	bool related;             /* processes share memory since a fork, which the profile has several times */
	bool bound;               /* errors are upper bounds: jprof_profile_bound */
	const char *program;      /* path of the main program of the last snapshot, or "" */
	const char *title;   /* of a process of it, a master's if there is one: "puma 5.6.5 (tcp://...) [shop]"; "" */
	size_t processes[2]; /* in the first and the last snapshot; 0: not known */
	size_t workers, replaced; /* in the last; of its processes those that took another's place */
	bool ages;                /* rows have ages */
	bool moved;               /* lines of Ruby moved between two builds: rows are methods instead */
	const char *outlier;    /* the name of the process whose RSS grew much more than that of all others; "": none */
	double outlier_growth;  /* by how much, */
	double others_growth;   /* and the most that any other with its role did */
	bool reversed;          /* the times say that a later snapshot stands before an earlier one */
	bool same_program;      /* as far as is known: of both snapshots, and they have stacks in common */
	const double *memory;   /* at each snapshot, as `total`. Since: 0.2 */
	const char *started;    /* the name that its processes were started by; "": not known, or several. Since: 0.2 */
	const char *scripts[2]; /* what Ruby was started with, of the first and the last, where these have no script in
	                           common, and so are of two programs; else "". Since: 0.2 */
	bool counted;   /* no snapshot has a dump: rows of live memory are sizes, of which each object was counted.
	                   Since: 0.2 */
	bool slots;     /* rows have Ruby's objects in slots, beside what malloc gave. Since: 0.2 */
	bool referrers; /* counted, and rows of live memory are what points to it, for that was looked for at each
	                   snapshot. Since: 0.2 */
};

enum jprof_series_rows {
	JPROF_SERIES_VIEW,   /* those of the view's granularity; without a dump what points to live memory, or sizes */
	JPROF_SERIES_STACKS, /* whole stacks */
	JPROF_SERIES_SIZES,  /* sizes of objects: jemalloc's classes, by the mean of a stack's objects. Since: 0.2 */
	JPROF_SERIES_REFERRERS, /* what points to live memory, counted, where that is known of all; else as _VIEW.
	                           Since: 0.2 */
};

struct jprof_series_opts {
	size_t size;
	const struct jprof_view_opts *view; /* counter and errors are set by the call; NULL: the default */
	enum jprof_series_rows rows;
	bool collected; /* take it that Ruby collected its garbage before each snapshot, whatever is known */
};

struct jprof_series;

/* A series of snapshots. `steps` are the differences (jprof_profile_difference, jprof_bundle_difference) of each
 * snapshot to the one before, in their order; `whole` is that of the last to the first, and may be NULL where there is
 * one step. All must be symbolized, and not lean; nothing of them is kept. `opts` may be NULL. Since: 0.2 */
JPROF_API int jprof_series_new(const struct jprof_profile *const *steps, size_t count,
                               const struct jprof_profile *whole, const struct jprof_series_opts *opts,
                               struct jprof_series **series, struct jprof_error *err);

/* It lives as long as the series. Since: 0.2 */
JPROF_API const struct jprof_series_info *jprof_series_info(const struct jprof_series *series);

/* Number of rows: of the profile those that have anything at any snapshot, and parts that lie outside. Since: 0.2 */
JPROF_API size_t jprof_series_count(const struct jprof_series *series);

/* The i-th row, from 0: by verdict, then by the lower end of the interval of its growth, then by name; within a verdict
 * what the profiler takes comes last. It lives as long as the series. Since: 0.2 */
JPROF_API const struct jprof_grown *jprof_series_at(const struct jprof_series *series, size_t i);

/* All that is sampled: what malloc gave, and Ruby's objects where rows have these. Since: 0.2 */
JPROF_API const struct jprof_grown *jprof_series_malloc(const struct jprof_series *series);

/* Objects of one of Ruby's types, or of a class, at the first and the last snapshot: jprof snap --objects. */
struct jprof_object_change {
	const char *name; /* "String"; it lives as long as the series */
	bool is_class;
	double bytes[2]; /* of their slots in the GC heap */
	double count[2];
};

/* How many there are; 0 where one of the two did not count them. Types come first, then what grew most. Since: 0.2 */
JPROF_API size_t jprof_series_objects(const struct jprof_series *series);

/* The i-th, from 0; it lives as long as the series. Since: 0.2 */
JPROF_API const struct jprof_object_change *jprof_series_object(const struct jprof_series *series, size_t i);

/* Frees it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_series_free(struct jprof_series *series);

/* ---- Ruby's heap: who keeps its objects ------------------------------------------------ */

/* The objects of a Ruby and what refers to what, as ObjectSpace.dump_all or the agent's child wrote it. */
struct jprof_rubyheap;

struct jprof_rubyheap_info {
	uint64_t objects, bytes;                   /* of slots and their buffers, as Ruby's memsize has them */
	uint64_t unrooted_objects, unrooted_bytes; /* of these: no root leads to them. Most are garbage */
	bool has_lines;                            /* objects say where they were allocated: trace_object_allocations */
	bool cut;                                  /* the file ends within a line: it is not whole */
	uint64_t sampled; /* samples of objects and their blocks: jprof_rubyheap_sites, jprof_rubyheap_buffers */
	bool named_edges; /* constants and variables have names */
};

/* Reads a file, which may be compressed; "-" is standard input. Contents of Strings are not read. Since: 0.2 */
JPROF_API int jprof_rubyheap_open(const char *path, struct jprof_rubyheap **heap, struct jprof_error *err);

/* The same of a graph in memory, as the agent's child wrote it (docs/internals/graph.md): the file "graph" of a
 * bundle's member, which may go afterwards. It says no lines. `name` is for messages. Since: 0.2 */
JPROF_API int jprof_rubyheap_parse(const void *data, size_t len, const char *name, struct jprof_rubyheap **heap,
                                   struct jprof_error *err);

/* Says of those objects of a graph that the agent sampled where they were allocated. `table` is the file "frames" of
 * the member whose graph it is, and may go afterwards; one without samples of objects says nothing. Choices of objects
 * by line are estimates then: each sampled object counts for all that it stands for. Once for a heap. Since: 0.2 */
JPROF_API int jprof_rubyheap_sites(struct jprof_rubyheap *heap, const void *table, size_t len, struct jprof_error *err);

/* The same of blocks of objects that jemalloc sampled: long Strings, Arrays, Hashes. `buffers` is the file "buffers" of
 * that member (docs/internals/buffers.md). Then a sample stands for bytes of slots or of blocks alone, and choices by
 * line count these. A record counts where the graph has an object at its address that may have a block of that size.
 * Once for a heap. Since: 0.2 */
JPROF_API int jprof_rubyheap_buffers(struct jprof_rubyheap *heap, const void *table, size_t table_len,
                                     const void *buffers, size_t len, struct jprof_error *err);

/* It lives as long as the heap. Since: 0.2 */
JPROF_API const struct jprof_rubyheap_info *jprof_rubyheap_info(const struct jprof_rubyheap *heap);

/* Frees it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_rubyheap_free(struct jprof_rubyheap *heap);

struct jprof_keepers_opts {
	size_t size;
	const char *line;       /* a pattern: objects allocated there alone, and what they keep */
	const char *class_name; /* a pattern: objects of these classes alone; with `line` both must fit */
	const char *site;       /* objects allocated at exactly this "FILE:LINE" alone */
	bool born;              /* objects alone that jprof_born_new counted, each without what it keeps */
};

/* An object that keeps others: they are freed with it. Texts are "" where nothing is known. */
struct jprof_keeper {
	const char *what;      /* "a Hash of 54,107", "class Shop" */
	const char *holder;    /* what refers to it: "Shop::Cache", "a global variable" */
	const char *site;      /* "FILE:LINE" where it was allocated */
	const char *path;      /* from a root to it, and what it keeps most of: "Shop > Cache > Hash > String" */
	const char *made_at;   /* the line that allocated most of what it keeps, if samples stand for half of that, */
	const char *method;    /* ... in this method, */
	double made_share;     /* ... as a part of the bytes, 0 to 1 */
	uint64_t made_samples; /* by how many samples; 0: each object says its line, or none does */
	uint64_t keeps;        /* bytes that would be freed without it (retained size); of a choice: with it */
	uint64_t own;          /* bytes of the object alone */
	uint64_t objects;      /* that it keeps, itself included; of a choice: of the choice */
};

struct jprof_keepers_info {
	uint64_t bytes, objects;                   /* of all rows and the rest */
	uint64_t unrooted_bytes, unrooted_objects; /* that no root leads to: in no row */
};

struct jprof_keepers;

/* Who keeps most. Their bytes add up: what two share is kept by neither; but of what lines made, or was born, by the
 * one that is nearer. `opts` may be NULL. JPROF_E_ARGUMENT: a pattern is none. The heap outlives them. Since: 0.2 */
JPROF_API int jprof_keepers_new(const struct jprof_rubyheap *heap, const struct jprof_keepers_opts *opts,
                                struct jprof_keepers **keepers, struct jprof_error *err);

/* It lives as long as the keepers. Since: 0.2 */
JPROF_API const struct jprof_keepers_info *jprof_keepers_info(const struct jprof_keepers *keepers);

/* How many there are: those that keep at least half a percent. Since: 0.2 */
JPROF_API size_t jprof_keepers_count(const struct jprof_keepers *keepers);

/* The i-th, from 0, what keeps most first. It lives as long as the keepers. Since: 0.2 */
JPROF_API const struct jprof_keeper *jprof_keepers_at(const struct jprof_keepers *keepers, size_t i);

/* Frees them; NULL is fine. Since: 0.2 */
JPROF_API void jprof_keepers_free(struct jprof_keepers *keepers);

/* A line that made objects which were born after one moment, and live at a later one. */
struct jprof_born_line {
	const char *site;        /* "FILE:LINE"; "": not known */
	const char *classes;     /* "Item (33,000), Hash (33,000), String (98,210)": those with most bytes; of samples
	                          * "Item (54 %), String (46 %)" */
	uint64_t bytes, objects; /* of the objects alone; of samples what they stand for, and 0 */
	uint32_t
	    generations[2]; /* of the garbage collector, in which the first and the last were allocated; 0: not known */
	uint64_t samples;   /* by which it is known; 0: each object says its line, or none does */
	double error;       /* 95 %, of the bytes of samples */
};

struct jprof_born_info {
	uint64_t bytes, objects; /* of all lines */
	double in_common;        /* the part of the earlier heap's addresses that the later has, too: 0 to 1 */
	/* Of graphs. `bytes` is of the least that were born: one that lies where an equal one lay before is not told
	 * from that. Samples say when they were taken: by those of the later graph so many bytes were born, which are
	 * the sum of all lines. */
	uint64_t samples;                    /* of what was born; with 0 there are no estimates */
	double sampled_bytes, sampled_error; /* 95 % */
};

struct jprof_born;

/* What has an object in `heap` whose address has none in `before`, and one in `between`, if that is not NULL: dumps of
 * one Ruby, in their order. In graphs it is the same one if it has the same type and class, too. The objects are marked
 * in `heap`, for jprof_keepers_opts.born. JPROF_E_ARGUMENT: GC.compact moved objects between graphs, or whether is not
 * known; or a graph is compared with a dump. Since: 0.2 */
JPROF_API int jprof_born_new(struct jprof_rubyheap *heap, const struct jprof_rubyheap *before,
                             const struct jprof_rubyheap *between, struct jprof_born **born, struct jprof_error *err);

/* It lives as long as the result. Since: 0.2 */
JPROF_API const struct jprof_born_info *jprof_born_info(const struct jprof_born *born);

/* How many lines there are. Since: 0.2 */
JPROF_API size_t jprof_born_count(const struct jprof_born *born);

/* The i-th, from 0, most bytes first. It lives as long as the result and the heap. Since: 0.2 */
JPROF_API const struct jprof_born_line *jprof_born_at(const struct jprof_born *born, size_t i);

/* Frees it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_born_free(struct jprof_born *born);

/* ---- Ruby's Strings: which are equal ---------------------------------------------------- */

/* The Strings of a dump of ObjectSpace, by the line that allocated them. */
struct jprof_rubystrings;

struct jprof_rubystrings_info {
	uint64_t strings, bytes;       /* of those whose text the file has, as Ruby's memsize has them */
	uint64_t spare;                /* bytes of these that go if of the equal ones of each line one is left */
	uint64_t silent, silent_bytes; /* those whose text it has not: binary data, most of them */
	bool has_lines;                /* Strings say where they were allocated */
	bool cut;                      /* the file ends within a line: it is not whole */
};

enum { JPROF_COMMON_STRINGS = 3 };

/* Strings of one line that say the same. */
struct jprof_equal_strings {
	const char *text; /* as it is: it may have any bytes, NUL, too. NULL: there is none */
	size_t length;    /* bytes of the text */
	uint64_t count, bytes;
};

struct jprof_string_line {
	const char *site; /* "FILE:LINE"; "": not known */
	uint64_t strings, bytes, spare;
	uint64_t different;                                      /* how many texts there are */
	struct jprof_equal_strings common[JPROF_COMMON_STRINGS]; /* the texts of most Strings, most first */
};

/* Reads a file as jprof_rubyheap_open does. `line` is a pattern: only Strings of lines that it matches; NULL: all.
 * Since: 0.2 */
JPROF_API int jprof_rubystrings_open(const char *path, const char *line, struct jprof_rubystrings **strings,
                                     struct jprof_error *err);

/* It lives as long as the strings. Since: 0.2 */
JPROF_API const struct jprof_rubystrings_info *jprof_rubystrings_info(const struct jprof_rubystrings *strings);

/* How many lines there are. Since: 0.2 */
JPROF_API size_t jprof_rubystrings_count(const struct jprof_rubystrings *strings);

/* The i-th, from 0, most bytes first. It lives as long as the strings. Since: 0.2 */
JPROF_API const struct jprof_string_line *jprof_rubystrings_at(const struct jprof_rubystrings *strings, size_t i);

/* Frees them; NULL is fine. Since: 0.2 */
JPROF_API void jprof_rubystrings_free(struct jprof_rubystrings *strings);

/* Whether a file begins as ObjectSpace.dump_all's do, compressed or not. Since: 0.2 */
JPROF_API bool jprof_is_rubyheap(const char *path);

/* ---- Large compressed files ---------------------------------------------------------------- */

/* Where an open file is compressed, unpacks it into a file without a name, in /var/tmp or beside `path`, which takes
 * the place of *fd; the old one is closed. Pages of zeros take no room in it. *packed tells whether there was anything
 * to unpack; then *size is the new file's. What is damaged gives what comes before. JPROF_E_IO: there is no room, or no
 * place, for it; then *fd is -1 or as it was. Since: 0.2 */
JPROF_API int jprof_unpack_file(int *fd, const char *path, bool *packed, uint64_t *size, struct jprof_error *err);

/* ---- Live processes ------------------------------------------------------------------------ */

/* They are in jprof-live.h, and in a library of their own: a program that reads dumps neither sees nor links it. */

#ifdef __cplusplus
}
#endif

#endif
