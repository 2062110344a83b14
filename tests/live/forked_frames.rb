# Children that are forked while another thread samples: does each still take Ruby stacks? By hand, with the agent and
# jemalloc in LD_PRELOAD and MALLOC_CONF=prof:true,lg_prof_sample:12:
#     ruby forked_frames.rb 2000
# Each child dumps itself, into the working directory; its table must be whole and have the child's own line.
require 'fiddle'
MALLCTL = Fiddle::Function.new(Fiddle::Handle::DEFAULT['mallctl'], [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T],
                               Fiddle::TYPE_INT)
def dump(path)
  name = Fiddle::Pointer["#{path}\0"]
  MALLCTL.call(Fiddle::Pointer["prof.dump\0"], nil, nil, Fiddle::Pointer[[name.to_i].pack('J')], 8).zero?
end

$keep = []
def child_line = 100.times { $keep << Fiddle.malloc(3000) }
sampling = Thread.new do
  loop { 500.times.map { |i| 'y' * 3000 + i.to_s } }
end
forks = ARGV[0].to_i
without = (1..forks).reject do
  pid = fork do
    child_line
    exit!(dump('child.heap') ? 0 : 1)
  end
  _, status = Process.wait2(pid)
  table = File.exist?('child.heap.ruby') ? File.binread('child.heap.ruby') : ''
  File.delete('child.heap', 'child.heap.ruby') if status.success? && !table.empty?
  status.success? && table.include?('child_line') && table.match?(/^end \d+$/)
end
sampling.kill
puts "#{forks} children, #{without.size} without their line: #{without.first(5)}"
exit without.empty?
