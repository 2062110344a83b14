/* Target: the dumps of ObjectSpace, and the graphs of the agent. Asserts that no keeper keeps more than there is, that
 * all of them together do not, and that what was born is what the earlier heap has not: of a heap beside itself
 * nothing. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "jprof.h"

static void check_keepers(const struct jprof_rubyheap *heap, const struct jprof_keepers_opts *opts)
{
	struct jprof_keepers *keepers;
	uint64_t bytes = 0, objects = 0;
	must(!jprof_keepers_new(heap, opts, &keepers, NULL));
	const struct jprof_keepers_info *info = jprof_keepers_info(keepers);
	for (size_t i = 0; i < jprof_keepers_count(keepers); i++) {
		const struct jprof_keeper *k = jprof_keepers_at(keepers, i);
		must(k->keeps <= info->bytes && k->objects <= info->objects && *k->what && *k->path);
		must(k->made_share >= 0 && k->made_share <= 1);
		bytes += k->keeps;
		objects += k->objects;
	}
	must(bytes <= info->bytes && objects <= info->objects);
	jprof_keepers_free(keepers);
}

/* What equal Strings spare is less than what there is, and the lines add up. */
static void check_strings(const char *path)
{
	struct jprof_rubystrings *strings;
	uint64_t bytes = 0, count = 0;
	must(!jprof_rubystrings_open(path, NULL, &strings, NULL));
	const struct jprof_rubystrings_info *info = jprof_rubystrings_info(strings);
	for (size_t i = 0; i < jprof_rubystrings_count(strings); i++) {
		const struct jprof_string_line *line = jprof_rubystrings_at(strings, i);
		must(line->spare <= line->bytes && line->different <= line->strings && line->common[0].text);
		bytes += line->bytes;
		count += line->strings;
	}
	must(bytes == info->bytes && count == info->strings && info->spare <= bytes);
	jprof_rubystrings_free(strings);
}

/* The same of the agent's graph. */
static void check_graph(const uint8_t *data, size_t size)
{
	struct jprof_rubyheap *heap = NULL;
	struct jprof_error err;
	if (jprof_rubyheap_parse(data ? data : (const uint8_t *)"", size, "graph", &heap, &err))
		return;
	const struct jprof_rubyheap_info *info = jprof_rubyheap_info(heap);
	must(info->unrooted_objects <= info->objects && info->unrooted_bytes <= info->bytes);
	check_keepers(heap, NULL);
	jprof_rubyheap_free(heap);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jprof_rubyheap *heap = NULL;
	struct jprof_born *born = NULL;
	struct jprof_error err;
	char path[64];
	int fd = memfd_create("heap", 0);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	int rc = jprof_rubyheap_open(path, &heap, &err);
	must(!rc == (heap != NULL));
	if (!rc) {
		const struct jprof_keepers_opts some = { .size = sizeof some, .class_name = "S" };
		const struct jprof_rubyheap_info *info = jprof_rubyheap_info(heap);
		must(info->unrooted_objects <= info->objects && info->unrooted_bytes <= info->bytes);
		check_keepers(heap, NULL);
		check_keepers(heap, &some);
		must(!jprof_born_new(heap, heap, heap, &born, NULL) && jprof_born_count(born) == 0);
		jprof_born_free(born);
		check_strings(path);
	}
	jprof_rubyheap_free(heap);
	close(fd);
	check_graph(data, size);
	return 0;
}
