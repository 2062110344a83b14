# Asks a Puma on a socket for its routes, from several threads in a random order of its own. usage: routes_load.rb SOCKET SEED REQUESTS
require 'socket'
path, seed, requests = ARGV
def get(path, url)
  UNIXSocket.open(path) do |socket|
    socket.write("GET #{url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    head, body = socket.read.split("\r\n\r\n", 2)
    abort "#{url}: #{head}" unless head.start_with?('HTTP/1.1 200')
    body
  end
end
get(path, '/start')
random = Random.new(seed.to_i)
urls = Queue.new
requests.to_i.times { |i| urls << "/route#{random.rand(20)}/#{i}" }
urls.close
Array.new(4) { Thread.new { while (url = urls.pop) do get(path, url) end } }.each(&:join)
puts get(path, '/held')
