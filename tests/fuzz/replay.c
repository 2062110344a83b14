/* Stands in for libFuzzer: gives each file of the directories on the command line to the target. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "fuzz.h"

static int replay(const char *path)
{
	struct jp_strbuf text = { 0 };
	struct jprof_error err;
	if (jp_file_read(path, &text, NULL, &err)) {
		printf("%s: %s\n", path, err.text);
		return -1;
	}
	/* Of exactly that size, so that a byte too many is seen. */
	uint8_t *copy = malloc(text.len + !text.len);
	if (copy && text.len)
		memcpy(copy, text.text, text.len);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(copy, text.len);
	free(copy);
	jp_strbuf_release(&text);
	return 0;
}

int main(int argc, char **argv)
{
	int count = 0, status = 0;
	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		char path[4096];
		for (struct dirent *e; dir && (e = readdir(dir));) {
			snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
			if (*e->d_name == '.')
				continue;
			status |= replay(path);
			count++;
		}
		if (dir)
			closedir(dir);
	}
	printf("%d files\n", count);
	return status || !count ? 1 : 0;
}
