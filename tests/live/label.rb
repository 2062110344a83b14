# label.c for Ruby. `labelled(n) { }`: what is allocated there has the label n.
require 'fiddle'
LABEL = Fiddle.dlopen('./label.so')
LABEL_SET = Fiddle::Function.new(LABEL['label_set'], [-Fiddle::TYPE_INT], Fiddle::TYPE_VOID)
LABEL_DUMP = Fiddle::Function.new(LABEL['label_dump'], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_INT)
Fiddle::Function.new(LABEL['label_on'], [], Fiddle::TYPE_INT).call.zero? or abort 'no hook'
$keep = []
def labelled(n)
  LABEL_SET.call(n)
  yield
ensure
  LABEL_SET.call(0)
end

def dump(path) = LABEL_DUMP.call(path).zero? || abort("no dump in #{path}")
