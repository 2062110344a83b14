// Functions of one short name that call each other, seven deep: readers of callgrind files take them for one.
// usage: overloads DUMP; every allocation is to be sampled
#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>

extern "C" typedef int mallctl_fn(const char *, void *, size_t *, void *, size_t);

void *volatile o_last;

namespace shop
{
template <int N> struct level {
};

void walk(int n)
{
	while (n--)
		o_last = std::malloc(4096);
}

template <int N> __attribute__((noinline)) void walk(level<N>, int n)
{
	if constexpr (N > 0)
		walk(level<N - 1>(), n);
	else
		walk(n);
	o_last = std::malloc(64);
}
} // namespace shop

int main(int, char **argv)
{
	shop::walk(shop::level<6>(), 100);
	auto ctl = reinterpret_cast<mallctl_fn *>(dlsym(RTLD_DEFAULT, "mallctl"));
	return ctl ? ctl("prof.dump", nullptr, nullptr, &argv[1], sizeof argv[1]) : 1;
}
