// C++: names are those that jeprof shows, without parameters and template arguments.
#include "site.h"

#define HERE_AS(name, flags) CALL_AS(name, record, nullptr, nullptr, (flags) | CLONE)

namespace shapes {

struct Point {
	int x = 0;
	NOINLINE Point() { HERE_AS("shapes::Point::Point", 0); }
	NOINLINE ~Point() { HERE_AS("shapes::Point::~Point", 0); }
	NOINLINE Point &operator<<=(int by) { HERE_AS("shapes::Point::operator<<=", 0); x <<= by; return *this; }
	NOINLINE void operator()(int) const { HERE_AS("shapes::Point::operator()", 0); }
};

template <class T> struct Box {
	T value;
	NOINLINE T area(T by) { HERE_AS("shapes::Box::area", 0); return value * by; }
	template <class U> NOINLINE static void make(U) { HERE_AS("shapes::Box::make", 0); }
	ALWAYS void within(const site *outer) { CALL_AS("shapes::Box::within", record, outer, nullptr, 0); }
	ALWAYS void around(const site *outer) { CALL_AS("shapes::Box::around", within, outer, nullptr, 0); }
};

namespace {
NOINLINE void secret()
{
	HERE_AS("shapes::(anonymous namespace)::secret", 0);
}

ALWAYS void inlined_secret(const site *outer)
{
	CALL_AS("shapes::(anonymous namespace)::inlined_secret", record, outer, nullptr, 0);
}
}

static NOINLINE void inlines_secret()
{
	CALL_AS("shapes::inlines_secret", inlined_secret, nullptr, nullptr, CLONE);
}

static NOINLINE void overloaded(int)
{
	HERE_AS("shapes::overloaded", 0);
}

static NOINLINE void overloaded(const Box<int> &)
{
	HERE_AS("shapes::overloaded", 0);
}

static NOINLINE void inlines(Box<int> &box)
{
	CALL_AS("shapes::inlines", box.around, nullptr, nullptr, CLONE);
}

static NOINLINE void thrower(int n)
{
	HERE_AS("shapes::thrower", 0);
	if (n)
		throw n;
}

// Its FDE has a CIE with personality and language-specific data.
static NOINLINE void catcher()
{
	try {
		thrower(1);
		HERE_AS("not reached", 0);
	} catch (int) {
		HERE_AS("shapes::catcher", 0);
	}
}

}

extern "C" NOINLINE void plain_c(void)
{
	HERE_AS("plain_c", 0);
}

void subject_run()
{
	shapes::Box<int> box = { 3 };
	shapes::Point point;
	(point <<= 1)(2);
	box.area(4);
	shapes::Box<unsigned long>::make<const char *>("");
	shapes::secret();
	shapes::inlines_secret();
	shapes::overloaded(1);
	shapes::overloaded(box);
	shapes::inlines(box);
	shapes::catcher();
	plain_c();
}
