# Three leaks. A line of standard input makes each grow; what grew, where, and by how many bytes if that is known stands on
# standard output: NAME LINE OBJECTS BYTES.
TEXT = 3000 # with its end in jemalloc's size class 3072

class Cache
  def initialize = @kept = {}
  def add(i) = @kept[i] = "x" * TEXT
  LINE = __LINE__ - 1
end

class Settings
  def initialize = @kept = []
  def add(i) = @kept << 20.times.to_h { |k| [k + i, k] }
  LINE = __LINE__ - 1
end

class Pool
  def initialize = @kept = []
  def add(_) = @kept << Thread.new { sleep }
  LINE = __LINE__ - 1
end

LEAKS = { Cache.new => [8_000, 8_000 * 3072], Settings.new => [8_000, 0], Pool.new => [200, 0] }
LEAKS.each_key { |leak| leak.add(0) }
$stdout.sync = true
puts "ready"
$stdin.gets
LEAKS.each { |leak, (count, _)| count.times { |i| leak.add(i + 1) } }
LEAKS.each { |leak, (count, bytes)| puts "#{leak.class} #{leak.class::LINE} #{count} #{bytes}" }
puts "leaked"
sleep
