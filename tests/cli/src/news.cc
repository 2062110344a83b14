// C++: every way to operator new, overloads, a template, a lambda, an anonymous namespace.
// usage: news DUMP
#include <dlfcn.h>

#include <memory>
#include <new>
#include <string>
#include <vector>

namespace shop {

struct item {
	char name[3000];
};

struct alignas(256) wide {
	char name[4096];
};

std::vector<void *> held;

__attribute__((noinline)) void keep(void *p)
{
	held.push_back(p);
}

__attribute__((noinline)) void one_by_one()
{
	for (int i = 0; i < 100; i++)
		keep(new item);
}

__attribute__((noinline)) void arrays()
{
	for (int i = 0; i < 100; i++)
		keep(new char[4000 + i % 7]);
}

__attribute__((noinline)) void nothrow()
{
	for (int i = 0; i < 100; i++)
		keep(new (std::nothrow) char[6000 + i % 7]);
}

__attribute__((noinline)) void aligned()
{
	for (int i = 0; i < 100; i++)
		keep(new wide);
}

__attribute__((noinline)) void sell(int n)
{
	for (int i = 0; i < n; i++)
		keep(new char[7000 + i % 7]);
}

__attribute__((noinline)) void sell(const std::string &what)
{
	for (int i = 0; i < 100; i++)
		keep(new char[8000 + what.size() + i % 7]);
}

template <typename T> __attribute__((noinline)) void many(T n)
{
	for (int i = 0; i < n; i++)
		keep(new T[2500 + i % 7]);
}

namespace {
__attribute__((noinline)) void hidden()
{
	for (int i = 0; i < 100; i++)
		keep(new char[9000 + i % 7]);
}
}

struct shelf {
	__attribute__((noinline)) void operator()(int n) const
	{
		for (int i = 0; i < n; i++)
			keep(new char[5500 + i % 7]);
	}
};

}

int main(int argc, char **argv)
{
	using mallctl_fn = int(const char *, void *, size_t *, void *, size_t);
	mallctl_fn *mallctl = reinterpret_cast<mallctl_fn *>(dlsym(RTLD_DEFAULT, "mallctl"));
	if (argc != 2 || !mallctl)
		return 1;
	const char *path = argv[1];
	shop::held.reserve(10000);
	shop::one_by_one();
	shop::arrays();
	shop::nothrow();
	shop::aligned();
	shop::sell(100);
	shop::sell(std::string("a name"));
	shop::many(100);
	shop::many(100L);
	shop::hidden();
	shop::shelf()(100);
	auto lambda = [](int n) __attribute__((noinline)) {
		for (int i = 0; i < n; i++)
			shop::keep(new char[6500 + i % 7]);
	};
	lambda(100);
	return mallctl("prof.dump", nullptr, nullptr, &path, sizeof path);
}
