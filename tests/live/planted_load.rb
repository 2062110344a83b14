# Requests to tests/live/planted.ru: /work, and among them so many /leak. usage: planted_load.rb SOCKET PHASE REQUESTS LEAKS
require 'socket'
path, phase, requests, leaks = ARGV
def get(path, url)
  UNIXSocket.open(path) do |socket|
    socket.write("GET #{url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    head = socket.read.split("\r\n\r\n", 2).first.to_s
    abort "#{url}: #{head}" unless head.start_with?('HTTP/1.1 200')
  end
end
every = leaks.to_i.positive? ? [requests.to_i / leaks.to_i, 1].max : 0
urls = Queue.new
requests.to_i.times do |i|
  urls << "/work?#{phase.to_i * 1000 + i}"
  urls << "/leak?#{phase},#{leaks}" if every.positive? && (i % every).zero?
end
urls.close
Array.new(4) { Thread.new { while (url = urls.pop) do get(path, url) end } }.each(&:join)
