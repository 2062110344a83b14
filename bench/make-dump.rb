# Run by make-dump.sh: fills a Ruby heap from many places and dumps it.
require 'fiddle'

begin
  address = Fiddle::Handle::DEFAULT['mallctl']
rescue Fiddle::DLError
  exit 1 # not jemalloc: make-dump.sh says so
end
mallctl = Fiddle::Function.new(
  address,
  [Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_VOIDP, Fiddle::TYPE_SIZE_T],
  Fiddle::TYPE_INT
)

# Calls the block from deeper in the stack: a framework's layers do that to all code.
def nested(depth, &block)
  depth.zero? ? block.call : [nil].each { nested(depth - 1, &block) }
end

# Libraries are what a Ruby process mostly consists of: each of them compiles
# code at another depth of require.
%w[json rexml/document erb optparse net/http yaml csv openssl webrick set time
   tempfile fileutils logger pstore ostruct securerandom rss rdoc rubygems/specification
   rubygems/package bundler irb racc/parser ripper drb prime matrix racc nokogiri].each do |library|
  nested(6) { require library }
rescue LoadError
  warn "make-dump: no #{library} here, the dump will be smaller"
end

kept = []
random = Random.new(42)
words = Array.new(500) { Array.new(1 + random.rand(12)) { (97 + random.rand(26)).chr }.join }
tree = lambda do |depth|
  depth.zero? ? words.sample(random: random) : Array.new(3) { [words.sample(random: random), tree[depth - 1]] }.to_h
end

8.times do |level|
  nested(2 * level) do
    data = tree[5]
    text = JSON.generate(data)
    kept << JSON.parse(text) << YAML.load(YAML.dump(tree[3]))
    xml = "<r>#{words.map { |w| "<#{w} a='#{w}'>#{w}</#{w}>" }.join}</r>"
    kept << REXML::Document.new(xml)
    kept << Nokogiri::XML(xml) << Nokogiri::HTML(xml) if defined?(Nokogiri)
    kept << CSV.parse(words.each_slice(5).map { |row| row.join(',') }.join("\n"))
    kept << ERB.new(words.map { |w| "<%= '#{w}' %>" }.join("\n")).result
    kept << words.map { |w| Regexp.new(w) } << words.map { |w| w * 20 }
    kept << Class.new { words.first(50).each { |w| define_method(w) { w } } }
    kept << eval("lambda { #{words.first(200).map { |w| "#{w.inspect}.size" }.join('; ')} }")
  end
end

GC.start
path = ARGV.fetch(0)
exit 1 unless mallctl.call('prof.dump', nil, nil, [Fiddle::Pointer[path].to_i].pack('J'), Fiddle::SIZEOF_VOIDP).zero?
