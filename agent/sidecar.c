#include "sidecar.h"

#include <string.h>

#include "jemalloc.h"
#include "objects.h"
#include "self.h"
#include "textbuf.h"

void sidecar_json(const struct dump_request *request, const struct dump_result *result, const char *name, double began,
                  struct textbuf *text)
{
	textbuf_str(text, "{\"jprof_agent\":1,\"version\":\"" JPROF_VERSION "\",\"reason\":");
	textbuf_json(text, request->reason);
	textbuf_str(text, ",\"label\":");
	textbuf_json(text, request->label);
	textbuf_printf(text, ",\"seq\":%u,\"dump\":", result->seq);
	textbuf_json(text, name);
	textbuf_str(text, ",");
	self_json(text);
	long long thousandths = (long long)(began * 1000);
	textbuf_printf(text, ",\"time\":%lld.%03lld,\"milliseconds\":%u", thousandths / 1000, thousandths % 1000,
	               result->milliseconds);
	textbuf_str(text, ",\"direct\":");
	textbuf_json(text, *result->direct ? result->direct : NULL);
	const char *slash = strrchr(result->table, '/');
	textbuf_str(text, ",\"table\":");
	textbuf_json(text, *result->table ? slash ? slash + 1 : result->table : NULL);
	textbuf_str(text, ",\"ruby\":");
	ruby_json(&result->ruby, text);
	textbuf_str(text, ",\"objects\":");
	objects_json(text);
	textbuf_str(text, ",\"malloc_stats\":");
	jemalloc_stats(text);
	textbuf_str(text, "}\n");
}
