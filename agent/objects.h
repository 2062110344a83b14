/* The object files of this process. */
#pragma once

struct textbuf;

/* Adds them as a JSON array of {"path", "base", "build_id"}, empty where there is no /proc. They are what
 * /proc/self/maps says is mapped and executed, and their headers are read by system calls that fail where a file was
 * unloaded meanwhile. The loader is not asked: a child that is forked while this thread holds the loader's lock could
 * load nothing more. */
void objects_json(struct textbuf *text);
