/* What is under way, on a terminal that gets messages: a line once a second from the first second on, which is taken
 * away at the end. Elsewhere nothing. */
#pragma once

/* "reading" and a file's path, of which the name is shown; "": no file. Up to progress_end SIGALRM is taken; what goes
 * on within a tenth of a second counts as the same work. */
void progress_begin(const char *what, const char *path);
void progress_end(void);

/* Takes the line away, before something else is written; it comes again with the next second. */
void progress_hide(void);
