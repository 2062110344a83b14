/* Blocks of malloc that stand still: says where each begins and how many bytes malloc_usable_size gives it, and which
 * were freed, and waits for the end of its input. Nothing is allocated between the frees and the park. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { blocks = 12000, of_one_size = 1000, one_size = 1000 };

static void *kept[blocks];
static size_t sizes[blocks];
static char text[blocks * 48];

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

/* Small ones, larger ones, and now and then one with pages of its own; some are aligned, some had another size before.
 */
static void *allocate(uint64_t *state, int i)
{
	uint64_t size = next_random(state) % (i % 100 ? 700 : i % 500 ? 20000 : 400000) + 1;
	void *p = NULL;
	if (i % 7 == 3 && i % 500)
		return posix_memalign(&p, 16U << next_random(state) % 6, size) ? NULL : p;
	p = malloc(size);
	return i % 5 == 2 ? realloc(p, size / 2 + next_random(state) % size + 1) : p;
}

int main(void)
{
	uint64_t state = 1;
	int len = 0;
	char end;
	for (int i = 0; i < blocks; i++) {
		kept[i] = i < of_one_size ? malloc(one_size) : allocate(&state, i);
		if (!kept[i])
			return 2;
		sizes[i] = malloc_usable_size(kept[i]);
		memset(kept[i], i, sizes[i]);
	}
	for (int i = 1; i < blocks; i++) {
		if (i < of_one_size ? i % 2 : i % 4)
			continue;
		len += snprintf(text + len, sizeof text - (size_t)len, "freed %p %zu\n", kept[i], sizes[i]);
		free(kept[i]);
		kept[i] = NULL;
	}
	for (int i = 0; i < blocks; i++)
		if (kept[i])
			len += snprintf(text + len, sizeof text - (size_t)len, "block %p %zu\n", kept[i], sizes[i]);
	len += snprintf(text + len, sizeof text - (size_t)len, "end\n");
	for (ssize_t done = 0, n; done < len; done += n)
		if ((n = write(STDOUT_FILENO, text + done, (size_t)(len - done))) < 0)
			return 2;
	return read(STDIN_FILENO, &end, 1) < 0;
}
