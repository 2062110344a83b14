# Threads that are in zlib, in sockets and in OpenSSL all the time, and one that allocates, while a child that writes
# the graph of objects is forked again and again. The last line says what the program noticed of it.
require 'json'
require 'socket'
require 'zlib'
begin
  require 'openssl'
rescue LoadError
  nil
end

class Item
  def initialize(i)
    @name = "name #{i}"
    @tags = [i, "tag#{i % 100}"]
  end
end

ITEMS = (1..20_000).to_h { |i| ["key#{i}", Item.new(i)] }
LONG = Array.new(7777, &:to_s)
NOISE = Random.new(1).bytes(100_000)
ObjectSpace.define_finalizer(Object.new, proc { puts 'finalized' if $$ != PID })
PID = $$
at_exit { puts 'a child ran at_exit' if $$ != PID }
noticed = []
trap('CLD') { noticed << 'SIGCHLD' }
works = 0

def talk
  a, b = UNIXSocket.pair
  a.write(NOISE[0, 1000])
  b.readpartial(1000)
  [a, b].each(&:close)
end

jobs = [-> { Zlib::Deflate.deflate(NOISE) }, -> { talk }]
jobs << -> { OpenSSL::Digest::SHA256.digest(NOISE) } if defined?(OpenSSL)
6.times do |i|
  Thread.new do
    loop do
      jobs[i % jobs.size].call
      works += 1
    end
  end
end
Thread.new { loop { JSON.parse('{"a":[1,2,{"b":"c"}]}') } }
# A master that waits for any child.
Thread.new do
  loop do
    noticed << "child #{Process.wait(-1)}"
  rescue Errno::ECHILD
    sleep 0.001
  end
end
GC.start
counts = ObjectSpace.count_objects
File.write('counts.part', JSON.generate(counts.merge('pid' => $$, 'long' => LONG.size)))
File.rename('counts.part', 'counts')
sleep 0.05 until File.exist?('stop')
before = works
sleep 1
puts "works on: #{works > before}, noticed: #{noticed.uniq.inspect}"
$stdout.flush
exit!
