# 20 routes, each with a little that it holds; route number LEAK keeps all that it makes. A part of the work is done on a thread
# and a fiber of its own, which are handed the tag, and a part, in the method forget, on a pool's
# threads, which are not.
require 'sinatra/base'
require 'jprof/rack'

HELD = Hash.new { |all, n| all[n] = [] }
PLACE = Mutex.new
LEAK = ENV.fetch('LEAK').to_i
FORGOTTEN = []
POOL = Queue.new
WORKERS = [] # made by the first requests, under their tags

class Routes < Sinatra::Base
  set environment: :production, protection: false, logging: false
  use Jprof::Rack
  def work(n, id)
    made = Array.new(10) { |i| "#{n} #{id} #{i} ".ljust(2000, 'x') }
    PLACE.synchronize { n == LEAK ? HELD[n].concat(made) : HELD[n].replace(made) }
  end
  get('/held') { HELD.values.sum { |kept| kept.sum(&:bytesize) }.to_s + " #{HELD[LEAK].sum(&:bytesize)} #{FORGOTTEN.sum(&:bytesize)}" }
  def forget = 3.times { |i| FORGOTTEN << "forgotten #{i} ".ljust(2000, 'y') }

  20.times do |n|
    get("/route#{n}/:id") do |id|
      work(n, id)
      Thread.new(&Jprof.wrap { work(n, id) }).join
      Fiber.new(&Jprof.wrap { work(n, id) }).resume
      done = Queue.new
      WORKERS << Thread.new { while (job = POOL.pop) do job.call end } if WORKERS.size < 2
      POOL << -> { forget; done << 1 }
      done.pop
      'done'
    end
  end
end
run Routes
