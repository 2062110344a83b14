/* The ten functions that hold most memory in a dump: libjprof in forty lines.
 *
 *     cc top.c $(pkg-config --cflags --libs libjprof) -o top && ./top app.heap [SYSROOT] */
#include <jprof.h>
#include <stdio.h>

static int fail(const struct jprof_error *err)
{
	fprintf(stderr, "%s:%u: %s\n", err->path, err->line, err->text);
	return 1;
}

static void print(const struct jprof_table *table)
{
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		printf("%12.0f bytes  %s\n", row->flat, row->name);
	}
}

int main(int argc, char **argv)
{
	struct jprof_error err = { 0 };
	struct jprof_dump *dump = NULL;
	struct jprof_profile *profile = NULL;
	struct jprof_view *view = NULL;
	struct jprof_table *table = NULL;
	struct jprof_symbolize_opts where = { .size = sizeof where, .sysroot = argc > 2 ? argv[2] : NULL };
	struct jprof_view_opts bytes = { .size = sizeof bytes, .counter = JPROF_INUSE_SPACE };
	struct jprof_table_opts ten = { .size = sizeof ten, .top = 10 };
	int rc = argc > 1 ? jprof_dump_open(argv[1], &dump, &err) : jprof_dump_open("-", &dump, &err);
	if (!rc)
		rc = jprof_profile_new(dump, NULL, &profile, &err);
	if (!rc)
		rc = jprof_profile_symbolize(profile, &where, &err);
	if (!rc)
		rc = jprof_view_new(profile, &bytes, &view, &err);
	if (!rc)
		rc = jprof_table_new(view, &ten, &table, &err);
	if (!rc)
		print(table);
	jprof_table_free(table);
	jprof_view_free(view);
	jprof_profile_free(profile);
	jprof_dump_free(dump);
	return rc ? fail(&err) : 0;
}
