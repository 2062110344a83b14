# 20 routes, each with a little that it holds; route number LEAK keeps all that it makes. A part of the work is done on a pool's
# threads and on a fiber of its own, which are handed the tag, and a part, in the method forget, on the pool's threads without it.
# A route makes no threads: their stacks would be its memory, too, and jemalloc repeats its random numbers in threads that come
# after each other (docs/internals/statistics.md).
require 'sinatra/base'
require 'jprof/rack'

HELD = Hash.new { |all, n| all[n] = [] }
PLACE = Mutex.new
LEAK = ENV.fetch('LEAK').to_i
FORGOTTEN = []
POOL = Queue.new
WORKERS = [] # made under the tag of /start

class Routes < Sinatra::Base
  set environment: :production, protection: false, logging: false
  use Jprof::Rack
  def work(n, id)
    made = Array.new(10) { |i| "#{n} #{id} #{i} ".ljust(2000, 'x') }
    PLACE.synchronize { n == LEAK ? HELD[n].concat(made) : HELD[n].replace(made) }
  end
  get('/held') { HELD.values.sum { |kept| kept.sum(&:bytesize) }.to_s + " #{HELD[LEAK].sum(&:bytesize)} #{FORGOTTEN.sum(&:bytesize)}" }
  def forget = 3.times { |i| FORGOTTEN << "forgotten #{i} ".ljust(2000, 'y') }

  def pooled(job)
    done = Queue.new
    POOL << -> { job.call; done << 1 }
    done.pop
  end
  get('/start') do
    WORKERS << Thread.new { while (job = POOL.pop) do job.call end } while WORKERS.size < 2
    'started'
  end

  20.times do |n|
    get("/route#{n}/:id") do |id|
      work(n, id)
      pooled(Jprof.wrap { work(n, id) })
      Fiber.new(&Jprof.wrap { work(n, id) }).resume
      pooled(method(:forget))
      'done'
    end
  end
end
run Routes
