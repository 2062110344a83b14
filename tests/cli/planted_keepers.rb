# Keeps objects of classes P01 and so on, each in another way, and lets the call that made them end.
require 'logger'
require 'set'
$LOAD_PATH.unshift(Dir.pwd)

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

# As web frameworks have it: a chain of middlewares, each with the next one.
class Throttle
  def initialize(app, seen) = (@app = app; @seen = seen)
end

# Like ActiveRecord's: results by the text of the query, of a connection in a pool.
class Connection
  def initialize = @query_cache = {}
  def select(sql, result) = @query_cache[sql] = [result]
end

class Pool
  def initialize = @connections = [Connection.new]
  attr_reader :connections
end

class Report
  def self.title(kept) = define_method(:title) { kept }
end

File.write('late_report.rb', 'module LateReport; def self.keep(value) = @kept = value; end')
autoload(:LateReport, 'late_report')

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
  -> { $app = Throttle.new(Throttle.new(-> {}, {}), { 'client' => pay(23) }) },
  -> { POOL = Pool.new; POOL.connections[0].select('SELECT 1', pay(24)) },
  -> { LOG = Logger.new(File::NULL); kept = pay(25); LOG.formatter = proc { kept } },
  -> { Report.title(pay(26)) },
  -> { $lazy = [pay(27)].each.lazy.map { |x| x } },
  -> { LateReport.keep(pay(28)) },
  -> { Ractor.current[:job] = pay(29) },
  -> { $weak = ObjectSpace::WeakMap.new; (STRONG = [pay(30)]).each { |o| $weak[o] = o } },
  -> { Held.register(pay(31)) },
  -> { Held.static(pay(32)) },
  -> { Fiber[:request] = pay(33) if Fiber.respond_to?(:[]) },
  -> { $later = Object.new; $later.instance_variable_set(:@block, pay(34).method(:then).to_proc) },
  -> { Comparable.class_variable_set(:@@shared, pay(35)) },
  -> { Signal.trap('USR2', pay(36).method(:inspect).to_proc) },
  -> { Sub.singleton_class.const_set(:INNER, { a: pay(37) }) },
  -> { $own = Object.new; $own.singleton_class.instance_variable_set(:@mine, [pay(38)]) },
]

begin
  require 'held'
rescue LoadError
  module Held
    def self.register(_) = nil
    def self.static(_) = nil
  end
end

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
