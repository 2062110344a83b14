# usage: ruby ruby_forks.rb      forks until standard input ends; prints "ready", and at the end how the children ended
# Children that load extensions, as those of a preforking server do, while other threads allocate.
def work(n)
  kept = []
  n.times { |i| kept << { a: i.to_s * 10, b: [i] * 10 }; kept.shift if kept.size > 50 }
end

patience = 60 # seconds for a child that needs milliseconds
going = true
threads = 3.times.map { Thread.new { work(50) && sleep(0.002) while going } }
threads << Thread.new { $stdin.read; going = false }
$stdout.puts "ready"
$stdout.flush
forks = hung = bad = 0
while going
  child = fork do
    require "socket"
    require "zlib"
    require "digest"
    require "bigdecimal"
    work(5)
    exit!(0)
  end
  forks += 1
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  until (ended = Process.wait2(child, Process::WNOHANG))
    if Process.clock_gettime(Process::CLOCK_MONOTONIC) - began > patience
      hung += 1
      Process.kill(:KILL, child)
      ended = Process.wait2(child)
      break
    end
    sleep 0.002
  end
  bad += 1 unless ended[1].success?
end
threads.each(&:join)
puts "#{forks} forks, #{hung} hung, #{bad} ended badly"
exit forks > 0 && bad.zero?
