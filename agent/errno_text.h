/* What an errno means, in English. strerror asks for a translation: that takes locks, memory and files. */
#pragma once

/* Never NULL. The text of a number that is not known lasts until the next call. */
const char *errno_text(int error);
