// Names that are hard to draw: long ones, templates, operators, lambdas, what looks like markup.
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace warehouse::inventory::management::persistence {
struct shelf_of_a_rather_descriptively_named_kind {
	std::map<std::string, std::vector<std::pair<long, std::string>>> boxes;
	__attribute__((noinline)) void fill_with_everything_that_was_delivered_this_morning(int n);
	__attribute__((noinline)) std::vector<std::pair<long, std::string>> &operator[](int n);
};

std::vector<std::pair<long, std::string>> &shelf_of_a_rather_descriptively_named_kind::operator[](int n)
{
	return boxes["a key that is too long to be kept in the string itself " + std::to_string(n)];
}

void shelf_of_a_rather_descriptively_named_kind::fill_with_everything_that_was_delivered_this_morning(int n)
{
	for (int i = 0; i < n; i++)
		(*this)[i % 50].emplace_back(i, "a value that is too long to be kept in the string itself as well");
}
} // namespace warehouse::inventory::management::persistence

namespace {
struct row {
	char bytes[2000];
};
template <typename key, typename value, int depth> struct tree {
	tree<key, value, depth - 1> *left;
	__attribute__((noinline)) static void *grow_left_and_then_right(int n)
	{
		void *last = nullptr;
		for (int i = 0; i < n; i++)
			*static_cast<void *volatile *>(&last) = std::calloc(1, sizeof(row));
		return last;
	}
};
void *volatile kept;
} // namespace

__attribute__((noinline)) unsigned long long operator"" _kb(unsigned long long n)
{
	kept = std::malloc(n * 1024);
	return n;
}

int main()
{
	auto *shelf = new warehouse::inventory::management::persistence::shelf_of_a_rather_descriptively_named_kind;
	kept = shelf;
	shelf->fill_with_everything_that_was_delivered_this_morning(3000);
	kept = tree<std::map<std::string, std::vector<int>>, std::pair<const char *, row>, 3>::grow_left_and_then_right(700);
	auto deliver = [](auto many) {
		kept = std::malloc(static_cast<std::size_t>(many));
		return kept != nullptr;
	};
	return 300_kb && deliver(100000) ? 0 : 1;
}
