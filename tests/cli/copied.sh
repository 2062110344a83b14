#!/bin/sh
# jprof explain --copied: what a fork and its parent no longer share, beside the kernel's Private_Dirty and what was changed.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
find_jemalloc
cat >forks.rb <<'END'
class Order; attr_accessor :n; def initialize(n) = @n = n; end
$strings = Array.new(300_000) { |i| "string number #{i}" }
$orders = Array.new(100_000) { |i| Order.new(i) }
GC.start
GC.disable
def child(name) = fork { yield; File.write("#{name}.new", Process.pid.to_s); File.rename("#{name}.new", name); sleep }
child("strings") { 3000.times { |i| $strings[i * 100] << "x" } }
child("orders") { 2000.times { |i| $orders[i * 50].n = -1 } }
child("gone") { $strings = nil; GC.enable; GC.start }
child("idle") { }
File.write("ready", "") # it waits for none: each look would make Strings where a child made some
sleep
END
there() { [ -e strings ] && [ -e orders ] && [ -e gone ] && [ -e idle ]; }

# within NAME: what was copied and what is new are the kernel's Private_Dirty within 5 % and 0.3 MB.
within() {
    dirty=$(sed -n 's/^Private_Dirty: *\([0-9]*\) kB/\1/p' "/proc/$1/smaps_rollup")
    copied=$(sed -n 's/^ *\([0-9.]*\)  100 %  copied since the fork$/\1/p' out)
    fresh=$(tr '\n' ' ' <out | sed -n 's/.*shared, \([0-9.]*\) MB are new since.*/\1/p')
    check "$copied and $fresh MB, Private_Dirty $dirty kB" awk -v d="$dirty" -v c="$copied" -v f="$fresh" \
        'BEGIN { x = (c + f) - d / 1024; exit !(c != "" && (x < 0 ? -x : x) < 0.05 * d / 1024 + 0.3) }'
}

for preload in "$jemalloc" ""; do
    rm -f strings orders gone idle
    launch "$preload" "" "$ruby" forks.rb
    parent=$pid
    until_true 60 there || fail "not all children wrote their files: $(ls)"
    started="$started $(cat strings) $(cat orders) $(cat gone) $(cat idle)"
    is_quiet "$jprof" explain --copied "$(cat strings)"
    prints '^ +[0-9.]+ +[89][0-9] %  30[0-9][0-9] String objects that were changed$'
    within "$(cat strings)"
    works "$jprof" explain --copied "$(cat orders)"
    prints '^ +[0-9.]+ +[89][0-9] %  200[0-9] Order objects that were changed$'
    within "$(cat orders)"
    works "$jprof" explain --copied "$(cat gone)"
    prints '^ +[0-9.]+ +[0-9]+ %  (2[7-9][0-9]|30[0-9])[0-9]{3} slots whose objects are gone$'
    within "$(cat gone)"
    works "$jprof" explain --copied "$(cat idle)"
    prints 'nothing to$|nothing to speak'
    prints_no 'what was changed on these pages'
    is_quiet "$jprof" explain --copied "$parent"
    prints "^4 processes that were forked from process $parent$"
    prints '^ +[0-9.]+ +[0-9]+ %  50[0-9] Order objects that were changed$'
    lives "$parent"
    end_started
done

# What is no fork, and what has no answer.
exits_with 1 "$jprof" explain --copied "$$"
says_like "^jprof: process $$: it was not forked from its parent's program, and no child was forked from it"
exits_with 1 "$jprof" explain --copied 4999999
says 'jprof: process 4999999: there is no such process'
for words in "" "$$ $$" x.jprof; do
    # shellcheck disable=SC2086
    exits_with 1 "$jprof" explain --copied $words
    says_like '^jprof: --copied is for one live process that was forked'
done
exits_with 1 "$jprof" explain --copied --json "$$"
says_like '^jprof: --copied prints text'
exits_with 1 "$jprof" --copied "$$"
finish
