/* A Ruby extension that allocates while the VM is taken down: the main thread is freed, the VM's pointer stands. */
#include <stdlib.h>

extern void ruby_vm_at_exit(void (*run)(void *vm));

static void allocate(void *vm)
{
	(void)vm;
	for (int i = 0; i < 2000; i++) {
		char *volatile p = malloc(20000);
		if (p)
			*p = 1;
		free(p);
	}
}

void Init_vm_exit(void)
{
	ruby_vm_at_exit(allocate);
}
