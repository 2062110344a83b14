/* The directory that dumps are written to. */
#ifndef JEPROF_DUMPDIR_H
#define JEPROF_DUMPDIR_H

/* The directory `given`, which is made if its parent is there; NULL: jprof-UID in $TMPDIR or /tmp, private to the
 * user. It can be written to. Its absolute path, owned by the caller; NULL after having said what is wrong. */
char *dump_dir(const char *given);

#endif
