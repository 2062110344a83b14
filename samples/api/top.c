/* The five functions that hold most memory in a dump.
 *
 *     cc top.c $(pkg-config --cflags --libs libjprof) -o top && ./top app.heap [SYSROOT] */
#include <jprof.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct jprof_symbolize_opts where = { .size = sizeof where, .sysroot = argc > 2 ? argv[2] : NULL };
	struct jprof_view_opts bytes = { .size = sizeof bytes, .counter = JPROF_INUSE_SPACE };
	struct jprof_table_opts five = { .size = sizeof five, .top = 5 };
	struct jprof_profile *profile = NULL;
	struct jprof_view *view = NULL;
	struct jprof_table *table = NULL;
	struct jprof_error err;
	char line[JPROF_ERROR_LINE];

	int failed = jprof_profile_open(argc > 1 ? argv[1] : "-", NULL, &profile, &err) ||
	             jprof_profile_symbolize(profile, &where, &err) || jprof_view_new(profile, &bytes, &view, &err) ||
	             jprof_table_new(view, &five, &table, &err);
	for (size_t i = 0; !failed && i < jprof_table_count(table); i++)
		printf("%12.0f bytes  %s\n", jprof_table_at(table, i)->flat, jprof_table_at(table, i)->name);
	if (failed)
		fprintf(stderr, "%s\n", jprof_error_line(&err, line, sizeof line));
	jprof_table_free(table);
	jprof_view_free(view);
	jprof_profile_free(profile);
	return failed;
}
