# Makes two dumps of itself, DIRECTORY/NAME.0.heap and .1.heap, with owners whose lines are known.
# usage: owners.rb DIRECTORY NAME
require 'fiddle'

class Leak
  def keep = 200.times { Fiddle.malloc(1024) }
end

class Cache
  def initialize = @blocks = []

  def self.fill(n) = new.tap { |cache| n.times { cache.add } }

  def add
    @blocks << Fiddle.malloc(2048)
    Fiddle.free(@blocks.shift) if @blocks.size > 500
  end
end

class Deep
  def down(n) = n.zero? ? Array.new(50) { Fiddle.malloc(3000) } : down(n - 1)
end

def evaluate(i) = eval('Fiddle.malloc(4000)', nil, "template_#{i % 3}.erb", 10 + i % 3)

def dump(path)
  mallctl = Fiddle::Function.new(Fiddle.dlopen(nil)['mallctl'],
                                 [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)
  mallctl.call('prof.dump', nil, nil, [path].pack('p'), 8).zero? or abort "no dump in #{path}"
end

$cache = Cache.fill(400)
$deep = Deep.new.down(300)
5.times { Leak.new.keep }
90.times { |i| evaluate(i) }
$arrays = Array.new(2000) { |i| [i] * 8 }
GC.start
dump("#{ARGV[0]}/#{ARGV[1]}.0.heap")
sleep 0.2
20.times { Leak.new.keep }
400.times { $cache.add }
Thread.new { 30.times { |i| evaluate(i) } }.join
dump("#{ARGV[0]}/#{ARGV[1]}.1.heap")
