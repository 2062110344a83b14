/* Large blocks of memory go back to the system as soon as they are freed. */
#pragma once

/* Called once, first of all. */
void give_back_large(void);
