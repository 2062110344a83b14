# What is built after what. `+` hands make's job slots to the makes inside.
# The longest first, so that none is left alone at the end.
parts = jemalloc elfutils capstone xz zlib zstd pcre2 graphviz cmocka libiberty
ifneq ($(machine),$(shell uname -m)) # two are for tests, which run on this machine alone
parts := $(filter-out jemalloc cmocka,$(parts))
endif

all: $(parts)
elfutils: zlib xz

$(parts):
	+@sh $(here)/parts.sh $@

.PHONY: all $(parts)
