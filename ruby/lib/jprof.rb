# frozen_string_literal: true

# Tags for jprof: which route or job allocated what is still in use.
#
#     Jprof.tag("GET /users/:id") { ... }
#
# A tag is a small Integer in a fiber-local; its text is kept here once. jprof's agent, where it is loaded, reads the
# Integer at each allocation that jemalloc samples, and the texts later. Where it is not, a tag costs two stores.
#
# A tag is a class of work: a route's template, a job's class. Never put what a user sends into it. A new thread or fiber
# has no tag; what runs a part of the work elsewhere is handed the tag by Jprof.wrap.
#
# docs/internals/ruby.md has the contract with the agent.
module Jprof
  unless defined?(TEXTS) # loaded again, all would mean something else
    # Where the Integer is: nil, or a place in TEXTS, or OTHER.
    KEY = :__jprof_tag
    # So many texts at most; what comes later is "other".
    MOST = 256
    OTHER = MOST + 1
    # "KIND TEXT" by number, from 1 on; KIND is route, job or -. It only ever grows.
    TEXTS = [nil] # rubocop:disable Style/MutableConstant
    # By kind: numbers of texts, as they were given.
    NUMBERS = { nil => {}, route: {}, job: {} }.freeze
    LOCK = Mutex.new
    LONGEST = 200 # bytes of a text
    # What a block lends by Fiber storage.
    Loan = Struct.new(:number)
    # A finalizer without a tag. Equal to others of the same work, for Ruby takes such only once for an object.
    Untagged = Struct.new(:work) do
      def call(*ids)
        return work.call(*ids) unless Thread.current[KEY] # as is usual

        Jprof.tag(nil) { work.call(*ids) }
      end

      # Ruby's warning of an exception names the finalizer.
      def inspect
        work.inspect
      end
      alias_method :to_s, :inspect
    end
    private_constant :NUMBERS, :LOCK, :LONGEST, :Loan
  end

  # A finalizer runs in the middle of whatever allocates just then, and has no part in its tag.
  module Finalizers
    def define_finalizer(object, *given, &block)
      work = given.empty? ? block : given.first
      return super if given.size > 1 || !Finalizers.takes?(work) || Finalizers.keeps?(work, object)

      zero, = super(object, Untagged.new(work))
      [zero, work].freeze
    end

    # A BasicObject cannot be asked: Ruby runs it as it is.
    def self.takes?(work)
      Kernel === work && work.respond_to?(:call)
    end

    # What keeps the object alive is never run; Ruby warns of it, where it can see that.
    def self.keeps?(work, object)
      keeper = work.is_a?(Proc) ? work.binding.receiver : work.is_a?(Method) ? work.receiver : nil
      keeper.equal?(object)
    rescue ArgumentError # no Ruby code
      false
    end
  end
  ObjectSpace.singleton_class.prepend(Finalizers)

  class << self
    # Runs the block with a tag, and gives what the block gives. A tag within a tag counts instead of it, nil is no tag.
    # `kind` is :route, :job or nil: the word that reports put before the text. Raises nothing of its own.
    def tag(text, kind = nil)
      thread = Thread.current
      before = thread[KEY]
      thread[KEY] = text && number_of(text, kind)
      begin
        yield
      ensure
        thread[KEY] = before
      end
    end

    # The block, or what has a method `call`, as a lambda that runs it with the tag of here and now, on whatever thread or
    # fiber:
    #
    #     pool.post(&Jprof.wrap { ... })
    #     Thread.new(&Jprof.wrap { ... })
    #     Fiber.new(&Jprof.wrap { ... })
    def wrap(work = nil, &block)
      work ||= block or raise ArgumentError, "Jprof.wrap needs a block, or something to call"
      number = Thread.current[KEY]
      lambda do |*args, **options, &given|
        with(number) { work.call(*args, **options, &given) }
      end
    end

    # Ruby 3.2 and later: while the block runs, its tag is in Fiber storage, which fibers and threads take over that are
    # made by it, however deep in a library. There Jprof.inherit takes it up. Earlier Rubies have no such storage; then
    # there is no tag.
    def lend
      return yield unless Fiber.respond_to?(:[])

      before = Fiber[KEY]
      loan = Loan.new(Thread.current[KEY])
      Fiber[KEY] = loan
      begin
        yield
      ensure
        loan.number = nil # who outlives the work does not go on under its tag
        Fiber[KEY] = before
      end
    end

    # Runs the block with the tag that was lent to this thread or fiber, as long as the lender's block runs; else without.
    def inherit(&block)
      loan = Fiber[KEY] if Fiber.respond_to?(:[])
      with(loan&.number, &block)
    end

    # The text of the tag of here and now, or nil.
    def current
      number = Thread.current[KEY] or return
      number == OTHER ? "other" : TEXTS[number].split(" ", 2).last
    end

    private

    def with(number)
      thread = Thread.current
      before = thread[KEY]
      thread[KEY] = number
      begin
        yield
      ensure
        thread[KEY] = before
      end
    end

    def number_of(text, kind)
      text = text.to_s unless text.is_a?(String)
      known = NUMBERS[kind] || NUMBERS[kind = nil]
      known[text] || add(known, text, kind)
    rescue StandardError # another Ractor, a trap, a text of a strange encoding: no tag
      nil
    end

    # A text that is new. Two that look alike when they are cleaned are one.
    def add(known, text, kind)
      clean = cleaned(text)
      return if clean.empty?

      line = -"#{kind || '-'} #{clean}"
      return OTHER if TEXTS.size > MOST && !TEXTS.include?(line) # it only ever grows

      LOCK.synchronize do
        number = TEXTS.index(line) || append(line)
        known[-text] = number if number < OTHER && known.size < 2 * MOST
        number
      end
    end

    def append(line)
      return OTHER if TEXTS.size > MOST

      TEXTS << line
      TEXTS.size - 1
    end

    def cleaned(text)
      text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub("?").byteslice(0, LONGEST).scrub("")
    end
  end
end

require "jprof/railtie" if defined?(Rails::Railtie)
