#!/bin/sh
# jprof diff and check of services that were started anew, of two builds, and of a worker that grows while the others do not. Bundles and
# dumps are made here, by docs/internals/bundle.md and docs/internals/ruby-table.md.
. "$(dirname "$0")/lib.sh"
. "$here/diff_lib.sh"

puma='puma 6.6.0 (tcp://0.0.0.0:1) [shop]'
w0='puma: cluster worker 0: 17 [shop]'
w1='puma: cluster worker 1: 17 [shop]'
w2='puma: cluster worker 2: 17 [shop]'

# ---- the outlier ----
bundle early "17|1|master|$puma|401000=400|rss=60" "21|5|worker|$w0|401100=300|rss=100" "22|6|worker|$w1|401100=300|rss=100" "23|6|worker|$w2|401100=300|rss=100"
bundle late "17|1|master|$puma|401000=400|rss=61" "21|5|worker|$w0|401100=300|rss=105" "22|6|worker|$w1|401100=900|rss=180" "23|6|worker|$w2|401100=310|rss=102"
works "$jprof" diff "$nowhere" early late
prints '^worker 1 [(]22[)] grew by 80[.]0 MB, no other of its kind by more than 5[.]0 MB[.]$'
# It does not push what grew out of the first five lines.
check "what grew is not in the first five lines" eval 'grep -v "^$" out | head -n 5 | grep -q "^   what "'
diff_of "$nowhere" early late
judge "the outlier" 'd["outlier"] == {"process": "worker 1 (22)", "growth": 80 << 20, "others": 5 << 20} and d["replaced"] == 0'
bundle even "17|1|master|$puma|401000=400|rss=61" "21|5|worker|$w0|401100=800|rss=170" "22|6|worker|$w1|401100=900|rss=180" "23|6|worker|$w2|401100=810|rss=172"
diff_of "$nowhere" early even
judge "all grew alike" 'd["outlier"] is None'
bundle quiet "17|1|master|$puma|401000=400|rss=99" "21|5|worker|$w0|401100=300|rss=101" "22|6|worker|$w1|401100=310|rss=106" "23|6|worker|$w2|401100=300|rss=100"
diff_of "$nowhere" early quiet
judge "some MB, and a master that is the only one of its kind, are no outlier" 'd["outlier"] is None'

# ---- by role across a restart ----
bundle late "17|1|master|$puma|401000=400|rss=61" "45|99|worker|$w0|401100=310|rss=300" "22|6|worker|$w1|401100=300|rss=101" "23|6|worker|$w2|401100=300|rss=100"
run "$jprof" diff "$nowhere" early late
prints '^replaced between the two [(]worker 0: 21 by 45[)]: what the old one held is gone and'
diff_of "$nowhere" early late
judge "replaced" 'd["replaced"] == 1 and d["outlier"] is None and d["processes"] == [4, 4]'
bundle late "17|70|master|$puma|401000=400|rss=61" "18|71|worker|$w0|401100=310|rss=100" "19|71|worker|$w1|401100=310|rss=100" "20|71|worker|$w2|401100=300|rss=100"
diff_of "$nowhere" early late
judge "all by role" 'd["replaced"] == 4 and d["same_program"] and abs(row("+0x1")["growth"]) < 5e6'

# ---- in which workers a suspect grew, and what may be from before the fork ----
# growing N MASTER W0 W1: the N-th of three snapshots
growing() {
    bundle "grown.$1" "17|1|master|$puma|401000=400,401200=$2|rss=60" "21|5|worker|$w0|401000=400,401200=$3|rss=100" "22|6|worker|$w1|401000=400,401200=$4|rss=100"
}
three="grown.1 grown.2 grown.3"
growing 1 20 20 20 && growing 2 20 220 220 && growing 3 20 420 420
works "$jprof" diff "$nowhere" $three
prints '^   steps    .*: it grew in each step, in both workers$'
prints '^   age      from before the fork: 1[.]9 MB in each worker at most$'
growing 1 0 20 20 && growing 2 0 20 220 && growing 3 0 20 420
run "$jprof" diff "$nowhere" $three
prints '^   steps    .*: it grew in each step, in 1 of 2 workers$|^            workers$'
prints '^   age      since the fork: the master has none of it$'
growing 1 0 20 20 && growing 2 0 26 60 && growing 3 0 32 105
run "$jprof" diff "$nowhere" $three
prints 'LEAK SUSPECT'
prints_no 'in both workers|of 2 workers'
# Nor of what lies outside the profile, which no process has rows of: here RSS grew by 60 MB, and nothing is known of it.
for n in 1 2; do
    bundle "outside.$n" "17|1|master|$puma|401000=400|rss=60" "21|5|worker|$w0|401000=400|rss=$((100 + 30 * n))" "22|6|worker|$w1|401000=400|rss=$((100 + 30 * n))"
done
run "$jprof" diff "$nowhere" outside.1 outside.2
prints_no 'workers$|the fork'
# Nothing is said of workers that were replaced.
growing 1 20 20 20 && bundle grown.3 "17|1|master|$puma|401000=400,401200=20|rss=60" "21|5|worker|$w0|401000=400,401200=420|rss=100" "45|99|worker|$w1|401000=400,401200=420|rss=100"
run "$jprof" diff "$nowhere" grown.1 grown.3
prints_no 'in both workers|the fork'

# ---- titles without a name for the program: nothing of the report is lost ----
for title in ':zzz [shop]' '/srv/app/ [shop]' ' [shop]'; do
    bundle titled.1 "17|1|master|$title|401000=400|rss=60|program=/usr/bin/ruby3.1"
    bundle titled.2 "17|1|master|$title|401000=800|rss=90|program=/usr/bin/ruby3.1"
    works "$jprof" diff "$nowhere" titled.1 titled.2
    check "$title: the head is $(head -n 1 out)" grep -Eaq '^shop, ' out
    check "$title: a NUL byte" test "$(tr -d '\000' <out | wc -c)" -eq "$(wc -c <out)"
    check "$title: the report ends early" grep -aq '^Next: ' out
done

# ---- two applications under one server, by their titles; a release by its time or commit has another folder each time ----
for tags in 'shop blog' 'shop shop' '20231101 20231102' 'a1b2c3d 9f8e7d6' 'shop 20231102'; do
    set -- $tags
    bundle app.1 "17|1|master|puma 5.6.5 (tcp://0:80) [$1]|401000=400|rss=60|program=/usr/bin/ruby3.1"
    bundle app.2 "17|2|master|puma 5.6.5 (tcp://0:80) [$2]|401000=800|rss=90|program=/usr/bin/ruby3.1"
    works "$jprof" diff "$nowhere" app.1 app.2
    said=$(tr '\n' ' ' <out | grep -c "the later one is of \[$2\] and the base of \[$1\], by their titles: if these are two applications")
    check "$tags" test "$said" -eq "$([ "$tags" = 'shop blog' ] && echo 1 || echo 0)"
done
set --

# ---- two builds of an application in Ruby: five lines were added above a method ----
cat >build.py <<'END'
import json, sys
name, pid, line, kept = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
START, NODES = 0x7e0000000000, 0x40000
rows = [("app/models/price.rb", line, "Price", "load", kept), ("app/models/user.rb", 8, "User", "tags", 60), ("lib/x.rb", line, "X", "y", 50)]
rows += [(path, int(at), cls, method, int(n)) for path, at, cls, method, n in (given.split(",") for given in sys.argv[5:])]
text = "heap_v2/131072\n  t*: 1: 1 [0: 0]\n"
for i, row in enumerate(rows):
    text += "@ 0x401000 %#x\n  t*: %d: %d [0: 0]\n" % (START + 2 * (i + 1) + 1, row[4], 1000 * row[4])
text += ("\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42 /usr/lib/libruby-3.3.so.3.3\n"
         "%x-%x ---s 00000000 00:01 9 /memfd:jprof-ids:1 (deleted)\n" % (START, START + 2 * 0x240400))
check = 0xcbf29ce484222325
for byte in text.encode():
    check = (check ^ byte) * 0x100000001b3 % 2**64
lines = ["jprof-table 1", "process %d 5 b" % pid, "dump %d %x" % (len(text), check), "ids %x 0 40000 40400 240400" % START,
         "directory /srv/shop", "ruby 3.3.8 on"]
for i, (path, at, cls, method, n) in enumerate(rows):
    lines += ["s %d /srv/shop/%s" % (3 * i + 1, path), "s %d %s" % (3 * i + 2, cls or "-"), "s %d %s" % (3 * i + 3, method),
              "n %d 0 %d %d %d %s %d" % (i + 1, 3 * i + 1, at, 3 * i + 2 if cls else 0, "#" if cls else "-", 3 * i + 3)]
open(name, "w").write(text)
open(name + ".ruby", "w").write("\n".join(lines + ["end %d" % len(rows), ""]))
open(name + ".json", "w").write(json.dumps({"jprof_agent": 1, "dump": name, "pid": pid, "start_ticks": pid, "boot_id": "b",
                                            "program": "/usr/bin/ruby", "ruby": {"version": "3.3.8"}}))
END
python3 build.py old.heap 31 40 100 && python3 build.py new.heap 32 45 300 && python3 build.py again.heap 33 40 300 || fail "no dumps were made"
diff_of "$nowhere" --assume-gc old.heap new.heap
judge "moved" 'd["lines_moved"] and row("price.rb")["name"] == "app/models/price.rb:45 Price#load" and row("price.rb")["values"][0] > 1e7 and row("price.rb")["line"] == 45'
judge "one row for each method" 'sum("price.rb" in r["name"] for r in d["rows"]) == 1 and abs(row("lib/x.rb")["growth"]) < 1'
run "$jprof" diff "$nowhere" --assume-gc old.heap new.heap
grep -v '^$' out | head -n 4 >head
check "said in the head" grep -q '^Lines may have moved between two builds: where all lines of a method are' head
works "$jprof" check "$nowhere" --assume-gc --update-baseline old.heap new.heap
check "the baseline has no line" grep -q '"file": "/srv/shop/app/models/price.rb", "method": "Price#load"' jprof-baseline.json
diff_of "$nowhere" --assume-gc old.heap again.heap
judge "started anew, and nothing moved" 'not d["lines_moved"] and row("price.rb:40")["values"][0] > 1e7'
# Where much is compiled code explain has the command that says of which gem it is.
printf "[compiled code] Ruby's own code\npath */price.rb\nwhat code\ndo less\n" >code.rules
works "$jprof" explain "$nowhere" --rules=code.rules new.heap
prints "^jprof --libs '--focus=group:compiled code' --sysroot=/[^ ]* new.heap\$"
run "$jprof" explain "$nowhere" new.heap
prints_no 'Of which gem'
# Two scripts under one Ruby are two programs, where neither of them has anything of the other; what Ruby did before has no line.
script() {
    python3 build.py "$@" bin/ruby,0,,'<main>',5 || fail "no dump was made"
}
script shop.heap 41 40 100 shop.rb,3,,'<main>',40
script blog.heap 42 40 300 blog.rb,3,,'<main>',40
script both.heap 43 40 300 shop.rb,4,,'<main>',40 blog.rb,3,,'<main>',40
touch -r shop.heap blog.heap both.heap # else they may be a second apart
says_two='the later one is of blog.rb and the base of shop.rb: a difference of two programs is no growth'
works "$jprof" diff "$nowhere" --assume-gc shop.heap blog.heap
check "said at once" eval 'sed -n 2,3p out | tr "\n" " " | grep -q "^$says_two"'
prints_no 'GROWING|LEAK'
exits_with 1 "$jprof" check "$nowhere" --assume-gc shop.heap blog.heap
check "check cannot tell" eval 'tr "\n" " " <out | grep -q "^ruby, 2 snapshots; no times, so no pace CANNOT TELL: $says_two"'
diff_of "$nowhere" --assume-gc shop.heap both.heap
judge "one script in common" 'd["same_program"] and row("price.rb")["verdict"] == "growing"'
# What starts any application says nothing of it.
for names in 'bundle puma' 'puma shop.rb' 'work.rb rails'; do
    set -- $names
    script first.heap 44 40 100 "$1,3,,'<main>',40"
    script second.heap 45 40 300 "$2,3,,'<main>',40"
    diff_of "$nowhere" --assume-gc first.heap second.heap
    judge "$names" 'd["same_program"]'
done
set --
diff_of "$nowhere" --assume-gc shop.heap new.heap
judge "a script of one side alone" 'd["same_program"]'
# A sample of noise at another line moves nothing, and no other line is accused; where a method moved, others keep their lines.
cache_old="app/c.rb,20,Cache,get,500 app/c.rb,25,Cache,get,10"
cache_new="app/c.rb,20,Cache,get,500 app/c.rb,25,Cache,get,400"
python3 build.py noise.old.heap 31 40 100 app/a.rb,10,Noise,x,1 $cache_old && python3 build.py noise.new.heap 32 40 100 app/a.rb,12,Noise,x,1 $cache_new || fail "no dumps were made"
diff_of "$nowhere" --assume-gc noise.old.heap noise.new.heap
judge "noise moved nothing" 'not d["lines_moved"] and abs(row("c.rb:20")["growth"]) < 1 and row("c.rb:25")["growth"] > 1e7'
python3 build.py moved.new.heap 34 45 300 $cache_new || fail "no dump was made"
diff_of "$nowhere" --assume-gc noise.old.heap moved.new.heap
judge "one method moved, another did not" 'd["lines_moved"] and row("price.rb")["name"] == "app/models/price.rb:45 Price#load" and abs(row("c.rb:20")["growth"]) < 1 and row("c.rb:25")["growth"] > 1e7'
# A baseline fits after lines were added above.
works "$jprof" check "$nowhere" --assume-gc old.heap again.heap
prints '^accepted  1 row, by jprof-baseline.json$'
rm jprof-baseline.json

# ---- two builds of a C program: by function ----
jemalloc=
for file in /usr/lib/*/libjemalloc.so.2 /usr/lib/libjemalloc.so.2; do test -e "$file" && jemalloc=$file; done
if [ "$jemalloc" ] && ${CC:-cc} --version >/dev/null 2>&1; then
    cat >server.c <<'END'
#include <stdlib.h>
extern int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));
static void *volatile kept[100000];
static int count;
#ifdef LATER
__attribute__((noinline)) void fresh(int n) { for (int i = 0; i < n; i++) kept[count++] = malloc(500); }
#endif
__attribute__((noinline)) void cache(int n) { for (int i = 0; i < n; i++) kept[count++] = malloc(1000); }
__attribute__((noinline)) void leak(int n) { for (int i = 0; i < n; i++) kept[count++] = malloc(1000); }
int main(int argc, char **argv)
{
	const char *path = argv[2];
#ifdef LATER
	fresh(10);
#endif
	cache(10000);
	leak(atoi(argv[1]));
	return argc != 3 || !mallctl || mallctl("prof.dump", NULL, NULL, &path, sizeof path);
}
END
    for build in "2000 one" "20000 two -DLATER"; do
        set -- $build
        ${CC:-cc} -g -O1 ${3:-} -o server server.c
        LD_PRELOAD=$jemalloc MALLOC_CONF=prof:true,lg_prof_sample:12 ./server "$1" "$2.heap" || fail "no dump of $2"
        run "$jprof" bundle -o "$2.jprof" "$2.heap"
    done
    diff_of one.jprof two.jprof
    judge "by function" 'd["rows"][0]["name"] == "leak" and abs(d["rows"][0]["growth"] - 18.2e6) < 3e6 and abs(row("cache")["growth"]) < 2e6'
    run "$jprof" diff one.jprof two.jprof
    head -n 4 out >head
    check "said in the head: $(cat head)" grep -q 'two builds of it' head
    exits_with 3 "$jprof" check one.jprof two.jprof
    prints '^1  [+]1[0-9][.][0-9] MB [(][+]-[0-9.]+[)]  leak'
fi
finish
