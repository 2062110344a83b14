# A pool as Sidekiq's: five threads, the middleware, and 20 classes of jobs of which number LEAK keeps what it makes. Says how many
# bytes these are when all is done, and waits.
require 'jprof/sidekiq'
LEAK = ENV.fetch('LEAK').to_i
random = Random.new(LEAK)
held = Hash.new { |all, n| all[n] = [] }
jobs = Queue.new
600.times { jobs << random.rand(20) }
jobs.close
pool = Array.new(5) do
  Thread.new do
    middleware = Jprof::Sidekiq.new
    while (n = jobs.pop)
      middleware.call(nil, { 'class' => "Job#{n}", 'args' => ["secret #{n}"] }, 'default') do
        made = Array.new(30) { |i| "#{n} #{i} ".ljust(2000, 'x') }
        n == LEAK ? held[n].concat(made) : held[n].replace(made)
        Thread.pass
      end
    end
  end
end
pool.each(&:join)
File.write('held.part', "#{held.values.sum { |kept| kept.sum(&:bytesize) }} #{held[LEAK].sum(&:bytesize)} 0")
File.rename('held.part', 'held')
sleep
