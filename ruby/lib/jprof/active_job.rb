# frozen_string_literal: true

require "jprof"

module Jprof
  # What a job allocates has the job's class as its tag, whatever runs it:
  #
  #     class ApplicationJob < ActiveJob::Base
  #       include Jprof::ActiveJob
  #     end
  module ActiveJob
    def self.included(base)
      base.around_perform { |job, block| Jprof.tag(job.class.name, :job, &block) }
    end
  end
end
