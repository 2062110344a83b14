#!/bin/sh
# USR2: by hand, to programs that want it themselves, where there is no profiling, often.
. "$(dirname "$0")/agent_lib.sh"
has_ruby || skip "no ruby here"
words=

# Without the agent it kills: this is what the published recipes do to a plain Ruby.
LD_PRELOAD=$jemalloc MALLOC_CONF=$conf ruby -e 'puts 1; $stdout.flush; sleep 60' >said 2>cried &
pid=$!
started="$started $pid"
until_true test -s said
kill -USR2 "$pid"
wait "$pid"
check "a Ruby without agent lives" test $? -eq 140

start ruby -e 'puts 1; $stdout.flush; sleep 60'
until_true test -s said
check "the signal is not the agent's" test "$(field '"\(.signal) \(.signal_owned)"' report)" = "12 true"
kill -USR2 "$pid"
check "no dump" until_true has_dumps 1
check "whole" dumps_are_whole
check "lives" lives "$pid"
check "reason" test "$(jq -r .reason d/*.json)" = signal
end "$pid"
rm -rf d/*

# Whatever the program waits for goes on, and gets what it waits for.
cat >busy.rb <<'END'
reader, writer = IO.pipe
other, hand = IO.pipe
queue = Queue.new
got = Queue.new
Thread.new { got << queue.pop }
Thread.new { got << IO.select([reader], nil, nil, 60)[0].size }
Thread.new { got << other.gets.chomp.to_i }
puts $$
$stdout.flush
started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
sleep 3
late = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started >= 3
queue << 1
writer.puts 1
hand.puts 1
puts [late, *3.times.map { got.pop }].inspect
$stdout.flush
sleep 60
END
start ruby busy.rb
until_true test -s said
python3 - "$pid" <<'END'
import os, signal, sys, time
for _ in range(200):
    os.kill(int(sys.argv[1]), signal.SIGUSR2)
    time.sleep(0.005)
END
check "does not come to its end" until_true grep -q '\[' said
check "what it waited for: $(tail -n 1 said)" test "$(tail -n 1 said)" = '[true, 1, 1, 1]'
check "after 200 signals: lives" lives "$pid"
check "200 signals, and $(count_dumps) dumps" has_dumps 2
echo "200 signals 5 ms apart led to $(count_dumps) dumps"
check "whole" dumps_are_whole
check "dumps are counted" test "$(field .dumps report)" -eq "$(count_dumps)"
end "$pid"
rm -rf d/*

# trap() of the program, after the agent's, wins.
start ruby -e 'trap("USR2") { puts :mine; $stdout.flush }; puts 1; $stdout.flush; loop { sleep 1 }'
until_true test -s said
check "still the agent's" test "$(field '"\(.signal) \(.signal_owned)"' report)" = "12 false"
kill -USR2 "$pid"
check "the program did not get its signal" until_true grep -qx mine said
check "dumped" test "$(count_dumps)" -eq 0
check "the socket answers no more" test "$(field .ok dump)" = true
end "$pid"
rm -rf d/*

# One that stands before: USR2 ignored by the parent stays ignored.
cat >ignoring.py <<'END'
import os, signal, sys
signal.signal(signal.SIGUSR2, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
END
words=for=subject
wrap='python3 ignoring.py'
start "$subject" hold wait
wrap=
check "taken though ignored" test "$(field '"\(.signal) \(.signal_owned)"' report)" = "0 false"
check "announced as 0" grep -q '/memfd:jprof-agent:1:0:' "/proc/$pid/maps"
kill -USR2 "$pid"
check "lives" lives "$pid"
end "$pid"

# Blocked in all of the program's threads: it waits, and harms nobody.
start "$subject" block hold wait
kill -USR2 "$pid"
check "blocked: the socket does not answer" test "$(field .ok dump)" = true
check "blocked: lives" lives "$pid"
end "$pid"
rm -rf d/*

# Another number.
words=for=subject,signal=50
start "$subject" hold wait
check "50" grep -q '/memfd:jprof-agent:1:50:' "/proc/$pid/maps"
kill -50 "$pid"
check "no dump by 50" until_true has_dumps 1
kill -USR2 "$pid"
wait "$pid"
check "USR2 was taken too" test $? -eq 140
rm -rf d/*

# No profiling: said once, and it lives.
words=
rm said
LD_PRELOAD="$agent:$jemalloc" MALLOC_CONF=prof:false ruby -e 'puts 1; $stdout.flush; loop { sleep 1 }' >said 2>cried &
pid=$!
started="$started $pid"
until_true test -s said
check "prof:false: a thread of the agent" eval '! grep -qx jprof-agent /proc/$pid/task/*/comm'
for i in 1 2 3; do kill -USR2 "$pid"; sleep 0.1; done
check "prof:false: nothing said" until_true test -s cried
check "prof:false: lives" lives "$pid"
check "prof:false: not said once" test "$(grep -c 'profiling is off' cried)" -eq 1 -a "$(wc -l <cried)" -eq 1
end "$pid"
finish
