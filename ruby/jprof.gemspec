# frozen_string_literal: true

Gem::Specification.new do |spec|
  spec.name = "jprof"
  spec.version = "0.2.0"
  spec.summary = "Tags for jprof: which route or job allocated what is still in use"
  spec.description = "jprof reads the heap profiles of jemalloc. With tags it says which route or job memory belongs to."
  spec.authors = ["jprof"]
  spec.license = "MIT"
  spec.files = Dir["lib/**/*.rb"]
  spec.required_ruby_version = ">= 2.7"
end
