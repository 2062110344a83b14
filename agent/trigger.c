#include "trigger.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dump.h"
#include "memory.h"
#include "peak.h"
#include "self.h"

enum { LOOK_MS = 1000, APART_MS = 60000, FAILED_APART_MS = 16 * APART_MS };

/* A threshold that was crossed counts again after the value was a tenth below it. */
struct threshold {
	uint64_t at; /* 0: none */
	bool crossed;
};

/* One dump a minute at most. One that failed is tried again after 1, 2, 4, 8 and then each 16 minutes, for it may have
 * cost as much as one that was made. */
struct pace {
	uint64_t next;
	unsigned wait;
};

static unsigned every;
static bool peaks;
static struct threshold rss, cgroup;
static struct pace threshold_pace, peak_pace;
static uint64_t next_every, next_look;

void trigger_start(const struct config *config)
{
	uint64_t now = self_clock();
	every = config->every;
	rss = (struct threshold){ .at = config->rss };
	cgroup = (struct threshold){ .at = config->cgroup_percent };
	peaks = config->peak;
	next_every = now + every * 1000ull;
	next_look = now;
	threshold_pace = (struct pace){ .wait = APART_MS };
	peak_pace = (struct pace){ .next = now + APART_MS, .wait = APART_MS };
	if (cgroup.at)
		memory_find_cgroup();
	if (peaks)
		peak_start(memory_rss());
}

static bool looks(void)
{
	return rss.at || cgroup.at || peaks;
}

int trigger_timeout(void)
{
	uint64_t now = self_clock(), next = UINT64_MAX;
	if (!every && !looks())
		return -1;
	if (every)
		next = next_every;
	if (looks() && next_look < next)
		next = next_look;
	if (next <= now)
		return 0;
	return next - now < INT32_MAX ? (int)(next - now) : INT32_MAX;
}

/* Returns what came of it, or NULL. */
static const struct dump_result *trigger_dump(const char *reason)
{
	const struct dump_result *result;
	bool made = dump_make(&(struct dump_request){ .reason = reason, .timeout = DUMP_RUBY_MS }, &result);
	return made ? result : NULL;
}

/* Has the value come up to the threshold since it was below? */
static bool crosses(struct threshold *threshold, uint64_t value)
{
	if (threshold->at == 0)
		return false;
	if (value < threshold->at - threshold->at / 10)
		threshold->crossed = false;
	return value >= threshold->at && !threshold->crossed;
}

static void keep_pace(struct pace *pace, uint64_t now, bool made)
{
	if (made)
		pace->wait = APART_MS;
	pace->next = now + pace->wait;
	if (!made && pace->wait < FAILED_APART_MS)
		pace->wait *= 2;
}

static void look_for_peak(uint64_t resident, uint64_t now)
{
	if (!peak_is_new(resident) || now < peak_pace.next)
		return;
	const struct dump_result *made = trigger_dump("peak");
	if (made)
		peak_keep(made, resident);
	keep_pace(&peak_pace, now, made);
}

/* What was crossed counts as such once a dump was made of it. */
static void look_at_thresholds(uint64_t resident, uint64_t now)
{
	bool over_rss = crosses(&rss, rss.at ? resident : 0);
	bool over_cgroup = crosses(&cgroup, cgroup.at ? memory_cgroup_percent() : 0);
	if ((!over_rss && !over_cgroup) || now < threshold_pace.next)
		return;
	bool made = trigger_dump("at");
	rss.crossed |= over_rss && made;
	cgroup.crossed |= over_cgroup && made;
	keep_pace(&threshold_pace, now, made);
}

static void look_at_memory(uint64_t now)
{
	next_look = now + LOOK_MS;
	uint64_t resident = rss.at || peaks ? memory_rss() : 0;
	if (peaks)
		look_for_peak(resident, now);
	look_at_thresholds(resident, now);
}

void trigger_run(void)
{
	uint64_t now = self_clock();
	if (every && now >= next_every) {
		next_every = now + every * 1000ull;
		trigger_dump("every");
	}
	if (looks() && now >= next_look)
		look_at_memory(now);
}
