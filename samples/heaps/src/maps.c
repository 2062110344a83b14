/* Every oddity of /proc/PID/maps in one dump: the same addon.so, loaded from
   odd places, keeps another amount from each.

   maps DIR OUT.heap       DIR holds addon.so; copies of it are made there

   Run with libjemalloc preloaded and MALLOC_CONF=prof:true,lg_prof_sample:0
   (every allocation is in the dump, so the amounts are exact). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* Not linked against jemalloc: LD_PRELOAD chooses which one. */
__attribute__((weak)) int mallctl(const char *, void *, size_t *, void *, size_t);

typedef void keep_fn(size_t size, int n);

static void *volatile keep;

static __attribute__((noinline)) void row_new(size_t size)
{
	keep = memset(malloc(size), 1, size);
}

static __attribute__((noinline)) void rows_keep(size_t size, int n)
{
	for (int i = 0; i < n; i++)
		row_new(size);
}

/* A second executable segment: the linker gives this section, writable and
   executable, a PT_LOAD of its own. */
__attribute__((noinline, section(".hot,\"awx\",@progbits#")))
static void hot_keep(size_t size, int n)
{
	for (int i = 0; i < n; i++)
		keep = memset(malloc(size), 1, size);
}

static void copy(const char *from, int to)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || to < 0 || sendfile(to, fd, NULL, 1 << 20) <= 0)
		err(1, "cannot copy %s", from);
	close(fd);
}

static keep_fn *load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);

	if (!library)
		errx(1, "%s", dlerror());
	return (keep_fn *)dlsym(library, "addon_keep");
}

static keep_fn *load_copy(const char *addon, const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	copy(addon, fd);
	close(fd);
	return load(name);
}

/* As a JIT has it: code in anonymous memory, jumping to the function in its
   third argument.  Without unwind information the stack ends there. */
static void *jit(void)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, /* sub $8,%rsp */
		0xff, 0xd2,             /* call *%rdx */
		0x48, 0x83, 0xc4, 0x08, /* add $8,%rsp */
		0xc3,                   /* ret */
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		err(1, "mmap");
	return memcpy(page, code, sizeof code);
}

/* One segment, two ranges: a page of the code is made writable, as by a patcher. */
static void split(keep_fn *fn)
{
	if (mprotect((void *)((size_t)fn & -4096), 4096, PROT_READ | PROT_WRITE | PROT_EXEC))
		err(1, "mprotect");
}

int main(int argc, char **argv)
{
	keep_fn *fn;
	char path[64];
	int fd;

	if (argc != 3 || !mallctl)
		errx(1, "usage: LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=prof:true,lg_prof_sample:0 maps DIR OUT.heap");
	if (chdir(argv[1]))
		err(1, "%s", argv[1]);

	rows_keep(10000, 1);
	hot_keep(10000, 2);
	load_copy("addon.so", "./with blank.so")(10000, 3);
	load_copy("addon.so", "./addon.node")(10000, 4);
	load_copy("addon.so", "./two\nlines.so")(10000, 5);

	fn = load_copy("addon.so", "./removed.so");
	unlink("removed.so");
	fn(10000, 6);

	fd = memfd_create("addon in memory", 0);
	copy("addon.so", fd);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	load(path)(10000, 7);

	((void (*)(size_t, int, keep_fn *))jit())(10000, 8, rows_keep);

	fn = load("./addon.so");
	split(fn);
	fn(10000, 9);

	if (mallctl("prof.dump", NULL, NULL, (void *)&argv[2], sizeof argv[2]))
		errx(1, "no dump: is MALLOC_CONF=prof:true set, and libjemalloc built with --enable-prof?");
	return 0;
}
