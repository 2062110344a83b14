#!/usr/bin/env ruby
# Follows docs/start.md word by word, in a copy of samples/rails: runs each command, and compares the lines of its output
# that name the leak, with all numbers as one. Needs jprof, Rails and Puma installed; changes nothing outside of a new directory.
# usage: ruby packaging/follow-tutorial.rb start.md samples/rails     ends with 77 where there is no Rails
require "fileutils"
require "open3"
require "socket"
require "tmpdir"

Encoding.default_external = Encoding::UTF_8 # whatever the locale: that of the commands is set below
page, application = ARGV.map { |path| File.expand_path(path) }
%w[rails puma bundler].each do |gem|
  Gem::Specification.find_by_name(gem)
rescue Gem::MissingSpecError
  puts "no #{gem} here (Debian: ruby-rails, puma, bundler)"
  exit 77
end

# What has to be the same: lines that name the leak or the verdict, without their numbers.
TELLING = /price_list\.rb:\d|PriceList|LEAK SUSPECT|\APASS/.freeze
def shape(line) = line.sub(" and others", "").gsub(%r{/\S*/app/}, "/app/").gsub(/[\d.,]+/, "0").gsub(/±0/, "+-0").split.join(" ")

# Each command with what the page shows of its output, and the files that the page has in blocks.
steps = []
shown = false
file = nil
File.readlines(page, chomp: true).each do |line|
  if file && !line.start_with?("```")
    steps.last[2] << line << "\n"
    next
  end
  case line
  when /\A```ruby (\S+)/ then steps << [:write, file = $1, +""]
  when /\A```/ then file = nil
  when /\A    \$ (.*)/ then steps << [:run, $1, []]; shown = true
  when /\A    / then steps.last[2] << line[4..] if shown
  when "" then nil
  else shown = false
  end
end
commands = steps.count { |step| step[0] == :run }
abort "follow-tutorial.rb: only #{commands} commands in #{page}" if commands < 15

Dir.mktmpdir do |work|
  FileUtils.cp_r("#{application}/.", work)
  server = TCPServer.new("127.0.0.1", 0)
  port = server.addr[1]
  server.close
  environment = { "PORT" => port.to_s, "LC_ALL" => "C.UTF-8", "COLUMNS" => "80", "HOME" => work }
  wrong = 0
  compared = 0
  # One shell, for what stands in the background there is %1.
  input, output, shell = Open3.popen2e(environment, "bash", "--norc", chdir: work)
  input.puts "set -m; bundle config set --local path.system true 2>/dev/null; bundle install --local >/dev/null 2>&1; echo set up"
  nil until (line = output.gets).nil? || line == "set up\n"
  begin
    steps.each do |kind, text, lines|
      next File.write("#{work}/#{text}", lines) if kind == :write

      text = text.gsub("--puma", "--puma=$(jobs -p %+)")
      input.puts "#{text}\necho \"[status $?]\""
      said = []
      said << line.chomp until (line = output.gets).nil? || line.start_with?("[status")
      status = line.to_s[/\d+/].to_i
      if status != 0 && !text.start_with?("kill")
        wrong += 1
        puts "`#{text}` ends with #{status}:", said.last(8)
      end
      have = said.map { |one| shape(one) }
      # A table may cut a name, so only what stands above it is compared.
      lines.grep(TELLING).each do |expected|
        compared += 1
        next if have.any? { |one| one.include?(shape(expected)) }

        wrong += 1
        puts "`#{text}` does not say: #{expected}", said.first(12)
      end
    end
  ensure
    input.puts "kill -TERM $(jobs -p) 2>/dev/null; wait; exit"
    input.close
    output.read
    shell.value
  end
  abort "follow-tutorial.rb: #{compared} lines compared: this sees nothing" if compared < 8
  puts "#{commands} commands of #{File.basename(page)}, #{compared} lines compared; #{wrong} wrong"
  exit wrong.zero?
end
