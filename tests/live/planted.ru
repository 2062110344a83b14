# An application with seven leaks. LEAK names the one that is at work, `none` none: /leak?PHASE,N makes the
# N-th part of what it keeps in a phase of the load. The line that allocates goes to the file `planted`. All else is as in any service: JSON and documents that are forgotten,
# a cache with a limit, a few threads that end.
require 'json'
require 'nokogiri'
require "#{ENV.fetch('LEAKS_AT')}/leaky"

module Work
  RECENT = {}
  PAGE = "<html><body>#{(1..60).map { |i| "<p class='n#{i}'>line #{i}</p>" }.join}</body></html>".freeze
  def self.json(n) = JSON.generate(Array.new(20) { |i| { 'id' => i + n, 'name' => "row #{i} of #{n}" } })
  def self.html = Nokogiri::HTML(PAGE).css('p').map(&:text).join
  def self.cache(n) = RECENT[n % 100] = "page #{n} " * 200
  def self.thread(n) = Thread.new { "answer #{n}" * 50 }.value
  def self.some(n) = [json(n), html, cache(n), thread(n)].sum(&:size)
end

class Leaks
  KEPT = []
  NEXT = [0]
  def cext(i) = Leaky.parse_row("row #{i},of,many")
  CEXT = [6000, __LINE__ - 1]
  def string(i) = KEPT << "text #{i} " * 300
  STRING = [3000, __LINE__ - 1]
  def hash(i) = KEPT << 24.times.to_h { |k| [k, i] }
  HASH = [5000, __LINE__ - 1]
  def names(i) = self.class.define_method("price_of_#{i}_#{'x' * 300}") { i }
  NAMES = [8000, __LINE__ - 1]
  def document(i) = KEPT << Nokogiri::XML("<list>#{"<item id='#{i}'>article</item>" * 40}</list>")
  DOCUMENT = [120, __LINE__ - 1]
  def thread(_) = KEPT << Thread.new { sleep }
  THREAD = [100, __LINE__ - 1]
  # A batch for each phase, of which one in eight stays, and the page that it is on; batches become larger.
  def buffer(phase)
    return if NEXT[0] == phase
    NEXT[0] = phase
    pile = Array.new(4000 * phase) { 'b' * 1500 }
    KEPT.concat(pile.each_slice(8).map(&:first))
    pile.clear
  end
  BUFFER = [0, __LINE__ - 4]
  def none(_) = nil
  NONE = [1, 0]

  LEAK = ENV.fetch('LEAK')
  COUNT, LINE = const_get(LEAK.upcase).zip([ENV.fetch('SCALE', 1).to_i, 1]).map { |n, by| n * by }
  def self.grow(phase, share)
    return new.buffer(phase) if LEAK == 'buffer'
    (COUNT / share).times { new.send(LEAK, NEXT[0] += 1) }
  end
end
File.write('planted', "#{Leaks::LINE}\n")
PLACE = Mutex.new

run lambda { |env|
  n, share = env['QUERY_STRING'].split(',').map(&:to_i)
  env['PATH_INFO'] == '/leak' ? PLACE.synchronize { Leaks.grow(n, share) } : Work.some(n)
  [200, { 'content-type' => 'text/plain' }, ['done']]
}
