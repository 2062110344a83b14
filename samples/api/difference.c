/* What grew between two dumps of a process, and what shrank: each function, and the sum.
 *
 *     cc difference.c $(pkg-config --cflags --libs libjprof) -o difference
 *     ./difference early.heap late.heap [SYSROOT] */
#include <jprof.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct jprof_symbolize_opts where = { .size = sizeof where, .sysroot = argc > 3 ? argv[3] : NULL };
	struct jprof_view_opts bytes = { .size = sizeof bytes, .counter = JPROF_INUSE_SPACE };
	struct jprof_table_opts order = { .size = sizeof order, .by_change = true };
	struct jprof_profile *early = NULL, *late = NULL;
	struct jprof_view *view = NULL;
	struct jprof_table *table = NULL;
	struct jprof_error err;
	char line[JPROF_ERROR_LINE];

	if (argc < 3)
		return fprintf(stderr, "usage: difference EARLY LATE [SYSROOT]\n"), 1;
	int failed = jprof_profile_open(argv[1], NULL, &early, &err) ||
	             jprof_profile_open(argv[2], NULL, &late, &err) || jprof_profile_difference(late, early, &err) ||
	             jprof_profile_symbolize(late, &where, &err) || jprof_view_new(late, &bytes, &view, &err) ||
	             jprof_table_new(view, &order, &table, &err);
	for (size_t i = 0; !failed && i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		if (row->flat != 0)
			printf("%+12.0f bytes  %s\n", row->flat, row->name);
	}
	if (failed)
		fprintf(stderr, "%s\n", jprof_error_line(&err, line, sizeof line));
	else
		printf("%+12.0f bytes  in all\n", jprof_view_info(view)->total);
	jprof_table_free(table);
	jprof_view_free(view);
	jprof_profile_free(late);
	jprof_profile_free(early);
	return failed;
}
