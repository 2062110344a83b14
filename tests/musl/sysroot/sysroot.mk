# What is built after what. `+` hands make's job slots to the makes inside.
# The longest first, so that none is left alone at the end.
parts = jemalloc elfutils libarchive xz zlib zstd pcre2 graphviz json-c cmocka libiberty

all: $(parts)
elfutils: zlib xz
libarchive: zlib xz zstd

$(parts):
	+@sh $(here)/parts.sh $@

.PHONY: all $(parts)
