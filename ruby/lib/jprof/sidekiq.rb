# frozen_string_literal: true

require "jprof"

module Jprof
  # What a Sidekiq job allocates has the job's class as its tag:
  #
  #     Sidekiq.configure_server { |config| config.server_middleware { |chain| chain.add Jprof::Sidekiq } }
  class Sidekiq
    # `wrapped` is ActiveJob's class; `class` is its adapter's then.
    def call(_worker, job, _queue, &block)
      Jprof.tag(job["wrapped"] || job["class"], :job, &block)
    end
  end
end
