# frozen_string_literal: true

require "jprof"
require "jprof/rack"

module Jprof
  # In a Rails application the gem's line in the Gemfile is all: actions and jobs are tagged, and `bin/rails jprof:check`
  # is there. With `require: false` there nothing is.
  class Railtie < ::Rails::Railtie
    initializer "jprof.tags" do |app|
      app.middleware.use Jprof::Rack
      ActiveSupport.on_load(:active_job) do
        require "jprof/active_job"
        include Jprof::ActiveJob
      end
      if defined?(::Sidekiq)
        require "jprof/sidekiq"
        ::Sidekiq.configure_server do |config|
          config.server_middleware { |chain| chain.add Jprof::Sidekiq }
        end
      end
    end

    rake_tasks { require "jprof/tasks" }
  end
end
