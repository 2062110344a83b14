/* With the agent preloaded, in a program that is no Ruby: what a library that is loaded later calls by a name of Ruby's
 * gets there with all that it was given, however often, and glibc's dlsym() finds no name that nobody has.
 * usage: newobj_names LIBRARY */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	static const char *const names[] = { "rb_wb_protected_newobj_of", "rb_newobj_of", "rb_imemo_new",
		                             "rb_get_alloc_func", "rb_data_typed_object_zalloc" };
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	unsigned long (*call)(unsigned long) = NULL;
	int bad = 0;
	if (library)
		*(void **)&call = dlsym(library, "newobj_lib_call");
	if (!call) {
		puts("no library");
		return 2;
	}
	for (unsigned long n = 0; n < 1000000; n++)
		bad += call(n) != n + 2 * n * n + 3 * ~0ul + 4 * -n + 5 + 6 * (n << 60);
#ifndef __GLIBC__
	return bad != 0;
#endif
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (dlsym(RTLD_DEFAULT, names[i])) {
			printf("dlsym finds %s\n", names[i]);
			bad++;
		}
	printf("%d wrong\n", bad);
	return bad != 0;
}
