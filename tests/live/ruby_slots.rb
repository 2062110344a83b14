# Judges the agent's samples of objects by what the program knows of them.
#
#   deaths ROUNDS COUNT   every object of `make` is a sample (slots=1b) or some are; some are kept, the addresses of the
#                         others are used again, and compaction moves the rest: "SAMPLED WRONGLY_ALIVE WRONGLY_DEAD"
#   cover                 "KIND PERCENT", a line for each kind of code: objects seen of those that Ruby allocated (slots=1b)
#   fork CHILDREN         children and their parent, each of which judges its own: "0 wrong"
#   lines ROUNDS COUNT    two lines make objects that are kept: "LINE COUNT ESTIMATE STANDARD_ERROR", twice, of all rounds
#   ractors               several ractors allocate; then the reason why nothing is judged
require "json"
require "objspace"
require "set"
require "socket"

def ask(request)
  sleep 0.01 until (name = File.read("/proc/self/maps")[/memfd:jprof-agent:\d+:\d+:(.*) \(deleted\)$/, 1])
  UNIXSocket.open(name.sub(/\A@/, "\0")) { |socket| socket.puts(request); return JSON.parse(socket.gets) }
end

def address(object) = ObjectSpace.dump(object)[/0x\h+/].hex

def dump
  reply = ask("dump gc=1 timeout=60000")
  files = %w[dump sidecar table].map { |key| reply[key] }
  [File.readlines(files[2], chomp: true), JSON.parse(File.read(files[1]))["ruby"]]
ensure
  files&.compact&.each { |path| File.delete(path) }
end

def wait_for_stacks
  1000.times { +"x" * 1000 } until ask("report")["ruby_stacks"]
  dump
end

# Addresses of the samples whose stacks pass the method.
def samples_of(table, method)
  texts, frames = {}, {}
  has = Hash.new { |hash, node| hash[node] = node != "0" && (texts[frames[node][1]] == method || hash[frames[node][0]]) }
  table.each_with_object([]) do |line, found|
    word = line.split(" ")
    case word[0]
    when "s" then texts[word[1]] = line.split(" ", 3)[2]
    when "n" then frames[word[1]] = [word[2], word[7]]
    when "m" then frames[word[1]] = [word[2], ""]
    when "o" then found << word[1].to_i(16) if has[word[2]]
    end
  end
end

Pair = Struct.new(:a, :b)
Node = Class.new { def initialize(value) = @value = value }

def make(count) = Array.new(count) { |i| i % 5 == 0 ? Node.new(i) : i % 5 == 1 ? [i, i] : i % 5 == 2 ? { a: i } : i % 5 == 3 ? Pair.new(i, i) : "x" * (i % 600) }
def again(count) = Array.new(count) { |i| i % 3 == 0 ? [i] : i % 3 == 1 ? "y" * (i % 600) : Node.new(i) }

def deaths(rounds, count, random = Random.new(42))
  made = alive = dead = 0
  rounds.times do |round|
    ask("dump gc=1 timeout=60000").values_at("dump", "sidecar", "table").each { |path| File.delete(path) } # makes room
    all = make(count)
    count.times { |i| all[i] = nil if random.rand < 0.5 }
    GC.start
    others = again(count)
    others.each_with_index { |object, i| object.object_id if i % 7 == 0 }
    GC.compact if round.odd? && FINDS_MOVED && GC.respond_to?(:compact)
    table, ruby = dump
    abort "no slots: #{ruby["slots"]}" if ruby["slots"]["why"]
    live = samples_of(table, "make").to_set
    kept = all.compact.map { |object| address(object) }.to_set
    made += count
    strays = live - kept - [address(all)]
    alive += strays.size
    dead += (kept - live).size
    warn "round #{round}: #{kept.size} kept, #{live.size} live, strays #{strays.size} #{ruby["slots"]}"
  end
  compact_without_ids unless FINDS_MOVED
  puts "#{made} #{alive} #{dead}"
end

# Objects of Ruby 4.0 have a mark and no id: those that were moved are not found, and none of them is told.
FINDS_MOVED = RUBY_VERSION < "4"
def compact_without_ids
  GC.compact
  why = dump[1]["slots"]["why"]
  abort "after GC.compact: #{why}" unless why&.start_with?("GC.compact moved objects")
end

KINDS = {
  none: -> { 20_000.times { nil } }, object: -> { 20_000.times { Object.new } }, node: -> { 20_000.times { |i| Node.new(i) } },
  string: -> { 20_000.times { |i| "t#{i}" } }, long: -> { 10_000.times { |i| "x" * (10 + i % 630) } },
  array: -> { 20_000.times { |i| [i, i] } }, hash: -> { 10_000.times { |i| { a: i } } },
  json: -> { 5.times { JSON.parse($json) } }, map: -> { 20.times { (1..1000).map { |i| i.to_s } } },
  split: -> { 20.times { ("a,b," * 500).split(",") } }, struct: -> { 20_000.times { |i| Pair.new(i, i) } },
  float: -> { 20_000.times { |i| i * 1e300 * 1e100 + 1e290 } }, proc: -> { 10_000.times { proc { 1 } } },
  regexp: -> { 5_000.times { "abc123".match(/\d+/) } }, time: -> { 5_000.times { Time.now } },
  symbol: -> { 2_000.times { |i| "sy#{i}#{rand}".to_sym } }, enumerator: -> { 5_000.times { [1].each } },
  fiber: -> { 500.times { Fiber.new { 1 }.resume } }, class: -> { 300.times { Class.new } },
  bignum: -> { 20_000.times { |i| (1 << 70) + i } }, ivar: -> { 5_000.times { |i| Object.new.instance_variable_set(:@x, i) } },
  lambda: -> { 10_000.times { |i| lambda { i } } }, set: -> { 5_000.times { |i| Set[i] } },
  eval: -> { 200.times { |i| eval("def x#{i};1;end") } }, raise: -> { 5_000.times { begin; raise "x"; rescue; end } },
  dup: -> { 10_000.times { "abc".dup } }, format: -> { 10_000.times { |i| "%d-%s" % [i, "x"] } },
  thread: -> { 100.times { Thread.new { 10.times { Object.new } }.join } },
}

def cover
  $json = JSON.generate((1..500).map { |i| { "k#{i}" => ["v" * 30, i, i * 1.5] } })
  base_made = base_seen = 0
  KINDS.each do |kind, code|
    code.call
    before = dump[1]
    code.call
    after = dump[1]
    seen = after["slots"]["seen"] - before["slots"]["seen"]
    made = after["gc_stat"]["total_allocated_objects"] - before["gc_stat"]["total_allocated_objects"]
    base_made, base_seen = made, seen if kind == :none # the asking
    next if kind == :none
    printf "%-10s %9d %6.2f\n", kind, made - base_made, 100.0 * (seen - base_seen) / (made - base_made)
  end
end

def fork_some(children)
  kept = make(20_000)
  pids = children.times.map do |i|
    fork do
      kept.clear if i.odd?
      wait_for_stacks
      table, ruby = dump
      live = samples_of(table, "make").size
      exit!(ruby["slots"]["why"].nil? && (i.odd? ? live < 100 : (live - 20_000).abs < 100))
    end
  end
  wrong = pids.count { |pid| !Process.wait2(pid)[1].success? }
  live = samples_of(dump[0], "make").size
  puts "#{wrong + ((live - 20_000).abs < 100 ? 0 : 1)} wrong"
  kept
end

$kept = []
def keep_pairs(count) = count.times { |i| $kept << Pair.new(i, nil) } ; PAIRS = __LINE__
def keep_nodes(count)
  count.times do |i|
    i % 4 == 0 && i.to_s
    $kept << Node.new(i)
  end
end
NODES = __LINE__ - 3

# How many objects the samples stand for whose innermost frame with a line has this one, and the variance.
def estimate(table, line)
  frames, rate, sum, variance = {}, nil, 0.0, 0.0
  table.each do |text|
    word = text.split(" ")
    frames[word[1]] = word[4] == "0" ? frames[word[2]] : word[4].to_i if word[0] == "n"
    rate = word[1].to_f if word[0] == "slots"
    next unless word[0] == "o" && frames[word[2]] == line
    chance = 1 - Math.exp(-word[8].to_i / rate)
    sum += 1 / chance
    variance += (1 - chance) / chance**2
  end
  [sum, variance]
end

def lines(rounds, count)
  sums = [PAIRS, NODES].to_h { |line| [line, [0, 0.0, 0.0]] }
  rounds.times do
    $kept.clear
    keep_pairs(count)
    keep_nodes(count)
    GC.start
    table = dump[0]
    sums.each do |line, sum|
      sum[0] += count
      estimate(table, line).each_with_index { |value, i| sum[i + 1] += value }
    end
  end
  sums.each { |line, sum| printf "%d %d %.0f %.1f\n", line, sum[0], sum[1], Math.sqrt(sum[2]) }
end

def ractors
  Warning[:experimental] = false
  all = 4.times.map { Ractor.new { 300_000.times { |i| [i.to_s] }; Ractor.receive } }
  200_000.times { |i| "m#{i}" }
  puts dump[1]["slots"]["why"]
  all.each { |r| r.send(1) and r.respond_to?(:take) ? r.take : r.value }
  sleep 0.1
  puts dump[1]["slots"]["why"].inspect
end

wait_for_stacks
case ARGV.shift
when "deaths" then deaths(Integer(ARGV[0]), Integer(ARGV[1]))
when "cover" then cover
when "lines" then lines(Integer(ARGV[0]), Integer(ARGV[1]))
when "fork" then fork_some(Integer(ARGV[0]))
when "ractors" then ractors
end
