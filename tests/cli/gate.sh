#!/bin/sh
# samples/ci, a gate for CI: green on a Puma that keeps 50 lists, red on one that keeps all, with the line, GitHub's annotation
# and Markdown. By hand: JPROF_GATE_RUNS=20 is how many runs of each; JPROF_GATE_REQUESTS=257 how many requests before each
# snapshot, which leak 10 MB from the first snapshot to the last; PAUSE=4.67 spreads them over ten minutes.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
command -v puma >/dev/null || skip "no puma here (Debian: puma)"
cp -r "$root/samples/ci" app
cd app || exit 1
line=$(grep -n 'KEPT\[customer\] =' config.ru | cut -d : -f 1)
free_port() {
    ruby -rsocket -e 'puts TCPServer.new("127.0.0.1", 0).addr[1]'
}
# gate OPTIONS: the leak is 20.4 KB for each request: 300 before each snapshot make it 12 MB.
gate() {
    rm -f summary.md
    run env JPROF="$jprof" JPROF_AGENT_LIB="$agent" PORT="$(free_port)" REQUESTS="${JPROF_GATE_REQUESTS:-300}" GITHUB_STEP_SUMMARY=summary.md "$@"
}
i=0
while [ "$i" -lt "${JPROF_GATE_RUNS:-1}" ]; do
    gate sh memory.sh --github
    exits 0
    says
    prints '^PASS: none of [0-9]+ rows grew by more than 5 MB from warm([.]jprof)? to soak2([.]jprof)?'
    check "an annotation" lacks out '^::'
    check "no summary" grep -q '^PASS: ' summary.md
    gate LEAK=1 sh memory.sh --github
    exits 3
    says
    prints '^FAIL: 1 of [0-9]+ rows grew by more than 5 MB'
    prints "^1  [+][0-9.]+ MB [(][+]-[0-9.]+[)]  config.ru:$line PriceList.load$"
    prints "^::error file=config.ru,line=$line,title=jprof%3A [+][0-9.]+ MB::config.ru:$line PriceList.load [(](leak suspect|growing)[)]$"
    check "no table in the summary" grep -qE "^\| [+][0-9.]+ .*(leak suspect|growing) \| .config.ru:$line PriceList.load. \|$" summary.md
    i=$((i + 1))
    [ "${JPROF_GATE_RUNS:-1}" -eq 1 ] || echo "after $i of each: $failures failures; the leak: $(grep '^1  ' out)"
done
# The workflow: YAML whose commands and files are there.
run ruby -ryaml -e '
  job = YAML.safe_load_file("memory.yml").fetch("jobs").fetch("memory")
  job["steps"].filter_map { |step| step["run"] }.each { |text| puts text }
  puts job["steps"].last["with"]["path"]'
exits 0
prints '^sh memory.sh --github --max-growth=5MB$'
prints '^memory/\*\.jprof$'
check "no snapshot where the workflow looks" [ "$(ls memory/*.jprof | wc -l)" -eq 3 ]
finish
