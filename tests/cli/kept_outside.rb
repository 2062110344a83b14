# Leaks of several kinds, for jprof keepers of a process that nobody prepared. When the file `go` is there it writes what
# ObjectSpace.dump_all says of the same objects.
require 'objspace'
class Item
  def initialize(i) = (@a = i; @b = "item number #{i} of many that are kept here"; @c = [i.to_s])
end
Pair = Struct.new(:left, :right, :third, :fourth, :fifth)
class Registry
  @@all = []
  def self.add(x) = @@all << x
end
class Session
  @open = {}
  def self.open(key, value) = @open[key] = value
end
class Queueing
  def initialize = @jobs = Queue.new
  attr_reader :jobs
end
CACHE = {}
ROWS = []
JOBS = Queueing.new
def fill
  20_000.times { |i| CACHE["key#{i}"] = Item.new(i) }
  15_000.times { |i| Registry.add([i, "x" * 200]) }
  10_000.times { |i| Session.open(i, { id: i, name: "session #{i}", tags: ["a#{i}", "b"] }) }
  8_000.times { |i| ROWS << Pair.new(i.to_s, "right #{i}" * 3, [i], nil, { i => i }) }
  5_000.times { |i| JOBS.jobs << "job #{i} " * 20 }
  kept = Array.new(6_000) { |i| "closure #{i} " * 10 }
  $later = proc { kept.size }
  nil
end
fill
50.times { [1].map { |q| q.to_s * 3 } }
GC.start
GC.disable
file = File.open('dump.ndjson', 'w')
File.write('ready', '')
sleep 0.02 until File.exist?('go')
ObjectSpace.dump_all(output: file)
file.close
File.write('dumped', '')
sleep
