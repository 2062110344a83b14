require "fiddle"

# The few questions the sample program asks the jemalloc it runs on.
module Jemalloc
  def self.function(name, arguments, result)
    Fiddle::Function.new(Fiddle::Handle::DEFAULT[name], arguments, result)
  rescue Fiddle::DLError
    abort "app.rb: jemalloc is not loaded; start the program by samples/run.sh, " \
          "or with LD_PRELOAD=/path/to/libjemalloc.so.2"
  end

  MALLCTL = function("mallctl", [Fiddle::TYPE_VOIDP] * 4 + [Fiddle::TYPE_SIZE_T], Fiddle::TYPE_INT)
  NALLOCX = function("nallocx", [Fiddle::TYPE_SIZE_T, Fiddle::TYPE_INT], Fiddle::TYPE_SIZE_T)

  # Reads a number of `width` bytes.
  def self.read(name, width = 8)
    value = "\0" * 8
    error = MALLCTL.call(name, value, [width].pack("J"), nil, 0)
    abort "app.rb: jemalloc cannot read #{name} (error #{error})" if error != 0
    value.unpack1("Q<")
  end

  def self.require_profiling
    if read("config.prof", 1) == 0
      abort "app.rb: this jemalloc was built without profiling; build one with " \
            "./configure --enable-prof and name it by JPROF_JEMALLOC=/path/to/libjemalloc.so.2"
    elsif read("opt.prof", 1) == 0
      abort "app.rb: jemalloc does not profile; start the program by samples/run.sh, " \
            "or with MALLOC_CONF=prof:true"
    end
  end

  # Mean distance between two samples, in bytes.
  def self.sampling_rate
    1 << read("prof.lg_sample")
  end

  # Bytes this thread has allocated and not freed, each object counted as its
  # size class, as in a heap dump. (In stats.allocated every sampled object
  # counts as 16 KiB.)
  def self.live
    read("thread.allocated") - read("thread.deallocated")
  end

  # What malloc(size) really takes.
  def self.size_class(size)
    NALLOCX.call(size, 0)
  end

  def self.dump(path)
    name = Fiddle::Pointer[path]
    error = MALLCTL.call("prof.dump", nil, nil, name.ref, Fiddle::SIZEOF_VOIDP)
    abort "app.rb: jemalloc cannot write #{path} (error #{error})" if error != 0
  end
end
