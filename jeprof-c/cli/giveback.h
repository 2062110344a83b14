/* Large blocks of memory go back to the system as soon as they are freed. */
#ifndef JEPROF_GIVEBACK_H
#define JEPROF_GIVEBACK_H

/* Called once, first of all. */
void give_back_large(void);

#endif
