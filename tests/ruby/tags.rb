# Jprof.tag and its kin, without an agent: what the agent would read is the fiber-local and the texts.
require_relative 'check'
require 'stringio'
require 'timeout'
before = $LOADED_FEATURES.dup
require 'jprof'

def number = Thread.current[:__jprof_tag]
def now = number && Jprof::TEXTS[number]
check 'files that it needs', $LOADED_FEATURES - before, ->(l) { l.size == 1 && l[0].end_with?('/ruby/lib/jprof.rb') }
check 'at first', now, nil

# ---- blocks ----
check 'what the block gives', Jprof.tag('a') { 17 }, 17
Jprof.tag('GET /users/:id') do
  check 'a tag', now, '- GET /users/:id'
  check 'is a small number', number, 1..256
  check 'current', Jprof.current, 'GET /users/:id'
  Jprof.tag('inner', :job) { check 'within a tag', now, 'job inner' }
  check 'and after it', now, '- GET /users/:id'
  Jprof.tag(nil) { check 'nil', now, nil }
  (Jprof.tag('raises') { raise 'x' }) rescue check('after an exception', now, '- GET /users/:id')
  catch(:out) { Jprof.tag('throws') { throw :out } }
  check 'after a throw', now, '- GET /users/:id'
  [1].each { Jprof.tag('breaks') { break } }
  check 'after a break', now, '- GET /users/:id'
end
check 'after all', now, nil
check 'a block is wanted', (Jprof.tag('x') rescue $!.class), LocalJumpError
check 'after none', now, nil

# ---- texts ----
def text_of(text, kind = nil) = Jprof.tag(text, kind) { now }
check 'a kind', text_of('GET /', :route), 'route GET /'
check 'a kind that is not known', text_of('GET /', :strange), '- GET /'
check 'a class', text_of(Comparable, :job), 'job Comparable'
check 'a symbol', text_of(:sym), '- sym'
check 'none', text_of(''), nil
check 'bytes', text_of("caf\xE9"), "- caf\uFFFD"
check 'Latin', text_of("caf\xE9".dup.force_encoding('ISO-8859-1')), '- café'
check 'UTF-16', text_of('café'.encode('UTF-16LE')), '- café'
check 'no encoding that is known', text_of('x'.dup.force_encoding('UTF-7')), nil
check 'what has no text', text_of(BasicObject.new), nil
check 'a long one', text_of('é' * 3000), "- #{'é' * 100}"
mutable = +'mutable'
one = text_of(mutable)
mutable << ' later'
check 'what is changed later', [one, text_of(mutable), text_of('mutable')], ['- mutable', '- mutable later', '- mutable']
check 'equal ones are one', Jprof::TEXTS.uniq.size, Jprof::TEXTS.size
known = Jprof::TEXTS.dup
load $LOADED_FEATURES.find { |f| f.end_with?('/ruby/lib/jprof.rb') }
check 'loaded again', [Jprof::TEXTS, text_of(mutable)], [known, '- mutable later']

# ---- finalizers ----
seen = []
finish = proc { |id| seen << [now, id.class] }
given = nil
Jprof.tag('what is interrupted') do
  100.times { given = ObjectSpace.define_finalizer(Object.new, finish) }
  100.times { ObjectSpace.define_finalizer(Object.new) { |id| seen << [now, id.class] } }
  GC.start
  check 'the tag stays', now, '- what is interrupted'
end
check 'finalizers ran', seen.size, 100..200
check 'without a tag, with an id', seen.uniq, [[nil, Integer]]
check 'what define_finalizer gives', given, [0, finish]
class Bare < BasicObject
  def initialize(seen) = @seen = seen
  def call(_) = @seen << :bare
end
100.times { ObjectSpace.define_finalizer(Object.new, Bare.new(seen)) }
GC.start
check 'a finalizer that is a BasicObject', seen.count(:bare), 50..100
frames = []
100.times { ObjectSpace.define_finalizer(Object.new, proc { |_| frames << caller.grep(/jprof\.rb.*\btag\b/).size }) }
GC.start
check 'where there is no tag none is taken away', [frames.size, frames.uniq], ->(got) { got[0] >= 50 && got[1] == [0] }
boxed = Jprof::Untagged.new(finish)
check 'what a box is called', [boxed.inspect, "#{boxed}"], [finish.inspect] * 2
reader, writer = IO.pipe
exit_status = Process.wait2(fork do
  object = Object.new
  2.times { ObjectSpace.define_finalizer(object, proc { writer.write('never') }) }
  ObjectSpace.undefine_finalizer(object)
  once = ->(_) { writer.write('once') }
  $object = [object]
  2.times { ObjectSpace.define_finalizer($object, once) }
end)[1].exitstatus
writer.close
check 'at the end: equal ones once, undefined ones never', [reader.read, exit_status], ['once', 0]
def error_of = (yield; nil) rescue [$!.class, $!.message]
plain = ObjectSpace.method(:define_finalizer).super_method || ObjectSpace.method(:define_finalizer)
[[], [nil], [17], [finish, finish]].each do |wrong|
  check "define_finalizer with #{wrong}", error_of { ObjectSpace.define_finalizer(+'x', *wrong) }, error_of { plain.call(+'x', *wrong) }
end
check 'of a frozen object', error_of { ObjectSpace.define_finalizer('x'.freeze, finish) }&.first, FrozenError
$stderr = StringIO.new
(+'x').instance_eval { ObjectSpace.define_finalizer(self, proc {}) }
object = Class.new { def work(_) = nil }.new
ObjectSpace.define_finalizer(object, object.method(:work))
warnings, $stderr = $stderr.string, STDERR
check 'what Ruby warns of', warnings.scan('finalizer references object to be finalized').size, 2

# ---- threads and fibers ----
Jprof.tag('outer') do
  check 'a new thread', Thread.new { now }.value, nil
  check 'a new fiber', Fiber.new { now }.resume, nil
  check "an enumerator's fiber", Enumerator.new { |y| y << now }.next, nil
  check 'wrapped for a thread', Thread.new(&Jprof.wrap { now }).value, '- outer'
  check 'wrapped for a fiber', Fiber.new(&Jprof.wrap { now }).resume, '- outer'
  check 'what has call', Jprof.wrap(method(:now)).call, '- outer'
  check 'arguments', Jprof.wrap { |a, (b, c), d: 0, &e| [a, b, c, d, e.call] }.call(1, [2, 3], d: 4) { 5 }, [1, 2, 3, 4, 5]
  check 'arguments of a thread', Thread.new(1, 2, &Jprof.wrap { |a, b| [a, b, now] }).value, [1, 2, '- outer']
end
untagged = Jprof.wrap { now }
check 'wrapped without a tag', Jprof.tag('other work') { untagged.call }, nil
check 'nothing to wrap', (Jprof.wrap rescue $!.class), ArgumentError
fibers = (1..4).map { |i| Fiber.new { Jprof.tag("fiber #{i}") { 50.times { Fiber.yield now == "- fiber #{i}" }; now } } }
check 'fibers take turns', 50.times.flat_map { fibers.map(&:resume) }.all?
threads = (1..8).map { |i| Thread.new { Array.new(300) { |n| Jprof.tag("thread #{i}") { Thread.pass if n % 9 == 0; now } }.uniq } }
check 'threads', threads.map(&:value), (1..8).map { |i| ["- thread #{i}"] }
work = Queue.new
got = Queue.new
pool = Array.new(3) { Thread.new { while (job = work.pop) do got << job.call end } }
Jprof.tag('sender') { work << -> { now } << Jprof.wrap { now } << -> { now } }
check 'a pool', Array.new(3) { got.pop }.map(&:to_s).sort, ['', '', '- sender']
pool.each { work << nil }

# ---- lent ----
storage = Fiber.respond_to?(:[])
lent = storage ? '- lender' : nil
late = nil
Jprof.tag('lender') do
  check 'what lend gives', Jprof.lend { 5 }, 5
  Jprof.lend do
    check 'not by itself', Fiber.new { now }.resume, nil
    check 'to a fiber', Fiber.new { Jprof.inherit { now } }.resume, lent
    check 'to a thread', Thread.new { Fiber.new { Jprof.inherit { now } }.resume }.value, lent
    late = Fiber.new { [Fiber.yield, Jprof.inherit { now }, now] }
    late.resume
  end
  check 'after lending', Fiber.new { Jprof.inherit { now } }.resume, nil
end
check 'who outlives it', Jprof.tag('others') { late.resume }, [nil, nil, nil]

# ---- where nothing may fail ----
trapped = nil
trap('USR1') { trapped = Jprof.tag('in a trap') { [1, now] } }
Process.kill('USR1', $$)
Timeout.timeout(20) { sleep 0.01 until trapped }
check 'a trap', trapped, [1, nil]
if defined?(Ractor) && RUBY_VERSION < '4'
  Warning[:experimental] = false
  check 'a ractor', Ractor.new { Jprof.tag('x') { 18 } }.take, 18
end
child = fork { Jprof.tag('of a child') { exit!(now == '- of a child' ? 0 : 1) } }
check 'a child', Process.wait2(child)[1].success?

# ---- so many, then "other" ----
5000.times { |i| Jprof.tag("many #{i}") { check 'is known, or other', now, ["- many #{i}", nil].method(:include?) } }
check 'at most', [Jprof::MOST, Jprof::TEXTS.size - 1], [256, 256]
Jprof.tag('too many') { check 'other', [number, Jprof.current], [257, 'other'] }
check 'those that are known stay', text_of('mutable'), '- mutable'
check 'nothing is kept of others', Jprof.send(:remove_const, :NUMBERS).sum { |_, texts| texts.size }, ..512
puts "#{$checks} checks, #{$failures} failures"
exit $failures.zero?
