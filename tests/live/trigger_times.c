/* When agent/trigger.c has dumps made, by a clock, a memory and a disk that are made here: a dump that does not come
 * about uses up neither its threshold nor its peak. It is tried again, and ever more seldom: a dump may cost much
 * before it fails, and the program may be short of memory. */
#include "trigger.h"

#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "memory.h"
#include "self.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, MB = 1 << 20 };

static uint64_t now = HOUR, resident;
static unsigned percent_used;
static bool disk_is_full;
static unsigned tried, done;
static const char *last_reason = "";
static int failures;

uint64_t self_clock(void)
{
	return now;
}

uint64_t memory_rss(void)
{
	return resident;
}

unsigned memory_cgroup_percent(void)
{
	return percent_used;
}

void memory_find_cgroup(void)
{
}

bool dump_make(const struct dump_request *request, const struct dump_result **made)
{
	static struct dump_result result;
	*made = &result;
	last_reason = request->reason;
	tried++;
	done += !disk_is_full;
	return !disk_is_full;
}

/* As the agent's thread does, which sleeps as long as trigger_timeout() says. */
static void pass(uint64_t milliseconds)
{
	uint64_t end = now + milliseconds;
	tried = done = 0;
	while (now < end) {
		int sleep = trigger_timeout();
		now += sleep > 0 && (uint64_t)sleep < end - now ? (uint64_t)sleep : end - now;
		trigger_run();
	}
}

static void expect(const char *when, unsigned from, unsigned to, unsigned wanted)
{
	if (tried >= from && tried <= to && done == wanted)
		return;
	printf("FAIL: %s: %u dumps tried and %u made, not %u to %u and %u\n", when, tried, done, from, to, wanted);
	failures++;
}

/* At the threshold, or at a new peak, while no dump can be made. */
static void later(const char *what, const char *reason)
{
	char when[100];
	disk_is_full = true;
	snprintf(when, sizeof when, "%s: an hour on a full disk", what);
	pass(HOUR);
	expect(when, 4, 12, 0);
	disk_is_full = false;
	snprintf(when, sizeof when, "%s: the disk has room", what);
	pass(20 * MINUTE);
	expect(when, 1, 1, 1);
	if (strcmp(last_reason, reason) != 0) {
		printf("FAIL: %s: the reason is %s\n", what, last_reason);
		failures++;
	}
	snprintf(when, sizeof when, "%s: once it is made", what);
	pass(HOUR);
	expect(when, 0, 0, 0);
}

static void at_threshold(void)
{
	trigger_start(&(struct config){ .rss = 900 * (uint64_t)MB, .cgroup_percent = 85 });
	resident = 899 * (uint64_t)MB;
	percent_used = 84;
	pass(HOUR);
	expect("below", 0, 0, 0);
	resident += MB;
	later("at=rss", "at");
	percent_used = 85;
	later("at=cgroup", "at");
	/* Up and down about the threshold, but not a tenth below it. */
	for (int i = 0; i < 5; i++) {
		resident = 815 * (uint64_t)MB;
		percent_used = 77;
		pass(2 * MINUTE);
		expect("not a tenth below", 0, 0, 0);
		resident = 950 * (uint64_t)MB;
		percent_used = 90;
		pass(2 * MINUTE);
		expect("up again, and was not a tenth below", 0, 0, 0);
	}
	resident = 800 * (uint64_t)MB;
	pass(MINUTE);
	resident = 950 * (uint64_t)MB;
	pass(5 * SECOND);
	expect("at=rss, after it was a tenth below", 1, 1, 1);
	disk_is_full = true;
	percent_used = 70;
	pass(MINUTE);
	percent_used = 90;
	pass(10 * SECOND);
	percent_used = 84;
	disk_is_full = false;
	pass(HOUR);
	expect("below again before the disk has room", 0, 0, 0);
}

static void comes_up(void)
{
	resident = 800 * (uint64_t)MB;
	pass(MINUTE);
	resident = 950 * (uint64_t)MB;
	pass(2 * SECOND);
}

/* After a dump that was made the next failure is tried again after a minute, as the first one was. */
static void soon_again(void)
{
	comes_up();
	expect("a dump after some that failed", 1, 1, 1);
	disk_is_full = true;
	comes_up();
	expect("one that fails", 1, 1, 0);
	disk_is_full = false;
	pass(MINUTE);
	expect("a minute later", 1, 1, 1);
}

static void at_peak(void)
{
	resident = 100 * (uint64_t)MB;
	trigger_start(&(struct config){ .peak = true });
	pass(HOUR);
	expect("no peak", 0, 0, 0);
	resident = 120 * (uint64_t)MB;
	later("at=peak", "peak");
	disk_is_full = true;
	resident = 140 * (uint64_t)MB;
	pass(MINUTE);
	resident = 120 * (uint64_t)MB;
	disk_is_full = false;
	pass(HOUR);
	expect("a peak that is over", 0, 0, 0);
	resident = 135 * (uint64_t)MB;
	pass(MINUTE);
	expect("a peak above the last dump's", 1, 1, 1);
}

int main(void)
{
	at_threshold();
	soon_again();
	at_peak();
	return failures != 0;
}
