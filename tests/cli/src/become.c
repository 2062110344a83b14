/* Allocates, and becomes user 65534 when a file is made, as a daemon that gives up root once it has its port.
 * usage: become FILE */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *held[100];

int main(int argc, char **argv)
{
	for (int i = 0; i < 100; i++)
		held[i] = malloc(5000);
	while (argc > 1 && access(argv[1], F_OK))
		usleep(10000);
	if (setgid(65534) || setuid(65534))
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
