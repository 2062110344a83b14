#!/bin/sh
# Inlined functions of an optimized program are frames of their own in every report: the compiler's lines are the truth.
. "$(dirname "$0")/../cli/lib.sh"
command -v python3 >/dev/null || skip "no python3 here, which reads what jprof writes"
find_jemalloc
here=$root/tests/doors
mkdir src
cat >subject.c <<'END'
#include <stdlib.h>
static void *volatile held;
static inline __attribute__((always_inline)) void inner(size_t n)
{
	held = malloc(n); /* INNER */
}
static inline __attribute__((always_inline)) void middle(size_t n)
{
	inner(n); /* MIDDLE */
}
__attribute__((noinline)) void outer(size_t n)
{
	middle(n); /* OUTER */
	__asm__ volatile("");
}
int main(void)
{
	for (int i = 0; i < 100; i++)
		outer(1000);
	return 0;
}
END
"${CC:-gcc}" -g -O2 -o subject subject.c || { echo "cannot compile"; exit 1; }
profiled "prof_final:true,lg_prof_sample:0,prof_prefix:$tmp/subject" ./subject
dump=$(ls subject.*.heap)
line() { grep -n "/\* $1 \*/" subject.c | cut -d: -f1; }

works "$jprof" --speedscope --lines ./subject "$dump"
check "speedscope: no inlined frames with their lines, outermost first" python3 - "$(line INNER)" "$(line MIDDLE)" "$(line OUTER)" <<'END'
import json, sys
document = json.load(open("out"))
frames = [(f["name"], f.get("line")) for f in document["shared"]["frames"]]
wanted = [("outer", int(sys.argv[3])), ("middle (inline)", int(sys.argv[2])), ("inner (inline)", int(sys.argv[1]))]
stacks = [[frames[i] for i in s] for s in document["profiles"][0]["samples"]]
sys.exit(not any(stack[-3:] == wanted for stack in stacks))
END
works "$jprof" --dhat ./subject "$dump"
check "dhat: no inlined frames, innermost first" python3 - "$(line INNER)" "$(line MIDDLE)" "$(line OUTER)" <<'END'
import json, re, sys
document = json.load(open("out"))
wanted = list(zip(("inner", "middle", "outer"), sys.argv[1:]))
def frame(i):
    name, line = re.match(r"0x[0-9A-F]+: (\S+) \(.*/subject\.c:(\d+)\)$", document["ftbl"][i]).groups()
    return name, line
sys.exit(not any([frame(i) for i in p["fs"][:3]] == wanted for p in document["pps"]))
END
works "$jprof" --json --lines ./subject "$dump"
check "json: no row of the innermost inlined function" python3 - "$(line INNER)" <<'END'
import json, sys
row = json.load(open("out"))["rows"][0]
sys.exit(not (row["name"].startswith("inner (inline) ") and row["line"] == int(sys.argv[1]) and row["source"] == "dwarf"
              and row["object"].endswith("/subject") and row["file"].endswith("/subject.c")))
END
finish
