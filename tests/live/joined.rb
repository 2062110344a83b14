# Memory that is allocated below Ruby, C and Ruby again. Writes WHERE LINES to `lines`: the lines of each, innermost first,
# and makes the dump x.heap.
# usage: joined.rb LIBRARY COUNT
require 'fiddle'

library = Fiddle.dlopen(ARGV[0])
COUNT = ARGV[1].to_i
INT, PTR = Fiddle::TYPE_INT, Fiddle::TYPE_VOIDP
# With the VM's lock: without it there is no Ruby stack.
ALLOC = Fiddle::Function.new(library['deep_alloc'], [INT, Fiddle::TYPE_SIZE_T], PTR, need_gvl: true)
BACK = Fiddle::Function.new(library['deep_back'], [INT, PTR], PTR, need_gvl: true)
$keep = []
$lines = Hash.new { |h, k| h[k] = [] }

def native(frames) = $keep << ALLOC.call(frames, 2000).tap { $lines["native#{frames}"] = [__LINE__] }

def closure
  made = nil
  back = Fiddle::Closure::BlockCaller.new(PTR, [INT]) do
    made = __LINE__ + 1
    Fiddle.malloc(2001).to_i
  end
  called = __LINE__ + 1
  COUNT.times { BACK.call(60, back) }
  $lines['closure'] = [made, called]
end

COUNT.times { native(1) }
COUNT.times { native(60) }
COUNT.times { native(100) }
closure
begin
  require 'nokogiri'
  class Sax < Nokogiri::XML::SAX::Document
    def start_element(*)
      $keep << Fiddle.malloc(2002)
      $lines['sax'][0] = __LINE__ - 1
    end
  end
  parser = Nokogiri::XML::SAX::Parser.new(Sax.new)
  text = "<r>#{'<a/>' * COUNT}</r>"
  $lines['sax'][1] = __LINE__ + 1
  parser.parse(text)
  $lines['tree'] = [__LINE__ + 1]
  $tree = Nokogiri::XML("<r>#{'<a>b</a>' * 40 * COUNT}</r>")
rescue LoadError
  warn 'no nokogiri here'
end
mallctl = Fiddle::Function.new(Fiddle.dlopen(nil)['mallctl'], [PTR] * 4 + [Fiddle::TYPE_SIZE_T], INT)
mallctl.call('prof.dump', nil, nil, ['x.heap'].pack('p'), 8).zero? or abort 'no dump'
File.write('lines', $lines.map { |where, lines| "#{where} #{lines.join(' ')}\n" }.join)
