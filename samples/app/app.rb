# The sample program: five owners hold memory, and the program knows how much.
#
# usage: ruby app.rb DIRECTORY
#
# Started with jemalloc's profiling on, it writes into DIRECTORY
#   before.heap  the heap dump of the booted program
#   after.heap   the heap dump with everything held
#   truth        what it holds, tab-separated:
#                  rate   BYTES                mean distance of jemalloc's samples
#                  OWNER  BYTES  OBJECT  HOW   what one owner holds; OBJECT is the size
#                                              of its objects, 0 where they are mixed
require_relative "jemalloc"
begin
  require "leaky"
  require "nokogiri"
rescue LoadError => error
  abort "app.rb: #{error.message}; samples/run.sh builds and installs what is needed"
end

DIRECTORY = ARGV.fetch(0) { abort "usage: ruby app.rb DIRECTORY" }
TRUTH = File.open(File.join(DIRECTORY, "truth"), "w")

def dump(name)
  GC.start # what remains is held, not garbage waiting to be collected
  Jemalloc.dump File.join(DIRECTORY, name)
end

# Runs the block and states what it left behind: the growth of jemalloc's own
# count of live bytes, garbage collected before and after. Where the block
# allocates a known number of objects, their size classes are the statement,
# and jemalloc's count must agree but for what Ruby itself takes and frees.
def hold(owner, count: 0, size: 0)
  GC.start
  GC.disable
  before = Jemalloc.live
  yield
  GC.enable
  GC.start
  bytes = Jemalloc.live - before
  object = 0
  how = "growth of thread.allocated - thread.deallocated"

  if count > 0
    object = Jemalloc.size_class(size)
    if (bytes - count * object).abs > bytes / 100
      abort "app.rb: #{owner} holds #{count} x #{object} bytes, but jemalloc counted #{bytes}; " \
            "the sample itself is wrong, please report it"
    end
    bytes = count * object
    how = "#{count} x malloc(#{size}), size class #{object}"
  end
  TRUTH.puts [owner, bytes, object, how].join("\t")
end

# A cache that nothing ever leaves.
CACHE = Hash.new { |cache, id| cache[id] = "page #{id}".ljust(1000) }

DOCUMENTS = []
XML = "<rows>" + (1..2000).map { |i| "<row id='#{i}'><name>name #{i}</name></row>" }.join + "</rows>"

# Page templates, each to be compiled to a method of its own module.
TEMPLATES = Array.new(500) { Module.new }
TEMPLATE = "def render(page)\n" +
           (1..150).map { |i| "page << format('%d: %s', #{i}, page.title)" }.join("\n") +
           "\nend"

Jemalloc.require_profiling
TRUTH.puts "rate\t#{Jemalloc.sampling_rate}"
dump "before.heap"

hold "C extension", count: 20_000, size: Leaky::ROW_BYTES do
  20_000.times { |i| Leaky.parse_row("#{i},some,fields,of,a,row") }
end

hold "Fiddle.malloc", count: 10_000, size: 2000 do
  10_000.times { Fiddle.malloc(2000) }
end

hold "hash cache" do
  20_000.times { |i| CACHE[i] }
end

hold "Nokogiri" do
  20.times { DOCUMENTS << Nokogiri::XML(XML) }
end

hold "module_eval" do
  TEMPLATES.each { |template| template.module_eval(TEMPLATE) }
end

dump "after.heap"
TRUTH.close
