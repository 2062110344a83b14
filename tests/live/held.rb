# As held.c has it, with strings: held.rb SEED DUMP RECENT EARLY
require 'fiddle'
HELD = Fiddle.dlopen('./held.so')
STEP = Fiddle::Function.new(HELD['held_step'], [], Fiddle::TYPE_VOID)
DUMP = Fiddle::Function.new(HELD['held_dump'], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)
TAKE = Fiddle::Function.new(HELD['held_take'], [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)
$kept = Array.new(60_000)
$count = 0
$queue = Array.new(5000)
$turn = 0
def startup(n) = n.times { $kept[$count += 1] = 'x' * 1000 }
def growing(n) = n.times { $kept[$count += 1] = 'x' * 1000 }
def levelled_off(n) = n.times { $kept[$count += 1] = 'x' * 1000 }
def one_jump(n) = n.times { $kept[$count += 1] = 'x' * 1000 }
def turnover(n) = n.times { $queue[($turn += 1) % 5000] = 'x' * 1000 }

random = Random.new(ARGV[0].to_i)
jump = 30 + random.rand(80)
filled = 4000 + random.rand(4000)
startup 9000
144.times do |i|
  if i == 24
    GC.start
    DUMP.call ARGV[3]
  end
  STEP.call
  n = (120 * random.rand(0.8..1.2)).to_i
  growing n
  turnover 2 * n
  part = [n, filled].min
  levelled_off part
  filled -= part
  one_jump 9000 if i == jump
  GC.start if i % 4 == 3
end
GC.start
TAKE.call ARGV[1], ARGV[2]
