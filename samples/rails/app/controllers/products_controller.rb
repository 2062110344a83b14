class ProductsController < ActionController::Base
  NAMES = Array.new(200) { |i| "article #{i}" }.freeze

  def index
    @names = NAMES
  end

  def show
    @name = NAMES[params[:id].to_i % NAMES.size]
    @prices = PriceList.for(params[:customer])
  end
end
