#!/bin/sh
# jprof snap --objects and jprof keepers: what many small things keep together, and what a single large one is. Each has
# a row; none of its thousands is named as the keeper.
. "$(dirname "$0")/lib.sh"
. "$here/live.sh"
need_ruby
need_agent
mkdir d
cat >crowds.rb <<'END'
class Dynamic; end
MODELS = 100.times.map { |i| Object.const_set("Model#{i}", Class.new { @cache = {}; class << self; attr_reader :cache; end }) }
def caches(n) = n.times { |i| cache = MODELS[i % 100].cache; cache[cache.size] = "a row of #{i} " * 9 } ; $cached = __LINE__
def at_ends(n) = n.times { |i| kept = "exit #{i} " * 9; at_exit { kept } } ; $at_ends = __LINE__
def closer(i) = (kept = "closer #{i} " * 9; proc { kept })
def finalizers(n) = n.times { |i| o = Object.new; ObjectSpace.define_finalizer(o, closer(i)); ($open ||= []) << o }
def names(n) = n.times { |i| Dynamic.define_method("an_attribute_of_a_record_#{i}") { } }
def store(n) = n.times { |i| (Thread.current[:store] ||= {})[[i, n]] = "of request #{i} " * 9 } ; $store = __LINE__
def threads(n) = n.times { Thread.new { sleep } } ; $threads = __LINE__
TEXT = +''
def text(n) = n.times { |i| TEXT << "a line of #{i} bytes, or so\n" }
# The second step is three times as large, so that it is none of a slower pace where the machine is.
steps = { at_ends: 15_000, finalizers: 15_000, names: 3_000, store: 15_000, text: 150_000, caches: 15_000, threads: 50 }
steps.each { |name, n| send(name, n / 10) }
GC.start
File.write('ready', '')
2.times do |step|
  sleep 0.02 until File.exist?("go#{step}")
  steps.each { |name, n| send(name, n * (1 + 2 * step)) }
  GC.start
  File.write('lines', "#{$at_ends} #{$store} #{$cached} #{$threads}")
  File.write("done#{step}", '')
end
sleep
END
# joined REGEX: on standard output, whose lines are one
joined() {
    tr -s ' \n' ' ' <out >joined
    check "$(cat joined) lacks $1" grep -qE -e "$1" joined
}
# keeps WHAT LEAST: it has a row, with so many objects
keeps() {
    objects=$(sed -n "s/^ *[0-9.]*  *[0-9]* %  *\([0-9,]*\)  $1\( and others\)\{0,1\}$/\1/p" out | tr -d ,)
    check "$1 keeps ${objects:-none} of $2" test "${objects:-0}" -ge "$2"
}
JPROF_AGENT=slots=32k
export JPROF_AGENT
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" crowds.rb
works "$jprof" snap --gc --objects --symbols=later "$pid" -o first.jprof
for i in 0 1; do
    touch "go$i"
    until_true 60 test -e "done$i"
    works "$jprof" snap --gc --objects --symbols=later "$pid" -o "$i.jprof"
done
read -r at_ends store cached threads <lines
works "$jprof" keepers --top=0 1.jprof
keeps at_exit 180000
keeps "Ruby's table of finalizers" 240000
keeps "Ruby's table of Symbols" 11000
keeps 'a Hash of 61,500 in \(Thread\|Fiber\)\[:store\]' 123000
keeps 'a String in TEXT' 1
keeps '@cache of 100 classes' 61500
prints_no ' in @cache of Model'
prints_no 'a Proc in at_exit'
prints_no 'in a finalizer'

# What to do names it, and a key of a thread like a constant.
works "$jprof" diff first.jprof 0.jprof 1.jprof
joined " crowds.rb:$at_ends .* kept by at_exit, (9[0-9]|100) % of them, .* path at_exit > Proc .* do a block of at_exit stays until the end: register it once "
joined " crowds.rb:$store .* path Thread( > Fiber)?\[:store\] > Hash .* do give Thread.current\[:store\] a limit, "
works "$jprof" diff '--focus=Object#caches' first.jprof 0.jprof 1.jprof
joined " crowds.rb:$cached .* kept by @cache of at least ([7-9][0-9]|100) classes, (9[0-9]|100) % of them, .* path @cache of at least [0-9]+ classes > Hash > String .* do give @cache a limit, "
works "$jprof" diff '--focus=Object#threads' first.jprof 0.jprof 1.jprof
joined " crowds.rb:$threads .* kept by (Ruby's list of threads|a Thread), .* do a thread stays, with all that it sees, until it ends: "
stop "$pid"

# What two keep is kept by the one of them that is nearer, and others; and nodes of a list by what has the list.
cat >shared.rb <<'END'
User = Struct.new(:id, :name)
Node = Struct.new(:key, :after, :before)
BY_ID = {}
BY_NAME = {}
class Recent
  def initialize
    @index = {}
    @head = Node.new
    @head.after = @head.before = @head
  end
  def put(i)
    node = Node.new(i, @head.after, @head); $node = __LINE__
    @head.after.before = node
    @head.after = node
    @index[i] = node
  end
end
RECENT = Recent.new
def add(n)
  n.times do |i|
    user = User.new(i, "user number #{i} of a shop"); $user = __LINE__
    BY_ID[i] = BY_NAME[user.name] = user
    RECENT.put(i)
  end
end
add(40_000)
GC.start
File.write('lines', "#{$user} #{$node}")
File.write('ready', '')
sleep
END
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" shared.rb
works "$jprof" snap --gc --objects --symbols=later "$pid" -o shared.jprof
read -r user node <lines
works "$jprof" keepers "--line=shared.rb:$user\$" shared.jprof
joined " A Hash of 40,000 in BY_(ID|NAME) and others keeps (5[0-9]|[6-9][0-9]|100) % of it .* made at shared.rb:$user in add 100 % "
works "$jprof" keepers "--line=shared.rb:$node\$" shared.jprof
joined ' A (Recent|Hash of 40,000) in (RECENT|Recent @index)( and others)? keeps (9[0-9]|100) % of it '
stop "$pid"

# Threads that wait for ever, by which no other thing is kept.
cat >threads.rb <<'END'
def poll(i) = (kept = "poller #{i} " * 900; Thread.new { Thread.stop; kept.size })
100.times { |i| poll(i) }
GC.start
File.write('ready', '')
sleep
END
start "lg_prof_sample:17,prof_prefix:$tmp/d/app" "$ruby" threads.rb
works "$jprof" snap --gc --objects --symbols=later "$pid" -o threads.jprof
works "$jprof" keepers --top=0 threads.jprof
keeps "Ruby's list of threads" 300
prints_no ' in a Thread'
finish
