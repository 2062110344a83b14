# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "jprof"
  spec.version = "0.2.0"
  spec.summary = "Tags for jprof: which route or job allocated what is still in use"
  spec.description = "jprof reads the heap profiles of jemalloc. With tags it says which route or job memory belongs to."
  spec.authors = ["jprof"]
  spec.license = "MIT"
  spec.files = Dir["{lib,exe,libexec}/**/*"].select { |path| File.file?(path) }
  # packaging/gem.sh puts jprof-static and the agents there: then the gem is of that platform, and `jprof` starts it.
  if ENV["JPROF_GEM_PLATFORM"]
    spec.platform = Gem::Platform.new(ENV["JPROF_GEM_PLATFORM"])
    spec.bindir = "exe"
    spec.executables = ["jprof"]
  end
  spec.required_ruby_version = ">= 2.7"
end
