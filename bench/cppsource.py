#!/usr/bin/env python3
"""Writes the sources of a C++ program by seed: cppsource.py DIRECTORY [UNITS [FUNCTIONS [SEED]]]

Each function has its own types of the standard library, so its debug information is large and of deep inlining, as that
of real programs is: some 25 KB a function. DIRECTORY/Makefile builds DIRECTORY/program."""
import os
import random
import sys

directory, *rest = sys.argv[1:]
units, functions, seed = [int(word) for word in rest] + [24, 200, 1][len(rest):]
draw = random.Random(seed)

HEAD = """#include <algorithm>
#include <map>
#include <string>
#include <vector>

template <int N> struct record {
	int id;
	std::string name;
	double weights[N %% 7 + 1];
};

template <int N> inline record<N> make(int id)
{
	record<N> r{};
	r.id = id %% (N + 3);
	r.name = std::to_string(r.id * %d);
	return r;
}

namespace unit%d {
"""

MAP = """	std::map<int, record<%(n)d>> known;
	for (int i = 0; i < count; i++)
		known[i * %(k)d] = make<%(n)d>(i + (int)sum);
	for (auto &[id, r] : known)
		sum += r.weights[0] + (double)r.name.size() + id;
"""

VECTOR = """	std::vector<record<%(n)d>> list;
	for (int i = 0; i < count; i++)
		list.push_back(make<%(n)d>(i * %(k)d));
	std::sort(list.begin(), list.end(), [](const auto &a, const auto &b) { return a.name < b.name; });
	sum += (double)list.size();
"""


def unit(number):
    text = HEAD % (draw.randint(1, 99), number)
    for f in range(functions):
        n = number * functions + f
        text += "double walk%d(int count)\n{\n\tdouble sum = 0;\n" % f
        for body in draw.sample([MAP, VECTOR], draw.randint(1, 2)):
            text += body % {"n": n, "k": draw.randint(1, 9)}
        if f:
            text += "\tif (count > %d)\n\t\tsum += walk%d(count - 1);\n" % (draw.randint(1, 9), draw.randrange(f))
        text += "\treturn sum;\n}\n"
    return text + "}\n"


os.makedirs(directory, exist_ok=True)
for u in range(units):
    with open(os.path.join(directory, "unit%d.cc" % u), "w") as out:
        out.write(unit(u))
with open(os.path.join(directory, "main.cc"), "w") as out:
    for u in range(units):
        out.write("namespace unit%d {\ndouble walk%d(int count);\n}\n" % (u, functions - 1))
    out.write("int main(int argc, char **)\n{\n\tdouble sum = 0;\n")
    for u in range(units):
        out.write("\tsum += unit%d::walk%d(argc);\n" % (u, functions - 1))
    out.write("\treturn sum < 0;\n}\n")
with open(os.path.join(directory, "Makefile"), "w") as out:
    names = ["main"] + ["unit%d" % u for u in range(units)]
    out.write("CXXFLAGS = -std=c++17 -O2 -g -gdwarf-5 -fdebug-prefix-map=$(CURDIR)=.\n")
    out.write("program: %s\n\t$(CXX) $(CXXFLAGS) -o $@ $^\n" % " ".join(name + ".o" for name in names))
