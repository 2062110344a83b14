# A view whose template is compiled anew for each page, as methods of a module that nobody removes.
module Views
  def self.compile(page)
    module_eval("def page_#{page}(item)\n#{(1..20).map { |i| "  item[#{i}] = \"row #{page} \#{item}\"\n" }.join}end")
  end
end

pages = 0
puts 'ready'
$stdout.flush
$stdin.each_line do
  3_000.times { Views.compile(pages += 1) }
  puts 'done'
  $stdout.flush
end
