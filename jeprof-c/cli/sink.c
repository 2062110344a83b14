#include "cli/sink.h"

#include <errno.h>

int sink_write(void *context, const void *data, size_t len)
{
	struct sink *sink = context;
	if (!sink->file)
		sink->file = sink->path ? fopen(sink->path, "we") : stdout;
	if (sink->file && fwrite(data, 1, len, sink->file) == len && !fflush(sink->file))
		return 0;
	sink->error = errno;
	return -1;
}

bool sink_close(struct sink *sink)
{
	if (!sink->path || !sink->file)
		return !sink->path || !sink->error;
	if (fclose(sink->file) && !sink->error)
		sink->error = errno;
	return !sink->error;
}
