#!/bin/sh
# CPU time of jprof and of Perl jeprof for the same report, in pairs:
#
#     sh bench/compare.sh JPROF DUMP [RUNS]
#
# Ends with 1 when the median of jprof's share is above 1/GATE (GATE=50).  Pairs, because
# the speed of a shared machine changes while one looks; CPU time (user and system, with
# all children) because it changes less than the time on the clock.
set -eu

[ $# -ge 2 ] || {
    echo "compare: give the jprof to measure and a dump, such as bench/make-dump.sh makes" >&2
    exit 2
}
for tool in ruby jeprof; do
    command -v $tool >/dev/null || {
        echo "compare: no $tool; apt-get install ruby libjemalloc-dev binutils" >&2
        exit 2
    }
done

# jeprof takes a bare name for a URL, so the program is given by its path.
exec ruby - "$(command -v ruby)" "$@" <<'RUBY'
program, jprof, dump, runs = ARGV
runs = Integer(runs || 5)
gate = Float(ENV.fetch('GATE', 50))

def give_up(text)
  warn "compare: #{text}"
  exit 2
end

# CPU seconds of a command and its children, and its "Total:" line.  Ruby takes
# these times from getrusage: microseconds, where times(2) has hundredths.
def cpu(*command)
  before = Process.times
  total = IO.popen(command, in: File::NULL, err: File::NULL, &:read)[/^Total: .*/]
  after = Process.times
  give_up("'#{command.join(' ')}' printed no report; run it by hand") unless $?.success? && total
  [after.cutime + after.cstime - before.cutime - before.cstime, total]
end

give_up("no dump #{dump}; bench/make-dump.sh makes one") unless File.file?(dump)
give_up("no program #{jprof}; build it first") unless File.executable?(jprof)
ours = [File.expand_path(jprof), '--text', program, dump]
perl = ['jeprof', '--text', program, dump]

# One run each to fill the page cache, and to see that both answer the same question.
totals = [cpu(*ours)[1], cpu(*perl)[1]]
give_up("jprof says '#{totals[0]}', jeprof '#{totals[1]}'") unless totals.uniq.one?

ratios = (1..runs).map do |run|
  a = cpu(*ours)[0]
  b = cpu(*perl)[0]
  printf "pair %d: jprof %.4f s, jeprof %.3f s, ratio %.4f\n", run, a, b, a / b
  a / b
end.sort
median = (ratios[(runs - 1) / 2] + ratios[runs / 2]) / 2
printf "median ratio jprof/jeprof = %.4f (1/%.0f), gate 1/%g\n", median, 1 / median, gate
exit median <= 1 / gate
RUBY
