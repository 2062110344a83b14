// C++ names, with malloc called by the functions themselves: jeprof knows that frame in any jemalloc.
// Each function allocates another size, so that no order depends on names.
// usage: names DUMP
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <compare>

namespace shop
{

void *held[10000];
int count;

__attribute__((noinline)) void keep(void *block)
{
	memset(block, 1, 8);
	held[count++] = block;
}

__attribute__((noinline)) void plain(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(1000);
		keep(block);
	}
}

template <typename T> __attribute__((noinline)) void many(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(300 * sizeof(T));
		keep(block);
	}
}

__attribute__((noinline)) void twice(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(5000);
		keep(block);
	}
}

__attribute__((noinline)) void twice(const char *text)
{
	for (int i = 0; text[i]; i++) {
		void *block = malloc(6000);
		keep(block);
	}
}

namespace
{
__attribute__((noinline)) void hidden(int n)
{
	for (int i = 0; i < n; i++) {
		void *block = malloc(7000);
		keep(block);
	}
}
} // namespace

struct shelf {
	int filled = 0;

	inline __attribute__((always_inline)) void put(size_t size)
	{
		void *block = malloc(size);
		keep(block);
		filled++;
	}
	__attribute__((noinline)) void method(int n)
	{
		for (int i = 0; i < n; i++) {
			put(8000);
		}
	}
	__attribute__((noinline)) void operator()(int n)
	{
		for (int i = 0; i < n; i++) {
			put(9000);
		}
	}
	__attribute__((noinline)) shelf &operator--()
	{
		put(100000);
		return *this;
	}
	__attribute__((noinline)) std::strong_ordering operator<=>(const shelf &other)
	{
		put(200000);
		return filled <=> other.filled;
	}
};

__attribute__((noinline)) void *operator""_kb(unsigned long long n)
{
	void *block = malloc(n * 1024);
	keep(block);
	return block;
}

} // namespace shop

int main(int argc, char **argv)
{
	using mallctl_fn = int(const char *, void *, size_t *, void *, size_t);
	mallctl_fn *mallctl = reinterpret_cast<mallctl_fn *>(dlsym(RTLD_DEFAULT, "mallctl"));
	bool on = true;
	if (argc != 2 || !mallctl || mallctl("prof.active", nullptr, nullptr, &on, sizeof on))
		return 1;
	const char *path = argv[1];
	auto lambda = [](int n) __attribute__((noinline))
	{
		for (int i = 0; i < n; i++) {
			void *block = malloc(14000);
			shop::keep(block);
		}
	};
	shop::shelf a, b;
	using namespace shop;
	plain(10);
	many<char>(10);
	many<long>(11);
	twice(12);
	twice("thirteen");
	hidden(14);
	a.method(15);
	a(16);
	--a;
	bool less = a < b;
	lambda(17);
	300_kb;
	return mallctl("prof.dump", nullptr, nullptr, &path, sizeof path) || less;
}
