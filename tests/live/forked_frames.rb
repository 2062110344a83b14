# Children that are forked while another thread samples: does each still take Ruby stacks, and end as it would? By hand,
# with the agent and jemalloc in LD_PRELOAD and MALLOC_CONF=prof:true,lg_prof_sample:12:
#     ruby --disable-gems forked_frames.rb 2000
# Each child dumps itself, into the working directory; its table must be whole and have the child's own line. Four live
# at once, as those of a server do; each ends in the next of the ways below.
require 'fiddle'
require 'timeout'
MALLCTL = Fiddle::Function.new(Fiddle::Handle::DEFAULT['mallctl'], [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T],
                               Fiddle::TYPE_INT)
def dump(path)
  name = Fiddle::Pointer["#{path}\0"]
  MALLCTL.call(Fiddle::Pointer["prof.dump\0"], nil, nil, Fiddle::Pointer[[name.to_i].pack('J')], 8).zero?
end

# A status, or a signal by its name, and what leads to it.
ENDINGS = {
  'exit!' => [6, -> { exit! 6 }],
  'exit' => [5, -> { exit 5 }],
  'the end of the block' => [0, -> {}],
  'exit in at_exit' => [3, -> { at_exit { Array.new(999) { 'x' * 99 }; exit 3 } }],
  'exit in a thread' => [4, -> { Thread.new { exit 4 }.join; sleep }],
  'exit beside threads' => [4, -> { 2.times { Thread.new { loop { 'x' * 9999 } } }; exit 4 }],
  'abort' => [1, -> { $stderr.reopen(File::NULL); abort 'x' }],
  'raise' => [1, -> { $stderr.reopen(File::NULL); raise 'x' }],
  'TERM' => ['TERM', -> { Process.kill :TERM, $$; sleep }],
  'KILL' => ['KILL', -> { Process.kill :KILL, $$; sleep }],
  'exec' => [0, -> { exec 'true' }],
  'a finalizer' => [0, -> { ObjectSpace.define_finalizer('x'.dup, proc { Array.new(999) { 'x' * 99 } }) }],
  'a child of its own' => [7, -> { exit Process.wait2(fork { 'x' * 99_999; exit 7 })[1].exitstatus }]
}.freeze

def outcome(status) = status.signaled? ? Signal.signame(status.termsig) : status.exitstatus

$keep = []
def child_line = 100.times { $keep << Fiddle.malloc(3000) }
sampling = Thread.new do
  loop { 500.times.map { |i| 'y' * 3000 + i.to_s } }
end
forks = ARGV[0].to_i
living, faults = {}, []
reap = lambda do
  pid, status = Timeout.timeout(300) { Process.wait2 }
  way = living.delete(pid)
  heap = "child.#{pid}.heap"
  table = File.exist?("#{heap}.ruby") ? File.binread("#{heap}.ruby") : ''
  whole = table.include?('child_line') && table.match?(/^end \d+$/)
  faults << "#{pid}, #{way}: no line of its own" unless whole
  faults << "#{pid}, #{way}: ended with #{outcome(status)}" unless outcome(status) == ENDINGS[way][0]
  File.delete(heap, "#{heap}.ruby") if whole
end
begin
  forks.times do |i|
    way = ENDINGS.keys[i % ENDINGS.size]
    pid = fork do
      child_line
      dump("child.#{$$}.heap")
      ENDINGS[way][1].call
    end
    living[pid] = way
    reap.call if living.size >= 4
  end
  reap.call until living.empty?
rescue Timeout::Error
  faults << "hung: #{living}"
  living.each_key { |pid| Process.kill(:KILL, pid) }
end
sampling.kill
puts "#{forks} children, each of #{ENDINGS.size} ways in turn, #{faults.size} faults: #{faults.first(5)}"
exit faults.empty?
