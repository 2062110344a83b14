#include "outside/jeages.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checksum.h"
#include "input/maps.h"

enum {
	inherited = 1,
	startup,
	startup_ms = 60000,
	epoch_ms = 600000,
	late_ms = 20,          /* that the clock of jemalloc's samples may be behind the one of starts: two ticks */
	most_epochs = 1 << 20, /* 20 years */
	ids_size = 2 * most_epochs,
};

static const uint64_t ids_lowest = 0x70000000;

static const uint64_t least_since_1970 = 1000000000000000000; /* ns: 2001; nothing runs for 31 years */

/* Milliseconds are counted from the first sample. */
struct jp_jeages jp_jeages_of_core(int pid, uint64_t first, uint64_t last, int64_t time, const struct jprof_maps *maps)
{
	uint64_t begin = first / 1000000, now = last / 1000000 - begin, end = time > 0 ? (uint64_t)time * 1000 : now;
	return (struct jp_jeages){ .pid = pid,
		                   .now = now,
		                   .boot = first < least_since_1970 ? (end > now ? end - now : 0) : begin,
		                   .monotonic = -(int64_t)begin,
		                   .realtime = -(int64_t)begin,
		                   .ids = jp_jeages_place(maps) };
}

uint64_t jp_jeages_place(const struct jprof_maps *maps)
{
	uint64_t at = ids_lowest;
	for (size_t i = 0; i < jprof_maps_count(maps); i++) { /* ascending */
		const struct jprof_map *map = jprof_maps_at(maps, i);
		if (map->start < at + ids_size && map->limit > at)
			at = (map->limit + 4095) / 4096 * 4096;
	}
	return at;
}

static uint32_t epoch_at(const struct jp_jeages *a, uint64_t ms)
{
	if (ms + late_ms < a->began)
		return inherited;
	uint64_t since = ms > a->began ? ms - a->began : 0,
		 number = startup + (since < startup_ms ? 0 : 1 + (since - startup_ms) / epoch_ms);
	return number < most_epochs ? (uint32_t)number : most_epochs - 1;
}

/* What has a time after the look came while it was made. */
uint32_t jp_jeages_epoch(const struct jp_jeages *a, uint64_t time)
{
	int64_t ms = (int64_t)(time / 1000000) + (time < least_since_1970 ? a->monotonic : a->realtime);
	return ms < 0 ? inherited : epoch_at(a, (uint64_t)ms < a->now ? (uint64_t)ms : a->now);
}

uint32_t jp_jeages_running(const struct jp_jeages *a)
{
	return epoch_at(a, a->now);
}

uint64_t jp_jeages_address(const struct jp_jeages *a, uint32_t epoch)
{
	return a->ids + 2ULL * epoch + 1;
}

int jp_jeages_use(struct jp_jeages *a, uint32_t epoch)
{
	size_t at = 0;
	while (at < a->used_count && a->used[at] < epoch)
		at++;
	if (at < a->used_count && a->used[at] == epoch)
		return 0;
	if (jp_array_push(a->used, a->used_count, a->used_cap))
		return -1;
	memmove(a->used + at + 1, a->used + at, (a->used_count++ - at) * sizeof *a->used);
	a->used[at] = epoch;
	return 0;
}

void jp_jeages_put_mapping(const struct jp_jeages *a, struct jp_strbuf *text)
{
	jp_strbuf_printf(text, "%llx-%llx ---s 00000000 00:01 0 /memfd:jprof-ids:1 (deleted)\n",
	                 (unsigned long long)a->ids, (unsigned long long)a->ids + ids_size);
}

static void put_seconds(const struct jp_jeages *a, struct jp_strbuf *text, uint64_t ms)
{
	uint64_t since_1970 = a->boot + ms;
	jp_strbuf_printf(text, " %llu.%03u", (unsigned long long)(since_1970 / 1000), (unsigned)(since_1970 % 1000));
}

static uint64_t begin_of(const struct jp_jeages *a, uint32_t epoch)
{
	if (epoch <= startup)
		return epoch == startup ? a->began : 0;
	return a->began + startup_ms + (uint64_t)(epoch - startup - 1) * epoch_ms;
}

void jp_jeages_write(const struct jp_jeages *a, const struct jp_strbuf *dump, struct jp_strbuf *table)
{
	struct jp_checksum sum = jp_checksum_none();
	uint32_t running = jp_jeages_running(a);
	jp_checksum_add(&sum, dump->text, dump->len);
	jp_strbuf_printf(table, "jprof-table 1\nprocess %d %llu -\ndump %llu %llx\n", a->pid,
	                 (unsigned long long)a->start_ticks, (unsigned long long)sum.size, (unsigned long long)sum.fnv);
	jp_strbuf_printf(table, "ids %llx 0 0 0 %x\ntime", (unsigned long long)a->ids, (unsigned)most_epochs);
	put_seconds(a, table, a->now);
	jp_strbuf_str(table, "\nstart");
	put_seconds(a, table, a->began);
	jp_strbuf_printf(table, " %d %d\nbounds %u %u\n", startup, a->used_count && a->used[0] == inherited,
	                 running - 1, running + 1);
	for (size_t i = 0; i < a->used_count; i++) {
		jp_strbuf_printf(table, "e %u", a->used[i]);
		put_seconds(a, table, begin_of(a, a->used[i]));
		if (a->used[i] == running)
			jp_strbuf_str(table, " -");
		else
			put_seconds(a, table, begin_of(a, a->used[i] + 1));
		jp_strbuf_str(table, "\n");
	}
	jp_strbuf_str(table, "end 0\n");
}

void jp_jeages_release(struct jp_jeages *a)
{
	free(a->used);
	*a = (struct jp_jeages){ 0 };
}
