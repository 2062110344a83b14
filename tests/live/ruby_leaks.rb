# Seven leaks, with the lines that they are on. A line of standard input makes each grow again.
require 'nokogiri' if ARGV.include?('nokogiri')
require "#{Dir.pwd}/leaky" if ARGV.include?('leaky')
WHERE = {}
class Texts
  def initialize = @kept = {}
  def add(i) = @kept[i] = "text #{i} " * 200
  WHERE['Texts'] = [1500, __LINE__ - 1]
end
class Tables
  def initialize = @kept = []
  def add(i)
    @kept << {}
    32.times { |k| @kept.last[k + i] = k }
    WHERE['Tables'] = [2000, __LINE__ - 1]
  end
end
class Names
  def add(i)
    self.class.define_method("method_#{i}_#{'x' * 300}") { i }
    WHERE['Names'] = [3000, __LINE__ - 1]
  end
end
class Documents
  def initialize = @kept = []
  def add(i)
    @kept << Nokogiri::XML("<a>#{"<b c='d'>text #{i}</b>" * 40}</a>")
    WHERE['Documents'] = [60, __LINE__ - 1]
  end
end
class Workers
  def initialize = @kept = []
  def add(i)
    @kept << Thread.new { sleep }
    WHERE['Workers'] = [60, __LINE__ - 1]
  end
end
class Rows
  def add(i)
    Leaky.parse_row("a,#{i}")
    WHERE['Rows'] = [1500, __LINE__ - 1]
  end
end
class Lists
  def initialize = @kept = []
  def add(i)
    @kept << [i] * 12
    WHERE['Lists'] = [12_000, __LINE__ - 1]
  end
end
KEPT = [Texts, Tables, Names, Workers, Lists].to_h { |c| [c.name, c.new] }
KEPT['Documents'] = Documents.new if defined?(Nokogiri)
KEPT['Rows'] = Rows.new if defined?(Leaky)
KEPT.each_value { |leak| leak.add(0) }
def grow(first) = KEPT.each { |name, leak| WHERE[name][0].times { |i| leak.add(first + i) } }
grow(1)
$stdout.sync = true
puts 'ready'
$stdin.gets
grow(100_000)
KEPT.each_key { |name| puts "#{name} #{WHERE[name][1]}" }
puts RUBY_VERSION, 'done'
sleep
