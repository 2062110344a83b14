# Puma's configuration of the sample cluster: two workers, preloaded, and an application with a leak.
#
#   /json?N   N rows of JSON, made and forgotten
#   /html?N   an HTML page parsed and searched with Nokogiri, forgotten too
#   /leak?N   N rows that Leaky.parse_row keeps for ever
#
# PUMA_BIND tells where to listen.
require "json"
require "nokogiri"
require "leaky"

workers 2
threads 2, 2
preload_app!
bind ENV.fetch("PUMA_BIND")
quiet

PAGE = "<html><body>" + (1..200).map { |i| "<p class='n#{i}'>line #{i}</p>" }.join + "</body></html>"
PAGES = {
  "/json" => ->(n) { JSON.generate(Array.new(n) { |i| { "id" => i, "name" => "row #{i}" } }) },
  "/html" => ->(n) { Nokogiri::HTML(PAGE).css("p").first(n).map(&:text).join("\n") },
  "/leak" => ->(n) { n.times { |i| Leaky.parse_row("#{i},some,fields") }.to_s }
}

app do |env|
  page = PAGES[env["PATH_INFO"]]
  body = page ? page.call(env["QUERY_STRING"].to_i) : "give /json, /html or /leak\n"
  [page ? 200 : 404, { "content-type" => "text/plain", "content-length" => body.bytesize.to_s }, [body]]
end
tag "shop"
