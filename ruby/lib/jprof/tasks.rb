# frozen_string_literal: true

require "rake"
require "rbconfig"

# `rake jprof:check PATH=/v1/status COUNT=2000`: does the application of config.ru keep memory when it is asked? Rails has the
# task by itself; elsewhere `require "jprof/tasks"` in the Rakefile.
module Jprof
  # What the task does around the process that is measured.
  module Tasks
    FOLDER = "tmp/jprof"

    class << self
      # Exits with jprof's status: 0 for PASS, 3 for FAIL, 1 where it cannot be told.
      def check(words, count)
        path = words.filter_map { |word| word[/\APATH=(.*)/m, 1] }.last
        ENV["PATH"] = programs_of_system if path
        path ||= "/"
        abort "jprof:check: PATH=#{path}: no path that begins with /" unless path.start_with?("/")
        abort "jprof:check: COUNT=#{count}: not a number of 20 or more" unless /\A\d{2,9}\z/.match?(count) && count.to_i >= 20
        abort "jprof:check: no config.ru here" unless File.exist?("config.ru")

        snapshots = Array.new(3) { |i| "#{FOLDER}/#{i + 1}.jprof" }
        measure(path, count, snapshots)
        system(program, "check", *snapshots)
        exit $?.exitstatus || 1
      end

      # That of the gem, or the one that is installed.
      def program
        own = File.expand_path("../../libexec/bin/jprof", __dir__)
        File.executable?(own) ? own : "jprof"
      end

      private

      # Where rake made a variable of the word PATH=... , which covers the system's.
      def programs_of_system
        File.read("/proc/self/environ")[/(?:\A|\0)PATH=([^\0]*)/, 1] || "/usr/local/bin:/usr/bin:/bin"
      end

      def measure(path, count, snapshots)
        require "fileutils"
        FileUtils.mkdir_p(FOLDER)
        FileUtils.rm_f(snapshots)
        asker = File.expand_path("asker.rb", __dir__)
        started = system(program, "run", "--require", "--", RbConfig.ruby, asker, program, path, count, *snapshots)
        abort "jprof:check: no jprof here: take the gem of your platform, or install jprof" if started.nil?
        exit $?.exitstatus || 1 unless started
      end
    end
  end
end

namespace :jprof do
  desc "Asks the application COUNT times for PATH, and says whether it keeps memory (PATH=/ COUNT=2000)"
  task(:check) do
    Jprof::Tasks.check(ARGV, ENV.fetch("COUNT", "2000"))
  end
end
