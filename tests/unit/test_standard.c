/* Names as jprof shortens them, with what the linker calls them: of g++ 12, clang 14 and rustc. */
#include "harness.h"
#include "ops/standard.h"

/* Any mangled name of each kind will do. */
#define CXX "_ZN3foo3barEv"
#define LEGACY "_ZN5alloc7raw_vec11finish_grow17h0123456789abcdefE"
#define V0 "_RNvNtC5alloc7raw_vec11finish_grow"

TEST(test_standard)
{
	static const struct {
		const char *name, *system;
		bool is;
	} cases[] = {
		{ "std::vector::push_back", CXX, true },
		{ "std::__new_allocator::allocate", "", true },
		{ "std::__cxx11::basic_string::_M_create", CXX, true },
		{ "std::__1::basic_string::append", CXX, true },
		{ "std::operator+", CXX, true },
		{ "__gnu_cxx::new_allocator::allocate", CXX, true },
		{ "standard::f", CXX, false },
		{ "mystd::vector::push", CXX, false },
		{ "main", "main", false },
		{ "", "", false },
		/* A program's namespaces */
		{ "core::Engine::load", CXX, false },
		{ "alloc::Pool::take", CXX, false },
		{ "core::Engine::load", "core::Engine::load", false },
		{ "alloc::vec::Vec::push", CXX, false },
		{ "alloc::vec::Vec::push", LEGACY, true },
		{ "alloc::vec::Vec::push", "alloc::vec::Vec::push", true },
		{ "alloc::vec::Vec::push", LEGACY ".llvm.1234", true },
		{ "core::iter::traits::iterator::Iterator::collect", V0, true },
		{ "hashbrown::raw::RawTable::reserve_rehash", LEGACY, true },
		{ "<*const _>::read", LEGACY, true },
		{ "std::thread::Builder::spawn_unchecked", LEGACY, true },
		{ "std::rt::lang_start_internal", LEGACY, false },
		{ "<[_]>::to_vec_in", V0, true },
		{ "<str>::to_string", V0, true },
		{ "<alloc::string::String as core::clone::Clone>::clone", V0, true },
		{ "<&mut alloc::string::String as core::fmt::Write>::write_str", LEGACY, true },
		{ "<T as core::convert::Into>::into", LEGACY, true },
		{ "<u8 as alloc::slice::hack::ConvertVec>::to_vec", V0, true },
		{ "<app::Session as alloc::slice::hack::ConvertVec>::to_vec", V0, true },
		{ "<app::Session as core::clone::Clone>::clone", V0, false },
		{ "<alloc::vec::Vec as app::Encode>::encode", V0, false },
		{ "<app::Session as <[_]>::to_vec_in::ConvertVec>::to_vec", V0, true },
		{ "app::Session::new", V0, false },
		{ "<&app::Session as core::iter::traits::collect::IntoIterator>::into_iter", V0, false },
		{ "app::main::{closure#0}", V0, false },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++)
		if (jp_is_standard_name(cases[i].name, cases[i].system) != cases[i].is)
			wrong += complain("%s, %s: should be %d", cases[i].name, cases[i].system, cases[i].is);
	assert_int_equal(wrong, 0);
}
