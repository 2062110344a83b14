/* The model: everything has an id, and equal things have the same one.
 *
 *   object    a file, or a region without one, in which code lies
 *   location  an object and an offset in it: what a stack is made of. Offsets, not addresses, so
 *             that runs of a program meet whatever their load addresses
 *   frame     one function at a location; several where functions are inlined, innermost first
 *   function  a name, and the file it stands in
 *   sample    a stack (locations, innermost first) and its four values
 *
 * A location need not be native: its object says what it is. */
#pragma once

#include <time.h>

#include "base/intern.h"
#include "base/textparts.h"
#include "input/maps.h"
#include "jprof.h"
#include "model/epochs.h"
#include "model/process_sums.h"
#include "model/samples.h"
#include "model/tags.h"

/* Whether the names of an object are those of the file that ran. */
enum jp_doubt {
	JP_DOUBT_NONE,     /* the file that gave them was proven to be it, or no file gave any */
	JP_DOUBT_UNPROVEN, /* nothing proves it */
	JP_DOUBT_CHANGED,  /* and the file was changed after the dump was made */
};

struct jp_object {
	uint32_t path; /* id in strings */
	enum jp_map_kind kind;
	bool unmapped; /* stands for all addresses outside every mapping; offsets are addresses */
	bool image;    /* offsets are image addresses, as program headers have them, and not file offsets */
	uint64_t inode;
	uint32_t dev_major, dev_minor;

	/* Filled in by symbolizing. */
	enum jprof_proof proof;
	bool program;          /* has a program header for an interpreter, or is no shared object */
	bool allocator;        /* a library that is the allocator: all its frames at the leaf go */
	bool judged;           /* the input told whether it is that */
	uint32_t entry_prefix; /* string id: what stands before malloc in a static allocator's names, or JP_NONE */
	uint32_t build_id;     /* string id, or JP_NONE; known before symbolizing where the input tells it */
	uint32_t reason;       /* string id, or JP_NONE */
	enum jprof_advice advice;
	uint32_t label;     /* bytes of the file's name that nameless locations have; of lean profiles */
	uint32_t file;      /* path of the file that was used (string id), or JP_NONE */
	uint32_t file_root; /* the directory below which that is (string id), or JP_NONE: none */
	struct jp_file_mark {
		uint64_t dev, inode, size;
		int64_t seconds, nanoseconds;
	} file_mark; /* by which it is known again */

	bool bundled;         /* a bundle told all of the above, as symbolizing had found it where that was made */
	uint32_t unproven_id; /* the build-id of the file that it used there without proof: string id, or JP_NONE */
	uint32_t refused_id;  /* the build-id of a file that was there and had not run: string id, or JP_NONE */
	enum jp_doubt doubt;  /* of names that came with the input, or that a file gave */
	bool placeless;       /* the input tells of it, and not which of its addresses lie in it */
	bool by_id_only;      /* the input has names of its own: no file gives any unless its build-id is this one's */
};

struct jp_mapping {
	struct jprof_map map; /* its path is not kept here */
	uint32_t object;
};

struct jp_location {      /* a large dump has millions */
	uint64_t offset;  /* in the file, or an address where there is no file */
	uint64_t address; /* where it was in the first process that had it */
	uint32_t object;
	uint32_t variant; /* above 0: the input calls one place by several names; see jp_location_named */
	uint32_t frame_first;
	unsigned frame_count : 24; /* 0 until symbolized */
	unsigned source : 4;       /* enum jprof_source */
	bool given : 1;            /* the frames came with the input */
	bool bundled : 1;     /* source, vaddr, frames and wrapper are what symbolizing found when a bundle was made */
	bool returned_to : 1; /* a call returned there: one stands before it, where the file is the one that ran */
	bool wrapper : 1;     /* a nameless function that an allocation wrapper jumps to */
};

enum { jp_most_frames = (1 << 24) - 1 }; /* of a location */

struct jp_frame {
	uint32_t function;
	uint32_t line; /* 0: not known */
	bool inlined;
};

struct jp_function {
	uint32_t name;   /* demangled, with parameters */
	uint32_t brief;  /* without them */
	uint32_t system; /* as the linker knows it */
	uint32_t file;   /* JP_NONE: not known */
};

/* A process behind a profile, as a bundle or a side-car tells. */
struct jp_process {
	uint64_t pid, start_ticks;                                  /* 0: not known */
	const char *boot_id, *name, *program, *title, *role, *ruby; /* "": not known */
	const char *invoked; /* the name that it was started with, without folders; likewise */
	double rss;          /* bytes; 0: not known */
};

struct jprof_profile {
	struct jp_intern strings;
	struct jp_intern object_keys, variant_keys;
	struct jp_index location_ids, function_ids;
	struct jp_object *objects;
	size_t object_cap;
	struct jp_location *locations;
	size_t location_cap;
	uint64_t *vaddrs; /* of the first `vaddr_count` locations: image-relative, 0 where it is not known */
	size_t vaddr_count;
	struct jp_function *functions;
	size_t function_cap;
	struct jp_frame *frames;
	size_t frame_count, frame_cap;
	struct jp_stack_table stacks;
	struct jp_samples samples;
	struct jp_epochs epochs;
	struct jp_intern tags;
	uint32_t *threads; /* string ids of the labels of samples, t2 before t10 */
	size_t thread_count, thread_cap;
	struct jp_mapping *mappings;
	size_t mapping_count, mapping_cap;
	struct jp_intern mapping_keys; /* by which merging finds the first `mapping_indexed` of them */
	size_t mapping_indexed;
	char **notes;
	size_t note_count, note_cap;
	enum jprof_advice *note_advice; /* of each note */
	size_t note_advice_cap;
	uint32_t debug_root, debug_dirs, debug_files; /* where debug files were looked for (string ids), or JP_NONE */
	struct jp_intern directories;                 /* the working directories of processes that run Ruby */
	struct jp_intern gems;                        /* "NAME VERSION" of those whose paths have no version */
	bool unlearned_ruby;     /* of some stacks it is not known where the interpreter begins: names may tell */
	uint32_t outside_ruby;   /* the place that stands for no Ruby stack; JP_NONE: none have one */
	uint32_t allocator_hint; /* the object of the samples' innermost frames, or JP_NONE */
	time_t mtime;            /* when the newest dump was made; 0: not known */
	time_t first_mtime;      /* when the first was made; 0: not known of some */
	time_t base_mtime;       /* when the newest of what was subtracted was made; 0: not known */
	uint64_t rate;           /* mean bytes between two samples; 0: not known, or several */
	struct jp_lineage lineage;
	struct jp_outside outside;
	struct jp_identity { /* of a process; texts by their string ids, in the order of struct jp_process */
		uint64_t pid, start_ticks;
		uint32_t text[7];
		bool base; /* of what was subtracted */
		double rss;
	} * identities;
	size_t identity_count, identity_cap;
	struct jp_cut_sums { /* of what was added: all, and what has stacks that were cut */
		double all[JPROF_COUNTERS], cut[JPROF_COUNTERS];
	} cut;
	bool loose_addresses; /* some input does not tell whether its addresses lie in calls */
	bool nothing_common;  /* the two sides of a difference have no stack in common */
	bool strange[2];      /* the processes of some input are not known: of now, of the base */
	struct jprof_profile_info info;
	char *members;    /* owns info.members; NULL: "" */
	char *thread;     /* the only thread that was read, or "*", as it was asked for; NULL: all together */
	uint32_t *inputs; /* names of what was read (string ids) */
	size_t input_count, input_cap;
	uint32_t base_input; /* of what was subtracted (string id), or JP_NONE */
	bool named;          /* names were looked for: it does not change any more */
	bool lean;           /* then locations without a name have no frames: model/nameless.h */
};

/* Why something cannot be made of a lean profile. */
extern const char jp_too_lean[];

/* Numbers of things; ids run from 0 to these less one. */
uint32_t jp_object_count(const struct jprof_profile *profile);
uint32_t jp_location_count(const struct jprof_profile *profile);
uint32_t jp_function_count(const struct jprof_profile *profile);
uint32_t jp_sample_count(const struct jprof_profile *profile);

/* The id of a thing, made when it is new; JP_NONE when memory is short. */
uint32_t jp_object_id(struct jprof_profile *profile, const struct jp_object *like);

/* The same for an object whose build-id (a string id, or JP_NONE) the input tells: files of one path and
 * two builds are two objects. */
uint32_t jp_object_built(struct jprof_profile *profile, const struct jp_object *like, uint32_t build_id);

/* The object with the key of `like` that was the first of its path, or came with this build-id as another of it;
 * JP_NONE if there is none. */
uint32_t jp_object_find(const struct jprof_profile *profile, const struct jp_object *like, uint32_t build_id);

uint32_t jp_location_id(struct jprof_profile *profile, uint32_t object, uint64_t offset, uint64_t address);

/* The location at a place that an input calls by these frames, innermost first: the place's own if it has
 * no frames yet or these, else a variant, for one place may stand in an input with and without its folded
 * frames. */
uint32_t jp_location_named(struct jprof_profile *profile, uint32_t object, uint64_t offset, uint64_t address,
                           const struct jp_frame *frames, size_t count, enum jprof_source source);

uint32_t jp_function_id(struct jprof_profile *profile, const struct jp_function *function);
uint32_t jp_function_named(struct jprof_profile *profile, const char *name, const char *brief, const char *system,
                           const char *file);

/* Where a location is in its file as program headers have it; 0: not known. Setting it is 0, or -1 when memory is
 * short. */
uint64_t jp_location_vaddr(const struct jprof_profile *profile, uint32_t location);
int jp_location_set_vaddr(struct jprof_profile *profile, uint32_t location, uint64_t vaddr) jp_must_check;

/* Takes over what a bundle tells of a place: all but the place of `like`, with these frames, unless what is known
 * there is as good. 0, or -1 when memory is short. */
int jp_location_bundled(struct jprof_profile *profile, uint32_t location, const struct jp_location *like,
                        uint64_t vaddr, const struct jp_frame *frames, size_t count) jp_must_check;

/* Puts a frame behind those that a location has; frames of one location are added in one go,
 * innermost first. 0, or -1 when memory is short or `function` is JP_NONE. */
int jp_frame_add(struct jprof_profile *profile, uint32_t location, uint32_t function, unsigned line,
                 bool inlined) jp_must_check;

/* Adds `factor` times what `like` holds to the sample with this label and a stack of `depth` location ids, made when
 * it is new. What was sampled for the two counts as independent. 0, or -1 when memory is short. */
int jp_sample_add(struct jprof_profile *profile, const uint32_t *stack, size_t depth, struct jp_label label,
                  const struct jp_values *like, double factor) jp_must_check;

/* The string id of a sample's thread, or JP_NONE: all together. */
uint32_t jp_sample_thread(const struct jprof_profile *profile, const struct jp_sample *sample);

/* Whether, in a difference, it is not known what of a sample both sides have. */
bool jp_sample_is_open(const struct jprof_profile *profile, const struct jp_sample *sample);

/* Whether stacks are split by epoch or tag, into samples of their own. */
bool jp_has_split_stacks(const struct jprof_profile *profile);

/* The id of a thread label for samples; JP_NONE when memory is short. */
uint32_t jp_thread_label(struct jprof_profile *profile, const char *label);

/* Gives back the memory by which things that are there are found again, until something is made anew. */
void jp_profile_rest(struct jprof_profile *profile);

/* The locations of a stack, innermost first. */
const uint32_t *jp_stack_get(const struct jprof_profile *profile, uint32_t stack, size_t *depth);

const char *jp_string(const struct jprof_profile *profile, uint32_t id);

/* How much of such a part names the file: "libruby-3.1" of "libruby-3.1.so.3.1.2". What has no ".so" at its end or
 * before a version is named as a whole. */
size_t jp_stem_length(const char *basename);

/* Whether the file is an interpreter of Ruby: "libruby-3.1.so.3.1.2", "ruby3.1"; not "rubyfmt". */
bool jp_is_ruby_file(const char *path);

/* Notes something for the user, unless it is noted already. 0, or -1 when memory is short. */
int jp_note(struct jprof_profile *profile, const char *fmt, ...) jp_printf(2, 3);

/* The same for a text that is there, with what would help. */
int jp_note_advised(struct jprof_profile *profile, const char *text, enum jprof_advice advice);

/* Remembers which thread was asked for (NULL: none), and the name of the input ("<stdin>" is "-"), in place of those
 * known. 0, or -1 when memory is short. */
int jp_profile_set_thread(struct jprof_profile *profile, const char *thread) jp_must_check;
int jp_profile_set_input(struct jprof_profile *profile, const char *name) jp_must_check;

/* Takes out all things that were added since the profile was `was`, a copy of the struct. What was changed stays. */
void jp_profile_undo_adding(struct jprof_profile *profile, const struct jprof_profile *was);

struct jprof_profile *jp_profile_empty(void);
