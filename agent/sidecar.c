#include "sidecar.h"

#include "jemalloc.h"
#include "objects.h"
#include "process.h"
#include "text.h"

void sidecar_json(const struct dump_request *request, const struct dump_result *result, const char *name, double began,
                  struct text *text)
{
	text_str(text, "{\"jprof_agent\":1,\"version\":\"" JPROF_VERSION "\",\"reason\":");
	text_json(text, request->reason);
	text_str(text, ",\"label\":");
	text_json(text, request->label);
	text_printf(text, ",\"seq\":%u,\"dump\":", result->seq);
	text_json(text, name);
	text_str(text, ",");
	process_json(text);
	long long thousandths = (long long)(began * 1000);
	text_printf(text, ",\"time\":%lld.%03lld,\"milliseconds\":%u", thousandths / 1000, thousandths % 1000,
	            result->milliseconds);
	text_str(text, ",\"direct\":");
	text_json(text, *result->direct ? result->direct : NULL);
	text_str(text, ",\"ruby\":");
	ruby_json(&result->ruby, text);
	text_str(text, ",\"objects\":");
	objects_json(text);
	text_str(text, ",\"malloc_stats\":");
	jemalloc_stats(text);
	text_str(text, "}\n");
}
