# The application that the gate watches: price lists, the last 50 of which are kept. With LEAK=1 all are.
class PriceList
  KEPT = {}
  LIMIT = ENV["LEAK"] ? 1_000_000 : 50

  def self.load(customer)
    KEPT.delete(KEPT.first[0]) if KEPT.size >= LIMIT
    KEPT[customer] = "an article, its number, its price; " * 600
  end
end

run lambda { |env|
  list = PriceList.load(env["PATH_INFO"])
  [200, { "content-type" => "text/plain" }, [list]]
}
