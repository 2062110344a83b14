// Names of all kinds that C++ has, each with memory of a size of its own: templates that return something, operators,
// namespaces without a name, lambdas, what std inlines, and a pool whose function is called as jemalloc's are.
// usage: raw_back DUMP DUMP
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static void *kept[4000];
static int count;

static NOINLINE void keep(void *p)
{
	*(volatile char *)p = 1;
	kept[count++] = p;
}

namespace shop {
struct Row {
	std::string name;
	std::vector<int> cells;
};
std::vector<Row> &rows = *new std::vector<Row>;
std::map<int, std::string> &names = *new std::map<int, std::string>;

template <class T> struct Box {
	std::vector<T> all;
	NOINLINE void put(const T &t) { all.push_back(t); }
	template <class U> NOINLINE T *make(U n)
	{
		T *t = (T *)malloc((size_t)n * sizeof(T));
		keep(t);
		return t;
	}
};
Box<long> &box = *new Box<long>;

namespace {
struct Held {
	NOINLINE Held(int n) { keep(malloc(n)); }
	NOINLINE Held &operator--() { keep(malloc(3000)); return *this; }
	NOINLINE bool operator<(int n) { keep(malloc(n)); return true; }
	NOINLINE Held *operator->() { keep(malloc(700)); return this; }
	NOINLINE void operator()(int) { keep(malloc(900)); }
	NOINLINE operator std::vector<int> *() { keep(malloc(11000)); return nullptr; }
	int n = 0;
};
NOINLINE void *secret(int n)
{
	keep(malloc(n));
	return kept[0];
}
}

NOINLINE void fill(int n)
{
	for (int i = 0; i < n; i++) {
		rows.push_back({ std::string(100, 'x'), std::vector<int>(200) });
		names[i] = std::string(300, 'y');
		box.put(i);
	}
}

// A pool of the program's own: the file that jemalloc is in is another one.
extern "C" NOINLINE void *pool_malloc(size_t n)
{
	void *p = malloc(n);
	keep(p);
	return p;
}
NOINLINE void pools()
{
	pool_malloc(21000);
	keep(kept[count - 1]);
}
}

template <class F> NOINLINE auto call(F f) -> decltype(f())
{
	return f();
}

static void dump(const char *file)
{
	auto mallctl = (int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
	if (!mallctl || mallctl("prof.dump", nullptr, nullptr, &file, sizeof file))
		exit(1);
}

int main(int, char **argv)
{
	shop::fill(100);
	dump(argv[1]);
	shop::fill(200);
	shop::box.make<short>(1000);
	shop::Held held(5000);
	--held;
	held < 1300;
	held->n = 1;
	held(1);
	std::vector<int> *v = held;
	keep((void *)(v ? (void *)v : malloc(13)));
	shop::secret(6000);
	shop::pools();
	std::function<void()> f = [&] { keep(malloc(4000)); };
	f();
	call([&] { keep(malloc(1234)); return 1; });
	call([&] { keep(malloc(2345)); return 2L; });
	keep(new std::shared_ptr<std::string>(std::make_shared<std::string>(500, 'c')));
	dump(argv[2]);
	return 0;
}
