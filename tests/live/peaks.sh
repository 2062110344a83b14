#!/bin/sh
# jprof run --at=peak: a dump at each new maximum, a tenth and a minute above the last one; the newest two are kept, and
# only what the agent itself wrote goes. The agent's clock is moved on by the program, which does what it is told.
# usage: sh peaks.sh AGENT SUBJECT JPROF
jprof=$(readlink -f "$3")
. "$(dirname "$0")/agent_lib.sh"
cat >peaks.c <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static volatile long passed;
int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);
	if (clock == CLOCK_MONOTONIC)
		now->tv_sec += passed;
	return rc;
}
static char *volatile kept[64];
int main(void)
{
	size_t n = 0, size = 8 << 20;
	for (int c; (c = getchar()) != EOF;) {
		if (c == 'g' && (kept[n] = malloc(size))) { /* grows by half */
			memset(kept[n++], 1, size);
			size += size / 2;
		}
		if (c == 'm')
			passed += 61;
	}
	return 0;
}
END
${CC:-cc} -O1 -rdynamic -o peaks peaks.c 2>/dev/null || skip "no compiler here"
mkfifo in
JPROF_AGENT_LIB=$agent JPROF_JEMALLOC=$jemalloc "$jprof" run --at=peak --sample=16 --dir="$tmp/d" -- ./peaks <in >said 2>&1 &
pid=$!
started="$started $pid"
exec 3>in
heaps() { ls d/*.heap 2>/dev/null | sort -V; }
count() { test "$(heaps | wc -l)" -eq "$1"; }
newest() { heaps | tail -n 1; }
check "the agent is there: $(cat said)" until_true eval 'ls -A d | grep -q "^\.jprof-agent"'

printf 'mg' >&3
check "the first peak: $(cat said)" until_true count 1
first=$(newest)
check "its reason" test "$(jq -r .reason "$first.json")" = peak
check "says what it waits for" test "$(jq -r .pid "$first.json")" = "$pid"
printf 'g' >&3
sleep 2.5
check "not within a minute: $(heaps)" count 1
printf 'm' >&3
check "but then" until_true count 2
second=$(newest)
printf 'm' >&3
sleep 2.5
check "none that is no higher: $(heaps)" count 2

# Of the third the first goes, but not what somebody else has put in the place of a file.
mv "$first.ruby" moved
echo other >"$first.ruby"
printf 'mg' >&3
check "the third" until_true eval '[ "$(newest)" != "$second" ] && count 2'
check "its files went: $(ls d)" test ! -e "$first" -a ! -e "$first.json"
check "another's stays" test "$(cat "$first.ruby")" = other
third=$(newest)
check "the second stays" test -s "$second" -a -s "$second.json" -a -s "$second.ruby"
printf 'mgm' >&3
check "the fourth" until_true eval '[ "$(newest)" != "$third" ] && count 2'
check "the newest two: $(heaps)" test "$(heaps | head -n 1)" = "$third" -a ! -e "$second" -a ! -e "$second.ruby"
check "they can be read" "$jprof" --top=1 "$third"
exec 3>&-
wait "$pid"
check "ended well" test $? -eq 0

for words in --at=noon "--at=peak --no-agent"; do
    # shellcheck disable=SC2086
    "$jprof" run $words -- true >out 2>err
    check "$words: $(cat err)" test $? -eq 1 -a "$(wc -l <err)" -eq 1
done
finish
