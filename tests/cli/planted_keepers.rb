# Keeps 22 objects of classes P01 to P22, each in another way, and lets the call that made them end.
require 'set'

def pay(number)
  name = format('P%02d', number)
  made = Class.new { define_method(:initialize) { |k| @data = Array.new(k) { |i| "p#{i}" } } }
  Object.const_set(name, made).new(500 + number * 10)
end

class Cvar
  def self.put(value) = @@cache = [value]
end

class Civ
  @reg = {}
  def self.put(value) = @reg[:k] = value
end

class Sub; end

# A constant that waits for its file: who looks at it without asking loads it, and ends the program.
File.write('later.rb', 'abort "loaded"')
Object.autoload(:Later, File.expand_path('later.rb'))

PLANTED = [
  -> { Object.const_set(:K_HASH, { a: pay(1) }) },
  -> { Cvar.put(pay(2)) },
  -> { Thread.current[:tl] = pay(3) },
  -> { x = pay(4); $proc = proc { x } },
  -> { s = Object.new; s.singleton_class.instance_variable_set(:@sing, pay(5)); $sing = s },
  -> { f = Fiber.new { y = pay(6); Fiber.yield 1; y.object_id }; f.resume; $fiber = f },
  -> { $glob = pay(7) },
  -> { o = Object.new; fin = pay(8); ObjectSpace.define_finalizer(o, proc { fin }); $finobj = o },
  -> { Civ.put(pay(9)) },
  -> { Thread.current.thread_variable_set(:tv, pay(10)) },
  -> { $th = Thread.new { z = pay(11); sleep; z.object_id } },
  -> { z = pay(12); Sub.define_singleton_method(:dm) { z } },
  -> { w = pay(13); $enum = Enumerator.new { |e| e << w } },
  -> { Object.const_set(:ST, Struct.new(:field)); $str = ST.new(pay(14)) },
  -> { h = {}.compare_by_identity; h[pay(15)] = 1; $idh = h },
  -> { $meth = pay(16).method(:inspect) },
  -> { kept = pay(17); at_exit { kept } },
  -> { $q = Queue.new; $q << pay(18) },
  -> { tr = pay(19); $tp = TracePoint.new(:line) { tr } },
  -> { e = pay(20); begin; raise 'x'; rescue => ex; ex.instance_variable_set(:@ctx, e); $err = ex; end },
  -> { $set = Set[pay(21)] },
  -> { $cur = binding.tap { |b| b.local_variable_set(:bv, pay(22)) } },
]

def plant
  PLANTED.each(&:call)
  nil
end
plant
50.times { [1].map { |q| q.to_s * 3 } }
sleep 0.2
GC.start
File.write('ready', '')
sleep
