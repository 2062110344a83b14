#include "ruby/newobj.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "textbuf.h"

/* As many arguments as any of the functions has, and more: all that registers pass are passed on, whatever they are. */
typedef VALUE newobj_fn(VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f);

enum newobj_name {
	NEWOBJ_PROTECTED,
	NEWOBJ_UNPROTECTED,
	NEWOBJ_PROTECTED_EC,
	NEWOBJ_OF,
	NEWOBJ_IMEMO,
	NEWOBJ_DATA,
	NEWOBJ_TYPED_DATA,
	NEWOBJ_DATA_ZALLOC,
	NEWOBJ_TYPED_DATA_ZALLOC,
	NEWOBJ_NAMES,
	NEWOBJ_PLAIN = NEWOBJ_NAMES, /* these two have none */
	NEWOBJ_EXCEPTION,
	NEWOBJ_FUNCTIONS
};

/* An object may ask for 16 bytes, and gets 40: with these it is a sample as often as its slot deserves. */
enum { ONE_SLOT = 40, ADDED = 24 };

static const char newobj_names[NEWOBJ_NAMES][32] = {
	[NEWOBJ_PROTECTED] = "rb_wb_protected_newobj_of",
	[NEWOBJ_UNPROTECTED] = "rb_wb_unprotected_newobj_of",
	[NEWOBJ_PROTECTED_EC] = "rb_ec_wb_protected_newobj_of",
	[NEWOBJ_OF] = "rb_newobj_of",
	[NEWOBJ_IMEMO] = "rb_imemo_new",
	[NEWOBJ_DATA] = "rb_data_object_wrap",
	[NEWOBJ_TYPED_DATA] = "rb_data_typed_object_wrap",
	[NEWOBJ_DATA_ZALLOC] = "rb_data_object_zalloc",
	[NEWOBJ_TYPED_DATA_ZALLOC] = "rb_data_typed_object_zalloc",
};

static const struct newobj_version newobj_versions[] = {
	{ "3.1.", .size_at = 3, .counts_imemo = true, .finds_plain = true, .moves_data = true, .page_log = 14 },
	{ "3.2.", .size_at = 3, .counts_imemo = true, .finds_plain = true, .has_sizes = true, .moves_data = true,
	  .page_log = 16 },
	{ "3.3.", .size_at = 4, .counts_imemo = true, .counts_zalloc = true, .counts_typed_zalloc = true,
	  .finds_plain = true, .has_sizes = true, .page_log = 16 },
	{ "3.4.", .size_at = 4, .counts_zalloc = true, .counts_typed_zalloc = true, .has_sizes = true, .page_log = 16 },
	{ "4.0.", .size_at = 5, .counts_typed_zalloc = true, .has_sizes = true, .is_marked = true, .page_log = 16 },
};

static const struct newobj_sampler *sampler; /* NULL: there is none */
static const struct newobj_version *known;   /* NULL: this Ruby is not */
static newobj_fn *real[NEWOBJ_FUNCTIONS];
typedef newobj_fn *alloc_func_fn(VALUE class);
static alloc_func_fn first_alloc_func, *real_alloc_func = first_alloc_func;
static atomic_bool resolved;
static unsigned size_at = 3;         /* which argument is the size */
static long fixed[NEWOBJ_FUNCTIONS]; /* sizes that are not said; 0: it is not counted */
static __thread long left __attribute__((tls_model("initial-exec")));
static __thread long left_before __attribute__((tls_model("initial-exec"))); /* the pause */
static __thread bool draws __attribute__((tls_model("initial-exec")));       /* `left` was drawn */

/* Nobody calls it: this Ruby has no such function. */
static VALUE newobj_none(VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return 0;
}

static newobj_fn *no_alloc_func(VALUE class)
{
	(void)class;
	return NULL;
}

/* musl finds the agent's own functions, too. */
static bool is_another(const void *found)
{
	Dl_info ours, theirs;
	return found && dladdr(newobj_names, &ours) && dladdr(found, &theirs) && ours.dli_fbase != theirs.dli_fbase;
}

/* Looks in each library that is loaded; the one that has it stays loaded. The return address does not tell which that
 * is: where the call is the last act of its caller, it is an address of the caller's own caller. */
static void *find_anywhere(const char *name)
{
	struct textbuf maps = { 0 };
	void *found = NULL;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	bool whole = fd >= 0 && textbuf_read(&maps, fd) == 0;
	for (char *line = whole ? maps.data : NULL, *end; !found && line && (end = strchr(line, '\n'));
	     line = end + 1) {
		*end = '\0';
		const char *path = strstr(line, " r-xp ") ? strchr(line, '/') : NULL;
		void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
		found = library ? dlsym(library, name) : NULL;
		if (is_another(found))
			break;
		found = NULL;
		if (library)
			dlclose(library);
	}
	if (fd >= 0)
		close(fd);
	textbuf_free(&maps);
	return found;
}

/* `late`: a Ruby that was loaded later, into a program that is none, is not in the scope of all. */
static void *find_real(const char *name, bool late)
{
	void *found = dlsym(RTLD_NEXT, name);
	return found || !late ? found : find_anywhere(name);
}

static void resolve(bool late)
{
	for (int i = 0; i < NEWOBJ_NAMES; i++) {
		void *found = find_real(newobj_names[i], late);
		real[i] = found ? (newobj_fn *)(uintptr_t)found : newobj_none;
	}
	void *found = find_real("rb_get_alloc_func", late);
	real_alloc_func = found ? (alloc_func_fn *)(uintptr_t)found : no_alloc_func;
	atomic_store_explicit(&resolved, true, memory_order_release);
}

/* In place of Ruby's, until that is known. */
static newobj_fn *first_alloc_func(VALUE class)
{
	resolve(true);
	return real_alloc_func(class);
}

void newobj_ask(const struct newobj_sampler *asked)
{
	sampler = asked;
}

static const struct newobj_version *newobj_known(const char *version)
{
	for (size_t i = 0; i < sizeof newobj_versions / sizeof *newobj_versions; i++)
		if (strncmp(version, newobj_versions[i].version, strlen(newobj_versions[i].version)) == 0)
			return &newobj_versions[i];
	return NULL;
}

/* The size is to be right from the first call on. What is taken for it in a Ruby that is not known may be anything, but
 * for its sign: nobody's counter grows, and the first call of all is a slow one. */
void newobj_load(void)
{
	const char *version = dlsym(RTLD_DEFAULT, "ruby_version");
	known = version ? newobj_known(version) : NULL;
	size_at = known ? known->size_at : 3;
	resolve(false);
}

void newobj_pause(bool paused)
{
	const long much = 1 << 24; /* not for ever: some Rubies go on with a thread on another one of the system */
	if (paused)
		left_before = left;
	left = paused ? much : left_before;
}

/* The counter was used up by an object of this size: its next value, and whether the object is a sample. */
static bool advance(long size)
{
	long idle = sampler ? sampler->idle() : 1L << 60;
	if (idle) {
		draws = false;
		left = idle;
		return false;
	}
	bool sampled = draws;
	if (!draws)
		left = -size;
	draws = true;
	left += sampler->draw();
	for (; left <= 0; left += sampler->draw())
		sampled = true;
	return sampled;
}

/* Which function, and for how many bytes: its arguments follow. */
static __attribute__((noinline)) VALUE newobj_slowly(enum newobj_name which, long size, VALUE a, VALUE b, VALUE c,
                                                     VALUE d, VALUE e, VALUE f)
{
	if (!atomic_load_explicit(&resolved, memory_order_acquire))
		resolve(true);
	VALUE object = real[which](a, b, c, d, e, f);
	int error = errno;
	if (left <= 0 && size && advance(size) && object)
		sampler->take(object, size);
	errno = error;
	return object;
}

/* Takes the size off the counter; is there something left? In one instruction where the compiler uses three. */
#ifdef __x86_64__
static inline __attribute__((always_inline)) bool count_down(long size)
{
	bool is_left;
	__asm__("sub %2, %0" : "+m"(left), "=@ccg"(is_left) : "r"(size));
	return is_left;
}
#else
static inline __attribute__((always_inline)) bool count_down(long size)
{
	return (left -= size) > 0;
}
#endif

/* The argument that is the size. With branches, which are foreseen: fewer instructions than with moves. */
static inline __attribute__((always_inline)) long size_among(VALUE third, VALUE fourth, VALUE fifth)
{
	if (__builtin_expect_with_probability(size_at > 4, 1, 0.9))
		return (long)(uint32_t)fifth + ADDED;
	if (__builtin_expect_with_probability(size_at == 4, 1, 0.9))
		return (long)(uint32_t)fourth + ADDED;
	return (long)(uint32_t)third + ADDED;
}

#define NEWOBJ_ENTRY(function, which, bytes)                                                                           \
	VALUE function(VALUE a, VALUE b, VALUE c, VALUE d, VALUE e, VALUE f)                                           \
	{                                                                                                              \
		long size = (long)(bytes);                                                                             \
		if (__builtin_expect(count_down(size), 1))                                                             \
			return real[which](a, b, c, d, e, f);                                                          \
		return newobj_slowly(which, size, a, b, c, d, e, f);                                                   \
	}

/* Under a version that nobody asks for. glibc gives a reference without a version a name whose version is not the
 * default one, and dlsym() does not find it; musl gives such a name to nobody. */
#ifdef __GLIBC__
#define NEWOBJ_VERSION "@JPROF_AGENT"
#else
#define NEWOBJ_VERSION "@@JPROF_AGENT"
#endif

#define NEWOBJ_EXPORTED(function, name, which, bytes)                                                                  \
	__asm__(".symver " #function ", " name NEWOBJ_VERSION);                                                        \
	newobj_fn function __attribute__((visibility("default"), used));                                               \
	NEWOBJ_ENTRY(function, which, bytes)

NEWOBJ_EXPORTED(newobj_protected, "rb_wb_protected_newobj_of", NEWOBJ_PROTECTED, size_among(c, d, e))
NEWOBJ_EXPORTED(newobj_unprotected, "rb_wb_unprotected_newobj_of", NEWOBJ_UNPROTECTED, size_among(c, c, d))
NEWOBJ_EXPORTED(newobj_protected_ec, "rb_ec_wb_protected_newobj_of", NEWOBJ_PROTECTED_EC, (long)(uint32_t)d + ADDED)
NEWOBJ_EXPORTED(newobj_of, "rb_newobj_of", NEWOBJ_OF, fixed[NEWOBJ_OF])
NEWOBJ_EXPORTED(newobj_imemo, "rb_imemo_new", NEWOBJ_IMEMO, fixed[NEWOBJ_IMEMO])
NEWOBJ_EXPORTED(newobj_data, "rb_data_object_wrap", NEWOBJ_DATA, fixed[NEWOBJ_DATA])
NEWOBJ_EXPORTED(newobj_typed_data, "rb_data_typed_object_wrap", NEWOBJ_TYPED_DATA, fixed[NEWOBJ_TYPED_DATA])
NEWOBJ_EXPORTED(newobj_data_zalloc, "rb_data_object_zalloc", NEWOBJ_DATA_ZALLOC, fixed[NEWOBJ_DATA_ZALLOC])
NEWOBJ_EXPORTED(newobj_typed_data_zalloc, "rb_data_typed_object_zalloc", NEWOBJ_TYPED_DATA_ZALLOC,
                fixed[NEWOBJ_TYPED_DATA_ZALLOC])

static NEWOBJ_ENTRY(newobj_plain, NEWOBJ_PLAIN, ONE_SLOT) static NEWOBJ_ENTRY(newobj_exception, NEWOBJ_EXCEPTION,
                                                                              ONE_SLOT)

    /* To Ruby 3.3 what allocates plain objects, and exceptions, is called by its address. Where that is asked for, the
     * address of one that counts is given. */
    __asm__(".symver newobj_alloc_func, rb_get_alloc_func" NEWOBJ_VERSION);
alloc_func_fn newobj_alloc_func __attribute__((visibility("default"), used));

newobj_fn *newobj_alloc_func(VALUE class)
{
	if (!real[NEWOBJ_PLAIN])
		return real_alloc_func(class);
	newobj_fn *found = real_alloc_func(class);
	if (__builtin_expect(found && found == real[NEWOBJ_PLAIN], 1))
		return newobj_plain;
	return found && found == real[NEWOBJ_EXCEPTION] ? newobj_exception : found;
}

static void find_plain(void)
{
	const VALUE *basic_object = dlsym(RTLD_DEFAULT, "rb_cBasicObject");
	const VALUE *exception = dlsym(RTLD_DEFAULT, "rb_eException");
	if (!basic_object || !exception)
		return;
	real[NEWOBJ_PLAIN] = real_alloc_func(*basic_object);
	real[NEWOBJ_EXCEPTION] = real_alloc_func(*exception);
}

const struct newobj_version *newobj_start(void)
{
	if (!known)
		return NULL;
	fixed[NEWOBJ_OF] = ONE_SLOT;
	fixed[NEWOBJ_IMEMO] = known->counts_imemo ? ONE_SLOT : 0;
	fixed[NEWOBJ_DATA] = fixed[NEWOBJ_TYPED_DATA] = ONE_SLOT;
	fixed[NEWOBJ_DATA_ZALLOC] = known->counts_zalloc ? ONE_SLOT : 0;
	fixed[NEWOBJ_TYPED_DATA_ZALLOC] = known->counts_typed_zalloc ? ONE_SLOT : 0;
	if (known->finds_plain)
		find_plain();
	return known;
}
