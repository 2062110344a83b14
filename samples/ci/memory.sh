#!/bin/sh
# A gate for CI: runs the Puma of this directory under profiling, sends it requests, and looks at what grew. It ends as
# jprof check does: 0 PASS, 3 FAIL, 1 CANNOT TELL or something that did not work.
#
# usage: sh memory.sh [OPTIONS of jprof check]
#   JPROF=jprof        the program
#   PORT=9292          where the Puma listens
#   REQUESTS=600       how many are sent before each snapshot
#   OUT=memory         the directory for snapshots and Puma's output
set -eu
CDPATH='' cd -- "$(dirname -- "$0")"
jprof=${JPROF:-jprof}
requests=${REQUESTS:-600}
out=${OUT:-memory}
export PORT="${PORT:-9292}"
mkdir -p "$out/dumps"
rm -f "$out"/*.jprof
out=$(cd "$out" && pwd)

# With a Gemfile it is `bundle exec puma`.
"$jprof" run --dir="$out/dumps" -- puma -C puma.rb >"$out/puma.log" 2>&1 &
puma=$!
stop() {
    status=$?
    { kill "$puma" && wait "$puma"; } 2>/dev/null || true
    [ "$status" -eq 0 ] || [ "$status" -eq 3 ] || cat "$out/puma.log" >&2
    exit "$status"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# A first round fills caches; of the next two jprof sees whether something still grows.
for moment in warm soak1 soak2; do
    ruby load.rb "$PORT" "$requests"
    "$jprof" snap --puma="$puma" --gc --label="$moment" -o "$out/$moment.jprof" >>"$out/puma.log" 2>&1
done
"$jprof" check "$@" "$out/warm.jprof" "$out/soak1.jprof" "$out/soak2.jprof"
