/* Loads ./plugin.so, has it allocate, makes the file `ready`, and waits. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	void *plugin = dlopen(argc > 1 ? argv[1] : "./plugin.so", RTLD_NOW);
	void (*keep)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugin_keep") : NULL;
	if (!keep)
		return 1;
	keep();
	fclose(fopen("ready", "w"));
	for (;;)
		pause();
}
