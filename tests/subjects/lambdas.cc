// Functions of C++ that the linker knows by no name, or by one that says nothing: lambdas go by their place; what has
// lambdas and local types in its template arguments is the same function, inlined or not.
#include "site.h"

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define LAMBDA "lambda at lambdas.cc:" TEXT(__LINE__)
#define HERE_AS(name) CALL_AS(name, record, nullptr, nullptr, CLONE)
#define WITHIN(name, outer) CALL_AS(name, record, outer, nullptr, 0)
#define OUT __attribute__((noinline))
#define IN __attribute__((always_inline))

// Two lambdas in one line, which g++ tells apart by their columns; clang does not write these, and they are numbered.
#ifdef __clang__
#define AT(column, number) "#" #number
#else
#define AT(column, number) ":" #column
#endif

namespace work {

namespace {
template <class F> NOINLINE void call(F f)
{
	CALL_AS("work::(anonymous namespace)::call", f, nullptr, nullptr, CLONE);
}

template <class F> ALWAYS void called_inline(F f, const site *outer)
{
	CALL_AS("work::(anonymous namespace)::called_inline", f, outer, nullptr, 0);
}

template <class T> struct Table {
	T value;
	template <class U> NOINLINE void put(U) { HERE_AS("work::(anonymous namespace)::Table::put"); }
	ALWAYS void put_inline(const site *outer) { WITHIN("work::(anonymous namespace)::Table::put_inline", outer); }
	ALWAYS T operator[](const site *outer) { WITHIN("work::(anonymous namespace)::Table::operator[]", outer); return value; }
	ALWAYS bool operator<(const site *outer) { WITHIN("work::(anonymous namespace)::Table::operator<", outer); return true; }
	ALWAYS Table *operator->() { return this; }
};
}

auto global = [](const site *) OUT { HERE_AS(LAMBDA); };

struct Server {
	int x = 1;
	NOINLINE void listen();
	template <class T> NOINLINE void handle(T)
	{
		call([this](const site *) OUT { HERE_AS(LAMBDA); x++; });
	}
};

void Server::listen()
{
	struct Local {
		NOINLINE void run() { HERE_AS("work::Server::listen::Local::run"); }
		ALWAYS void run_inline(const site *outer) { WITHIN("work::Server::listen::Local::run_inline", outer); }
	} local;
	local.run();
	CALL_AS("work::Server::listen", local.run_inline, nullptr, nullptr, CLONE);
	call([&](const site *) OUT { HERE_AS(LAMBDA); x++; });
	CALL_AS("work::Server::listen", [this](const site *outer) IN { WITHIN(LAMBDA, outer); x++; }, nullptr, nullptr, CLONE);
	if (x) {
		int block = x;
		call([&block](const site *) OUT { HERE_AS(LAMBDA); block++; });
	}
	x++;
}

static NOINLINE void two_in_a_line()
{
	auto first = [](const site *) OUT { HERE_AS(LAMBDA AT(16, 1)); }; auto second = [](const site *) OUT { HERE_AS(LAMBDA AT(83, 2)); };
	first(nullptr);
	__asm__ volatile("" ::: "memory");
	second(nullptr);
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void inlines()
{
	Table<int> table = { 3 };
	CALL_AS("work::inlines", table.put_inline, nullptr, nullptr, CLONE);
	auto empty = [](const site *outer) IN { WITHIN(LAMBDA, outer); };
	const site here = { "work::inlines", __FILE__, __LINE__ + 1, nullptr, nullptr, CLONE };
	called_inline(empty, &here);
	__asm__ volatile("" ::: "memory");
	CALL_AS("work::inlines", table.operator[], nullptr, nullptr, CLONE);
	CALL_AS("work::inlines", table->operator<, nullptr, nullptr, CLONE);
}

// In a function that is in no stack itself.
struct Kept {
	virtual void run() = 0;
};
template <class F> struct KeptAs : Kept {
	F f;
	KeptAs(F g) : f(g) {}
	void run() override { CALL_AS("work::KeptAs::run", f, nullptr, nullptr, CLONE); }
};
template <class F> static NOINLINE Kept *keep(F f)
{
	static KeptAs<F> kept(f);
	return &kept;
}
static NOINLINE Kept *keeps(int n)
{
	if (n) {
		int block = n;
		return keep([block](const site *) OUT { HERE_AS(LAMBDA); (void)block; });
	}
	return nullptr;
}

}

void subject_run()
{
	using namespace work;
	Server server;
	Table<unsigned long> table = { 4 };
	global(nullptr);
	server.listen();
	server.handle(1);
	server.handle('c');
	table.put("");
	two_in_a_line();
	inlines();
	keeps(1)->run();
	call([](const site *) OUT {
		call([](const site *) OUT { HERE_AS(LAMBDA); });
	});
	call([](auto) OUT { HERE_AS(LAMBDA); });
}
