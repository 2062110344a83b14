#include "synthetic.h"

#include <errno.h>
#include <sys/mman.h>

#include "handle.h"

/* Where the mapping is asked for, not insisted on: jemalloc writes such an address with four digits less. Nothing is
 * there but where a program asks for the first 2 GB; AddressSanitizer's own memory begins behind. */
static const uintptr_t low_place = 0x70000000;

static uintptr_t start; /* 0: none */

int synthetic_reserve(void)
{
	int fd = handle_memory(HANDLE_BRIEF, "jprof-ids:1", 0);
	if (fd < 0)
		return errno;
	void *mapped = mmap((void *)low_place, 2 * (size_t)SYNTHETIC_END, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	int error = mapped == MAP_FAILED ? errno : 0;
	handle_close(HANDLE_BRIEF);
	if (!error)
		start = (uintptr_t)mapped;
	return error;
}

/* Odd, so that one less, as for a return address, is the same number. */
void *synthetic_address(uint32_t number)
{
	return (void *)(start + 2 * (uintptr_t)number + 1);
}

bool synthetic_number(uint64_t address, uint32_t *number)
{
	if (!start || address < start || address - start >= 2 * (uint64_t)SYNTHETIC_END)
		return false;
	*number = (uint32_t)((address - start) / 2);
	return true;
}

uint64_t synthetic_start(void)
{
	return start;
}
