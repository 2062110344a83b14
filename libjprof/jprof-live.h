/* libjprof-live: looks at live processes, asks their agents for dumps, and gathers what a bundle wants of them.
 *
 * A part of its own, so that a program that reads dumps does not link what talks to processes: pkg-config
 * libjprof-live. The rules of jprof.h hold here, too, but that
 * - jprof_processes_new and jprof_target_* look at processes, by /proc;
 * - jprof_agent_* talk to one, through the socket of its agent;
 * - jprof_target_signal sends a signal;
 * - jprof_dump_file_remove removes a file. */
#ifndef JPROF_LIVE_H
#define JPROF_LIVE_H

#include <jprof.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Processes -------------------------------------------------------------------------------- */

enum jprof_process_state {
	JPROF_PROCESS_ALIVE,
	JPROF_PROCESS_ZOMBIE, /* it has ended; its parent has not yet noticed */
	JPROF_PROCESS_ENDED,  /* there is none, or it ended while it was looked at */
};

/* A process as /proc reports it. Where `readable` is false the caller has no permission to see what is mapped:
 * all that follows it is not known. Paths are as the process sees them. */
struct jprof_process {
	enum jprof_process_state state;
	int pid;              /* as the caller sees it */
	int ppid;             /* its parent's */
	int ns_pid;           /* as the process sees itself */
	unsigned uid;         /* effective user */
	uint64_t start_ticks; /* field 22 of /proc/PID/stat: with it a pid means one process only */
	uint64_t rss;         /* bytes */
	uint64_t caught;      /* signals with a handler: bit N - 1 for signal N */
	const char *name;     /* the short one; "ruby", "puma 5.6.5 (tcp" ... */
	const char *title;    /* its argv[0]: the path of a program, or what the process made of it */
	const char *cmdline;  /* all of argv, with blanks between its words */
	const char *server;   /* "puma", "unicorn", "sidekiq", "resque", or "" */
	const char *role;     /* "master", "worker" or "" */
	const char *program;  /* the executable; "" if it cannot be read */
	bool readable;
	const char *ruby;          /* libruby, or the program if that is a Ruby; NULL: it is no Ruby */
	const char *jemalloc;      /* the library that is mapped, or NULL */
	const char *agent_library; /* libjprof-agent.so, or NULL: it may be there and not active */
	int agent_version;         /* of docs/internals/agent.md; 0: no active agent */
	int agent_signal;          /* what its handler was installed for, 0: nothing */
	const char *agent_socket;  /* a path, "@NAME", or NULL: it has none */
	const char *agent_trouble; /* what keeps the agent from being asked, in words, or NULL: not known */
	int service;               /* with a server: the pid of its master, or its own; 0: none. Since: 0.2 */
	int error; /* errno of what could not be read though the process may be there, and may be looked at:
	            * descriptors had run out; 0: nothing. Since: 0.2 */
};

/* Every selection adds to the list; without any it is all processes that are a Ruby, have a jemalloc or an
 * agent. But for those given by pid, selections are among these alone, and leave out the caller. */
struct jprof_processes_opts {
	size_t size;
	const char *proc; /* where /proc is; NULL: there */
	const int *pids;  /* whatever these are, in this order; a thread's id means its process */
	size_t pid_count;
	const char *match; /* PCRE2, found anywhere in the command line, with blanks between its words */
	int children_of;   /* 0: of none */
	bool puma;         /* all Puma processes, of however many services */
	int puma_of;       /* the Puma of this pid, a master or a worker: with all its workers; 0: of none */
};

struct jprof_processes;

/* Looks at all processes. Those given by pid come first, then the others by ascending pid. No process found
 * is no error; a process that is not given by pid, and cannot be read for want of descriptors, is one. Since: 0.1 */
JPROF_API int jprof_processes_new(const struct jprof_processes_opts *opts, struct jprof_processes **list,
                                  struct jprof_error *err);

/* Number of processes found. Since: 0.1 */
JPROF_API size_t jprof_processes_count(const struct jprof_processes *list);

/* The i-th, from 0; it lives as long as the list. Since: 0.1 */
JPROF_API const struct jprof_process *jprof_processes_at(const struct jprof_processes *list, size_t i);

/* Frees the list; NULL is fine. Since: 0.1 */
JPROF_API void jprof_processes_free(struct jprof_processes *list);

/* ---- Agents ----------------------------------------------------------------------------------- */

/* A connection to the agent of a process: docs/internals/agent.md. It is closed by the agent when the process ends or
 * begins another program; then all requests fail, and harm nobody. */
struct jprof_agent;

struct jprof_agent_opts {
	size_t size;
	const char *proc;                  /* as in jprof_processes_opts */
	unsigned timeout;                  /* milliseconds that a request may take; 0: 30000 */
	const struct jprof_opener *opener; /* of that process, used for its socket; NULL: the caller connects */
};

/* What an agent reports of its process. Strings are NULL where there is none, and live until the next report. */
struct jprof_agent_report {
	int protocol;
	int pid; /* as the process sees it */
	uint64_t start_ticks;
	const char *version; /* of the agent */
	const char *boot_id;
	const char *program;
	const char *jemalloc; /* its version */
	const char *prefix;   /* of the names of dumps */
	const char *ruby;     /* its version; NULL: no Ruby */
	const char *triggers;
	const char *last_dump;
	const char *last_error;
	uint64_t dumps;    /* made so far */
	int lg_sample;     /* a sample every 2^N bytes, in the mean */
	int signal;        /* 0: none */
	bool signal_owned; /* the handler of `signal` was the agent's when this was written */
	bool prof_active;
	bool objects;                /* it can count a Ruby's objects. Since: 0.2 */
	bool graph;                  /* it can have a child write the graph of a Ruby's objects. Since: 0.2 */
	bool ruby_stacks;            /* samples get Ruby stacks. Since: 0.2 */
	const char *ruby_stacks_why; /* why not; NULL: they do, or the agent is one that knows none. Since: 0.2 */
	bool ruby_slots;             /* objects in slots of Ruby's own heap are sampled. Since: 0.2 */
	const char *ruby_slots_why;  /* why not, though that was asked for; or NULL. Since: 0.2 */
};

/* Connects to the agent that the process announces, and makes sure, by a first report, that it is that very
 * process which answers, and that its user is still the one that `process` names. `process` may be freed before the
 * agent does. Since: 0.1 */
JPROF_API int jprof_agent_connect(const struct jprof_process *process, const struct jprof_agent_opts *opts,
                                  struct jprof_agent **agent, struct jprof_error *err);

/* A new report; it lives until the next one. Since: 0.1 */
JPROF_API int jprof_agent_report(struct jprof_agent *agent, const struct jprof_agent_report **report,
                                 struct jprof_error *err);

struct jprof_agent_dump_opts {
	size_t size;
	const char *label;   /* 1 to 64 of A-Z a-z 0-9 . _ -; NULL: none */
	bool gc;             /* collect garbage first, in a Ruby */
	unsigned gc_timeout; /* milliseconds that a Ruby is waited for; 0: the agent's 2000 */
	unsigned timeout;    /* milliseconds for all of it; 0: that of the connection */
	bool files;          /* into files, also where the agent can hand over what no file holds */
	bool objects; /* count a Ruby's objects, by type and class, in the side-car: it stops for that for up to a
	                 second. An agent that cannot is not asked to. Since: 0.2 */
	bool graph;   /* with `objects` and without `files`: has their graph written, for jprof_agent_graph. An agent
	                 whose   report does not have `graph` refuses. Since: 0.2 */
};

/* A dump that was made; it lives until the next one. */
struct jprof_agent_dump {
	const char *dump;    /* absolute paths, as the process sees them; without `files` names alone */
	const char *sidecar; /* NULL: none */
	const char *gc;      /* "done", "timed out", "no ruby", "not asked", "not possible" */
	uint64_t seq;
	double milliseconds;
	bool files;            /* it is in files; else in descriptors that the agent handed over */
	const char *why;       /* why it is in files although descriptors were asked for, or NULL */
	const char *table;     /* of its Ruby stacks, likewise a path or a name; NULL: none. Since: 0.2 */
	bool graph;            /* a child writes the graph of its objects. Since: 0.2 */
	const char *graph_why; /* why not, where that was asked for, or NULL. Since: 0.2 */
};

/* Has the process dumped: it is complete when this returns. Since: 0.1 */
JPROF_API int jprof_agent_dump(struct jprof_agent *agent, const struct jprof_agent_dump_opts *opts,
                               const struct jprof_agent_dump **dump, struct jprof_error *err);

/* A pipe with the graph of the objects that the last dump goes with (docs/internals/graph.md), for the caller to read
 * at once and to close; -1: there is none, or it was taken. Whether it is whole its end tells. Since: 0.2 */
JPROF_API int jprof_agent_graph(struct jprof_agent *agent);

/* What malloc_stats_print writes, as JSON; it lives until the next. Since: 0.1 */
JPROF_API int jprof_agent_stats(struct jprof_agent *agent, const char **json, struct jprof_error *err);

/* Turns sampling on or off; *was is what it was before. Since: 0.1 */
JPROF_API int jprof_agent_set_active(struct jprof_agent *agent, bool active, bool *was, struct jprof_error *err);

/* Closes the connection and frees it, with its last report and dump; NULL is fine. Since: 0.1 */
JPROF_API void jprof_agent_free(struct jprof_agent *agent);

/* Whether a label is one that agents take. Since: 0.1 */
JPROF_API bool jprof_agent_label_good(const char *label);

/* ---- Targets: processes that are dealt with -------------------------------------------------- */

/* A live process that is dealt with: held by a pidfd, so that another one with its pid is never taken for it. */
struct jprof_target;

/* `proc` as in jprof_processes_opts. A zombie, and one that has ended, is refused with a sentence. Since: 0.1 */
JPROF_API int jprof_target_open(const struct jprof_process *process, const char *proc, struct jprof_target **target,
                                struct jprof_error *err);

/* Whose rights a live process has, by the ids of the caller's user namespace. */
struct jprof_rights {
	unsigned uid, gid; /* effective */
	unsigned real_uid, real_gid;
	const unsigned *groups; /* until the next call, or the target's end */
	size_t group_count;
	uint64_t capabilities; /* effective in the caller's user namespace: bit N for capability N */
};

/* Reads them. Refused with a sentence: a process whose user is not the one that jprof_target_open was given, one that
 * runs a setuid or setgid program, and one whose user has no number here. Since: 0.1 */
JPROF_API int jprof_target_rights(struct jprof_target *target, struct jprof_rights *rights, struct jprof_error *err);

/* From now on its files are opened and removed by `opener`, whose context must outlive the target and its dump files;
 * NULL: by the caller. Since: 0.1 */
JPROF_API void jprof_target_use(struct jprof_target *target, const struct jprof_opener *opener);

/* 0 if it is still there; else a sentence about it. Since: 0.1 */
JPROF_API int jprof_target_check(const struct jprof_target *target, struct jprof_error *err);

/* Sends it a signal. Only for what has just said that it handles it: most signals end most processes, and between
 * the word and the signal a process may begin another program. Since: 0.1 */
JPROF_API int jprof_target_signal(const struct jprof_target *target, int signal, struct jprof_error *err);

/* The prefix of its dumps by MALLOC_CONF in its environment, for a process without an agent; jemalloc's own default if
 * there is none. Since: 0.1 */
JPROF_API int jprof_target_prefix(const struct jprof_target *target, char *prefix, size_t size,
                                  struct jprof_error *err);

/* Adds what /proc and its control group report to the member that was begun: maps, smaps, smaps_rollup, status,
 * memory.*; its arguments only with `cmdline`, its environment never. What cannot be read is left out. Since: 0.1 */
JPROF_API int jprof_target_gather(const struct jprof_target *target, bool cmdline, struct jprof_bundle_writer *writer,
                                  struct jprof_error *err);

struct jprof_heap_dump {
	const char *text, *sidecar; /* until the call returns */
	size_t len, sidecar_len;
	const char *table; /* when its samples were allocated: the member's file `frames`; or NULL. Since: 0.2 */
	size_t table_len;
};

struct jprof_heap_opts {
	size_t size;
	bool referrers;   /* also what points to the live memory: all of that is read */
	bool graph;       /* also the graph of a Ruby's objects, as the member's file "graph"
	                     (docs/internals/graph.md): without text and names of variables. Since: 0.2 */
	bool unreachable; /* also to which live blocks no pointer was found: where there are such, in two to five looks,
	                     a second apart, and with the same content. Since: 0.2 */
	void (*lost)(void *context, uint64_t address, uint64_t size); /* then it gets each of them, by ascending
	                                                                address; NULL: nobody does. Since: 0.2 */
	void *context;
	/* Gets, once, the profile of a program that runs with prof:true, as its own prof.dump would write it now, and a
	   side-car for jprof_profile_sidecar with the build-ids of its files. Where it does not return 0 the call fails
	   with JPROF_E_NOMEM. Not called where there is no profile; NULL: it is not wanted. Since: 0.2 */
	int (*dump)(void *context, const struct jprof_heap_dump *dump);
	void *dump_context;
	bool beside;  /* The member has a dump: `referrers` and `unreachable` alone are added, as outside.json, and
	                 `graph`. Where there is no jemalloc that is known, or no right to read it, that is no mistake,
	                 and nothing is added. Since: 0.2 */
	bool if_much; /* `unreachable` where it takes little and says much: up to 1 GB of live memory are looked into,
	                 and what is found counts from 1 MB and 1 % of that on. Else nothing is known. Since: 0.2 */
};

/* Reads jemalloc's own tables in the memory of a process that need not be prepared, and adds what they say to the
 * member that was begun, as heap.json (docs/internals/outside.md). The process runs on: nothing is stopped, sent or
 * written, and no page is read that is not in memory. *seen is what is worth a word. JPROF_E_FORMAT: no jemalloc was
 * found there; JPROF_E_UNSUPPORTED: one that is not known, with its version; JPROF_E_IO: that memory may not be read,
 * with the reason that was found (JPROF_ADVICE_MEMORY: root's rights would do); then nothing was added. `opts` may be
 * NULL. Since: 0.2 */
JPROF_API int jprof_target_heap(struct jprof_target *target, const struct jprof_heap_opts *opts,
                                struct jprof_bundle_writer *writer, struct jprof_heap_seen *seen,
                                struct jprof_error *err);

/* Adds how large the heaps of V8 in a process are, as v8.json, to the member that was begun, which has a dump. Its
 * memory is read as by jprof_target_heap. 0 also where there are none, or where it may not be read: then nothing was
 * added. Since: 0.2 */
JPROF_API int jprof_target_v8(const struct jprof_target *target, struct jprof_bundle_writer *writer,
                              struct jprof_error *err);

/* Finds in a Ruby's memory, which is read as by jprof_target_heap, the object that has each block which its jemalloc
 * sampled: what jprof_rubyheap_buffers takes, to be called right after a graph of its objects was read. *text is for
 * free(); NULL where there is no Ruby, or no profile that is known, or where the memory may not be read. Since: 0.2 */
JPROF_API int jprof_target_buffers(const struct jprof_target *target, char **text, size_t *len,
                                   struct jprof_error *err);

/* What was changed on pages that a process and its parent shared after the fork, so that each has its own now. */
enum jprof_copy_kind {
	JPROF_COPY_OBJECTS,     /* Ruby's objects of a class: changed, or new in the slot of another of their type */
	JPROF_COPY_NEW_OBJECTS, /* ... new ones in slots that were free, or had another type */
	JPROF_COPY_SWEPT,       /* ... slots whose objects are gone */
	JPROF_COPY_GC,          /* what Ruby's collector notes: marks, ages, lists of free slots */
	JPROF_COPY_BLOCKS,      /* live blocks of a size, where malloc is jemalloc */
	JPROF_COPY_FREED,       /* malloc's free memory */
	JPROF_COPY_MALLOC,      /* jemalloc's own data */
	JPROF_COPY_FILES,       /* variables of the program and of libraries */
	JPROF_COPY_STACKS,      /* of threads */
	JPROF_COPY_OTHER,       /* other memory without a file: malloc's, where it is not jemalloc */
	JPROF_COPY_EQUAL,       /* copied, and equal now */
	JPROF_COPIES
};

struct jprof_copy {
	enum jprof_copy_kind kind;
	const char *name; /* JPROF_COPY_OBJECTS: of the class, or the type where that is not known; "": others */
	uint64_t size;    /* JPROF_COPY_BLOCKS: of each, bytes */
	double bytes;     /* of the copied pages: where several kinds were changed on one, each has an equal part */
	uint64_t pages;   /* on which there is some of it */
	uint64_t objects; /* or blocks that were changed; 0: they are not counted */
};

/* Sums over the processes that were added, in bytes. */
struct jprof_copies_total {
	unsigned processes;
	double copied; /* pages that the parent has, too, and others than this process */
	double shared; /* writable pages that another process still shares */
	double fresh;  /* pages that the parent does not have */
};

struct jprof_copies;

/* Compares the memory of a process with its parent's, and adds what was copied since the fork to *copies; NULL there
 * makes it anew. Both run on; pages are read as jprof_target_heap does. JPROF_E_FORMAT: it is no fork of this parent;
 * JPROF_E_IO: memory may not be read. Since: 0.2 */
JPROF_API int jprof_target_copies(const struct jprof_target *process, const struct jprof_target *parent,
                                  struct jprof_copies **copies, struct jprof_error *err);

/* How many rows there are; 0 of NULL. Since: 0.2 */
JPROF_API size_t jprof_copies_count(const struct jprof_copies *copies);

/* The i-th row, the largest first; NULL: there is none. It lives until more is added to `copies`. Since: 0.2 */
JPROF_API const struct jprof_copy *jprof_copies_at(const struct jprof_copies *copies, size_t i);

/* All zero of NULL. Since: 0.2 */
JPROF_API struct jprof_copies_total jprof_copies_total(const struct jprof_copies *copies);

/* Frees it; NULL is fine. Since: 0.2 */
JPROF_API void jprof_copies_free(struct jprof_copies *copies);

/* The same of a core, an ELF file as the kernel or gdb writes them, which is read as hostile: begins a member, and adds
 * heap.json, and maps, smaps and status as far as a core tells. One look, with the registers of all threads. Files that
 * it names are opened only where they have the build-id that is in it. JPROF_E_FORMAT: it is no core, or no jemalloc
 * was found there. `opts` may be NULL. Since: 0.2 */
JPROF_API int jprof_core_heap(const char *path, const struct jprof_heap_opts *opts, struct jprof_bundle_writer *writer,
                              struct jprof_heap_seen *seen, struct jprof_error *err);

/* ---- Dumps that a process made ------------------------------------------------------------------ */

/* A file that a process made, open for reading. */
struct jprof_dump_file;

/* The dump that the process's agent made last and its side-car. Taken are two sealed memfds; else two regular files
 * PREFIX.PID.SEQ.jN.heap and the same with .json, in one directory, of the process's user. The side-car must be of
 * this process and this dump, which was made after it was asked for. Since: 0.1 */
JPROF_API int jprof_agent_files(struct jprof_agent *agent, const struct jprof_target *target,
                                struct jprof_dump_file **dump, struct jprof_dump_file **sidecar,
                                struct jprof_error *err);

/* The table of Ruby stacks of the dump that jprof_agent_files gave (docs/internals/ruby-table.md); *table is NULL where
 * there is none. One that is not of this process and this dump is refused. Since: 0.2 */
JPROF_API int jprof_agent_table(struct jprof_agent *agent, const struct jprof_target *target,
                                const struct jprof_dump_file *dump, struct jprof_dump_file **table,
                                struct jprof_error *err);

/* The same of a dump that a watch gave: what cannot be opened, or is of another dump, is none. Since: 0.2 */
JPROF_API int jprof_target_table(const struct jprof_target *target, const struct jprof_dump_file *dump,
                                 struct jprof_dump_file **table, struct jprof_error *err);

/* The side-car of a dump that a watch with `agent` gave, with the same checks. Since: 0.1 */
JPROF_API int jprof_target_sidecar(const struct jprof_target *target, const struct jprof_dump_file *dump,
                                   struct jprof_dump_file **sidecar, struct jprof_error *err);

/* Its descriptor, at any offset; it is the file's, and closed with it. Since: 0.1 */
JPROF_API int jprof_dump_file_fd(const struct jprof_dump_file *file);

/* Its name without the directory; it lives as long as the file. Since: 0.1 */
JPROF_API const char *jprof_dump_file_name(const struct jprof_dump_file *file);

/* Removes it, if it still has that name: another file is left alone, and a memfd has none. Since: 0.1 */
JPROF_API int jprof_dump_file_remove(struct jprof_dump_file *file, struct jprof_error *err);

/* Closes the descriptor and frees it; the file itself stays. NULL is fine. Since: 0.1 */
JPROF_API void jprof_dump_file_free(struct jprof_dump_file *file);

/* Waits for a dump that a signal makes. */
struct jprof_dump_watch;

/* Begins to watch, before the signal, for files PREFIX.PID.*.heap; a PREFIX that ends in a slash means all
 * *.PID.*.heap of that directory. With `agent` a dump is complete when it can be seen, and one that was not made
 * because of a signal is not taken; else it is when its end is there. The target must outlive the watch. Since: 0.1 */
JPROF_API int jprof_target_watch(const struct jprof_target *target, const char *prefix, bool agent,
                                 struct jprof_dump_watch **watch, struct jprof_error *err);

/* Waits up to `timeout` milliseconds for the next one. Since: 0.1 */
JPROF_API int jprof_dump_watch_wait(struct jprof_dump_watch *watch, unsigned timeout, struct jprof_dump_file **file,
                                    struct jprof_error *err);

/* Ends the watch; NULL is fine. Since: 0.1 */
JPROF_API void jprof_dump_watch_free(struct jprof_dump_watch *watch);

/* Lets the process alone and frees what was held of it, after its watches; NULL is fine. Since: 0.1 */
JPROF_API void jprof_target_free(struct jprof_target *target);

#ifdef __cplusplus
}
#endif

#endif
