/* Makes a function at run time, which has memory allocated, and tells its name in /tmp/perf-PID.map as JIT compilers
 * do; then makes the file `ready` and waits. x86-64 only. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *volatile held[1000];

__attribute__((noinline)) void j_keep(void)
{
	for (int i = 0; i < 1000; i++) {
		char *p = malloc(10000);
		p[0] = 1;
		held[i] = p;
	}
}

int main(void)
{
	/* push %rbp; mov %rsp,%rbp; movabs $j_keep,%rax; call *%rax; pop %rbp; ret */
	unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3 };
	void (*target)(void) = j_keep;
	memcpy(code + 6, &target, sizeof target);
	unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return 1;
	memcpy(page, code, sizeof code);
	char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
	FILE *map = fopen(path, "w");
	if (!map)
		return 1;
	fprintf(map, "%jx %zx made_at_run_time\n", (uintmax_t)(uintptr_t)page, sizeof code);
	fclose(map);
	void (*made)(void);
	memcpy(&made, &page, sizeof made);
	made();
	fclose(fopen("ready", "w"));
	for (;;)
		pause();
}
