# frozen_string_literal: true

home = ENV.fetch("JPROF_HOME", "https://example.org/jprof") # packaging/gem.sh has it from README.md

Gem::Specification.new do |spec|
  spec.name = "jprof"
  spec.version = "0.2.0"
  spec.summary = "What holds a Ruby's memory: heap profiles of jemalloc, with lines, routes and jobs"
  spec.description = "jprof says where the memory of a Ruby service is, what grew, and which line, route or job it belongs to. " \
                     "The gem of a platform has the whole program and its agents in it; the other one has tags alone."
  spec.authors = ["The jprof authors"]
  spec.homepage = home
  spec.license = "MIT"
  spec.metadata = {
    "changelog_uri" => "#{home}/blob/main/NEWS.md",
    "documentation_uri" => "#{home}/blob/main/docs/ruby.md",
    "source_code_uri" => home,
    "rubygems_mfa_required" => "true"
  }
  spec.files = Dir["{lib,exe,libexec}/**/*", "LICENSE", "NEWS.md"].select { |path| File.file?(path) }
  # packaging/gem.sh puts jprof-static and the agents there: then the gem is of that platform, and `jprof` starts it.
  if ENV["JPROF_GEM_PLATFORM"]
    spec.platform = Gem::Platform.new(ENV["JPROF_GEM_PLATFORM"])
    spec.bindir = "exe"
    spec.executables = ["jprof"]
  end
  spec.required_ruby_version = ">= 2.7"
end
