# How far the agent's estimates of live slots are off, by line, against a truth that the sampler does not make: each
# method below makes objects that are kept, and those are counted by a walk through what is kept. Each round draws anew.
#
#   LD_PRELOAD=AGENT:JEMALLOC MALLOC_CONF=prof:true,lg_prof_sample:17,prof_prefix:DIR/b JPROF_AGENT=slots=16k,epoch=off \
#       ruby bench/slots_bias.rb ROUNDS [OUT]
#
# Prints for each line its truth in MB, the mean of the estimates in percent of it with its 95 % interval, and `BIAS` where
# that interval does not reach 98 to 102 %. Estimates of all rounds go to OUT.
require "json"
require "objspace"
require "socket"
require "set"

ROUNDS = Integer(ARGV[0] || 20)
Node = Class.new { def initialize(value) = @value = value }
Record = Struct.new(:a, :b, :c)
TEXT = JSON.generate((1..500).map { |i| { "k#{i}" => ["v" * 30, i, i * 1.5, "w#{i}"] } })
WORDS = (1..1000).map { |i| "w#{i}" }.join(",")

def wait(count)
  i = 0
  i += 1 while i < count
end

def line_nodes(sink) = 300_000.times { |i| sink << Node.new(i) }
def line_strings(sink) = 200_000.times { |i| sink << "s#{i}" }
def line_arrays(sink) = 100_000.times { |i| sink << [i] }
def one_of_two(sink) = sink << Object.new
def other_of_two(sink) = sink << Object.new
def phase_first(sink) = 1000.times { sink << Object.new }
def phase_second(sink) = 1000.times { sink << Object.new }
def line_burst(sink) = 100_000.times { sink << Object.new }
def line_slow(sink) = 20_000.times { sink << Object.new and wait(100) }
def line_json(sink) = 20.times { sink << JSON.parse(TEXT) }
def line_map(sink) = 100.times { sink << (1..1000).map { |i| i.to_s } }
def line_split(sink) = 100.times { sink << WORDS.split(",") }
def line_structs(sink) = 100_000.times { |i| sink << Record.new(i, i, i) }
def line_lengths(sink) = 40_000.times { |i| sink << "x" * (10 + i % 630) }
def line_hashes(sink) = 60_000.times { |i| sink << { a: i } }
def line_floats(sink) = 60_000.times { |i| sink << (i + 0.5) * 1e300 }
def line_clocks(sink) = 40_000.times { |i| sink << Process.clock_gettime(Process::CLOCK_MONOTONIC).to_r }
def line_threads(sink) = 50.times { Thread.new { 1000.times { sink << Object.new } }.join }
def dropped = 400_000.times { |i| "tmp#{i}" }

# Keys are methods that stand on the stacks of what their value holds.
def make
  kept = Hash.new { |hash, key| hash[key] = [] }
  %i[line_nodes line_strings].each { |name| send(name, kept[name]) }
  dropped
  200_000.times { one_of_two(kept[:one_of_two]) and other_of_two(kept[:other_of_two]) }
  100.times { [phase_first(kept[:phase_first]), wait(3000), phase_second(kept[:phase_second])] }
  2.times { line_burst(kept[:line_burst]) and line_slow(kept[:line_slow]) }
  %i[line_arrays line_json line_map line_split line_structs line_lengths line_hashes line_floats line_clocks
     line_threads].each { |name| send(name, kept[name]) }
  kept
end

def slot_of(object)
  return 40 if RUBY_VERSION < "3.2"
  ObjectSpace.dump(object)[/"slot_size":(\d+)/, 1].to_i
end

def parts_of(object)
  case object
  when Array, Struct then object.to_a
  when Hash then object.to_a.flatten(1)
  when Rational then [object.numerator, object.denominator]
  else object.instance_variables.map { |name| object.instance_variable_get(name) }
  end
end

def is_slot(object) = !(object.nil? || object == true || object == false || Integer === object && object.bit_length < 62 ||
                        Symbol === object || Float === object && ObjectSpace.memsize_of(object).zero?)

# Bytes of the slots of all that is reachable, each once. What the sink itself takes is nobody's.
def true_bytes(sink)
  seen = Set.new.compare_by_identity
  waiting = sink.dup
  bytes = 0
  while (object = waiting.pop)
    next unless is_slot(object) && seen.add?(object)
    bytes += slot_of(object)
    waiting.concat(parts_of(object).compact) unless String === object || Float === object
  end
  bytes
end

def ask(request)
  sleep 0.01 until (name = File.read("/proc/self/maps")[/memfd:jprof-agent:\d+:\d+:(.*) \(deleted\)$/, 1])
  UNIXSocket.open(name.sub(/\A@/, "\0")) { |socket| socket.puts(request); return JSON.parse(socket.gets) }
end

def dump
  reply = ask("dump gc=1 timeout=60000")
  files = %w[dump sidecar table].map { |key| reply[key] }
  side = JSON.parse(File.read(files[1]))
  abort "no slots: #{side["ruby"]["slots"]} #{reply}" unless side["ruby"]["slots"]["why"].nil?
  [File.readlines(files[2], chomp: true), side["ruby"]["slots"], side["ruby"]["gc_stat"]]
ensure
  files&.compact&.each { |path| File.delete(path) }
end

# Estimates by the methods of `keys`; under nil that of all other lines.
def estimates(table, keys)
  texts, method_of, parent = {}, {}, {}
  sums, rate = Hash.new(0.0), nil
  owner = Hash.new { |hash, node| hash[node] = node == "0" ? nil : keys[texts[method_of[node]]] || hash[parent[node]] }
  table.each do |line|
    word = line.split(" ")
    case word[0]
    when "slots" then rate = word[1].to_f
    when "s" then texts[word[1]] = line.split(" ", 3)[2]
    when "n" then method_of[word[1]], parent[word[1]] = word[7], word[2]
    when "m" then parent[word[1]] = word[2]
    when "o" then sums[owner[word[2]]] += word[7].to_i / (1 - Math.exp(-word[8].to_i / rate))
    end
  end
  sums
end

def report(truth, all)
  truth.each do |key, bytes|
    values = all.map { |sums| 100 * sums[key] / bytes }
    mean = values.sum / values.size
    error = Math.sqrt(values.sum { |v| (v - mean)**2 } / (values.size - 1) / values.size) * 1.96
    printf "%-14s %7.2f MB  %6.2f +- %.2f %%  one run %5.1f %s\n", key, bytes / 1e6, mean, error,
           error / 1.96 * Math.sqrt(values.size), (mean - 100).abs > 2 + error ? "BIAS" : (mean - 100).abs > error ? "off" : ""
  end
  printf "others         %7.2f MB\n", all.sum { |sums| sums[nil] } / all.size / 1e6
end

def first_sample # so that the agent gets to know this Ruby
  JSON.parse(TEXT) until ask("report")["ruby_stacks"]
  ask("dump gc=1 timeout=60000").values_at("dump", "sidecar", "table").compact.each { |path| File.delete(path) }
end

first_sample
make
truth = make.transform_values { |sink| true_bytes(sink) }
keys = truth.keys.to_h { |key| [key.to_s, key] }
all = ROUNDS.times.map do |round|
  kept = make
  table, slots, = dump
  warn "#{RUBY_VERSION} round #{round} #{slots}" if (round % 10).zero?
  kept.clear
  estimates(table, keys)
end
puts "Ruby #{RUBY_VERSION}, #{ROUNDS} rounds, #{ENV["JPROF_AGENT"]}#{", YJIT" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?}"
report(truth, all)
File.write(ARGV[1], JSON.generate(all)) if ARGV[1]
