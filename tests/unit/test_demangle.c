/* Mangled names are those that g++ 12 and rustc wrote for real code; full names are those of
 * binutils' c++filt. */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"
#include "input/demangle.h"

struct pair {
	const char *from, *to;
};

static void check_short(const struct pair *cases, size_t count)
{
	int wrong = 0;
	for (size_t i = 0; i < count; i++) {
		struct jp_strbuf brief = { 0 };
		jp_strbuf_str(&brief, "");
		jp_shorten(cases[i].from, &brief);
		if (strcmp(brief.text, cases[i].to))
			wrong += complain("%s: \"%s\" should be \"%s\"", cases[i].from, brief.text, cases[i].to);
		jp_strbuf_release(&brief);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_parameters_and_arguments_go)
{
	static const struct pair cases[] = {
		{ "main", "main" },
		{ "", "" },
		{ "f(int)", "f" },
		{ "ns::f<int>(char const*) const", "ns::f" },
		{ "a::B<c::D<e> >::f(void (*)(int, char)) volatile", "a::B::f" },
		{ "app::Box<int>::conv<int>(int) const &", "app::Box::conv" },
		{ "app::to_s[abi:cxx11](int)", "app::to_s[abi:cxx11]" },
		{ "app::FP<&app::ff>::go()", "app::FP::go" },
		{ "app::FP<&(app::f(int))>::go()", "app::FP::go" },
		{ "f(int) [clone .cold]", "f [clone .cold]" },
		{ "a::f() [clone .isra.0] [clone .cold]", "a::f [clone .isra.0] [clone .cold]" },
		{ "f(int)::counter", "f::counter" },
		{ "non-virtual thunk to A::f()", "non-virtual thunk to A::f" },
		{ "unclosed(int", "unclosed" },
		{ "unopened)", "unopened)" },
	};
	check_short(cases, jp_count(cases));
}

TEST(test_operators_stay)
{
	static const struct pair cases[] = {
		{ "A::operator()(int) const", "A::operator()" },
		{ "A::operator()<int>(int)", "A::operator()" },
		{ "A::operator[](int)", "A::operator[]" },
		{ "A::operator--(int)", "A::operator--" },
		{ "A::operator-(int)", "A::operator-" },
		{ "A<int>::operator->()", "A::operator->" },
		{ "A::operator->*(int A::*)", "A::operator->*" },
		{ "A::operator<=>(A const&) const", "A::operator<=>" },
		{ "A::operator<(int) const", "A::operator<" },
		{ "A::operator<<(int)", "A::operator<<" },
		{ "A::operator>>=(int)", "A::operator>>=" },
		{ "A::operator>=(int)", "A::operator>=" },
		{ "app::operator\"\" _kb(unsigned long long)", "app::operator\"\" _kb" },
		{ "operator new(unsigned long)", "operator new" },
		{ "operator new[](unsigned long)", "operator new[]" },
		{ "operator delete(void*, unsigned long)", "operator delete" },
		{ "A::operator bool() const", "A::operator bool" },
		{ "app::Box<int>::operator std::vector<int, std::allocator<int> >() const",
		  "app::Box::operator std::vector" },
		{ "A::operator char const*() const", "A::operator char const*" },
		{ "my_operator<int>(int)", "my_operator" },
		{ "operators(int)", "operators" },
		{ "f<&A::operator< >(int)", "f" },
		{ "f<&A::operator>>(int)", "f" },
		{ "f<&A::operator()>(int)", "f" },
	};
	check_short(cases, jp_count(cases));
}

/* Template arguments of an operator are set off by a blank, which belongs to them. */
TEST(test_operator_templates)
{
	static const struct pair cases[] = {
		{ "app::operator< <int>(app::Box<int>, app::Box<int>)", "app::operator<" },
		{ "std::operator<< <std::char_traits<char> >(std::ostream&, char const*)", "std::operator<<" },
		{ "A::operator-><int>()", "A::operator->" },
	};
	check_short(cases, jp_count(cases));
}

TEST(test_what_has_no_name_of_its_own)
{
	static const struct pair cases[] = {
		{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f" },
		{ "app::(anonymous namespace)::hidden(app::(anonymous namespace)::T)",
		  "app::(anonymous namespace)::hidden" },
		{ "A<(anonymous namespace)::B>::f((anonymous namespace)::B)", "A::f" },
		{ "f()::{unnamed type#1}::g()", "f::{unnamed type#1}::g" },
	};
	check_short(cases, jp_count(cases));
}

/* Lambdas are numbered for each list of parameters anew. */
TEST(test_lambdas_stay_apart)
{
	static const char *const lambdas[] = {
		"app::lam()::{lambda(int)#1}::operator()(int) const",
		"app::lam()::{lambda(char)#1}::operator()(char) const",
		"app::lam()::{lambda(int)#2}::operator()(int) const",
		"app::lam()::{lambda(int)#2}::operator()(int) const::{lambda(long)#1}::operator()(long) const",
		"app::lam2()::{lambda(int)#1}::operator()(int) const",
	};
	struct jp_strbuf brief[jp_count(lambdas)] = { 0 };
	int wrong = 0;
	for (size_t i = 0; i < jp_count(lambdas); i++) {
		jp_shorten(lambdas[i], &brief[i]);
		assert_contains(brief[i].text, "app::lam");
		assert_contains(brief[i].text, "{lambda");
		assert_contains(brief[i].text, "::operator()");
		assert_null(strstr(brief[i].text, "const"));
		for (size_t k = 0; k < i; k++)
			if (!strcmp(brief[i].text, brief[k].text))
				wrong += complain("%s and %s: %s", lambdas[i], lambdas[k], brief[i].text);
	}
	for (size_t i = 0; i < jp_count(lambdas); i++)
		jp_strbuf_release(&brief[i]);
	assert_int_equal(wrong, 0);
}

TEST(test_rust_traits_stay)
{
	static const struct pair cases[] = {
		{ "<r::S<u32> as r::Tr>::go", "<r::S as r::Tr>::go" },
		{ "<alloc::vec::Vec<u32>>::push", "alloc::vec::Vec::push" },
		{ "core::ptr::drop_in_place::<alloc::vec::Vec<u32>>", "core::ptr::drop_in_place" },
		{ "r::all::{closure#0}", "r::all::{closure}" },
		{ "core::fmt::num::<impl core::fmt::Display for u32>::fmt", "<u32 as core::fmt::Display>::fmt" },
		{ "<&T as core::fmt::Debug>::fmt", "<&T as core::fmt::Debug>::fmt" },
		{ "<[T] as alloc::slice::ToOwned>::to_owned", "<[T] as alloc::slice::ToOwned>::to_owned" },
		{ "<<A as B>::C as D>::f", "<<A as B>::C as D>::f" },
		{ "<F as f::Fn<(u8,)>>::call", "<F as f::Fn>::call" },
	};
	check_short(cases, jp_count(cases));
}

/* A tuple, a function or the unit as T is what makes one f distinct from another. */
TEST(test_rust_types_in_parentheses_stay)
{
	static const struct pair cases[] = {
		{ "<(A, B) as core::fmt::Debug>::fmt", "<(A, B) as core::fmt::Debug>::fmt" },
		{ "<() as core::fmt::Debug>::fmt", "<() as core::fmt::Debug>::fmt" },
		{ "<fn(u8) as core::fmt::Debug>::fmt", "<fn(u8) as core::fmt::Debug>::fmt" },
		{ "<fn() -> u8 as core::fmt::Debug>::fmt", "<fn() -> u8 as core::fmt::Debug>::fmt" },
	};
	check_short(cases, jp_count(cases));
}

TEST(test_mangled)
{
	static const struct {
		const char *name, *full, *brief;
	} cases[] = {
		{ "main", "main", "main" },
		{ "rb_f(x)", "rb_f(x)", "rb_f(x)" },
		{ "_Znope", "_Znope", "_Znope" },
		{ "__mod_a_MOD_fill", "mod_a::fill", "mod_a::fill" }, /* gfortran */
		{ "__mod_a_MOD___copy_mod_a_Table", "mod_a::__copy_mod_a_Table", "mod_a::__copy_mod_a_Table" },
		{ "__mod_a_MOD_fill.constprop.0", "mod_a::fill.constprop.0", "mod_a::fill.constprop.0" },
		{ "__mod_a_MOD_", "__mod_a_MOD_", "__mod_a_MOD_" },
		{ "___MOD_fill", "___MOD_fill", "___MOD_fill" },
		{ "x_MOD_fill", "x_MOD_fill", "x_MOD_fill" },
		{ "_Znwm", "operator new(unsigned long)", "operator new" },
		{ "_ZN3app12_GLOBAL__N_16hiddenENS0_1TE",
		  "app::(anonymous namespace)::hidden(app::(anonymous namespace)::T)",
		  "app::(anonymous namespace)::hidden" },
		{ "_ZN3app12_GLOBAL__N_16hiddenENS0_1TE.cold",
		  "app::(anonymous namespace)::hidden(app::(anonymous namespace)::T) [clone .cold]",
		  "app::(anonymous namespace)::hidden [clone .cold]" },
		{ "_ZN3app3BoxIiEclEi", "app::Box<int>::operator()(int)", "app::Box::operator()" },
		{ "_ZN3app3BoxIiEmmEi", "app::Box<int>::operator--(int)", "app::Box::operator--" },
		{ "_ZN3app3BoxIiEptEv", "app::Box<int>::operator->()", "app::Box::operator->" },
		{ "_ZNK3app3BoxIiEssERKS1_", "app::Box<int>::operator<=>(app::Box<int> const&) const",
		  "app::Box::operator<=>" },
		{ "_ZN3appli3_kbEy", "app::operator\"\" _kb(unsigned long long)", "app::operator\"\" _kb" },
		{ "_ZNK3app3BoxIiEcvbEv", "app::Box<int>::operator bool() const", "app::Box::operator bool" },
		{ "_ZNK3app3BoxIiEcvSt6vectorIiSaIiEEEv",
		  "app::Box<int>::operator std::vector<int, std::allocator<int> >() const",
		  "app::Box::operator std::vector" },
		{ "_ZNKR3app3BoxIiE4convIiEET_S3_", "int app::Box<int>::conv<int>(int) const &", "app::Box::conv" },
		{ "_ZN3app2szIiEENSt9enable_ifIXgtstT_Li2EEvE4typeES2_",
		  "std::enable_if<((sizeof (int))>(2)), void>::type app::sz<int>(int)", "app::sz" },
		{ "_ZN3app2FPIXadL_ZNS_2ffEiEEE2goEv", "app::FP<&app::ff>::go()", "app::FP::go" },
		{ "_ZN3appltIiEEbNS_3BoxIT_EES3_", "bool app::operator< <int>(app::Box<int>, app::Box<int>)",
		  "app::operator<" },
		/* Rust, legacy */
		{ "_ZN5alloc5alloc8box_free17h0123456789abcdefE", "alloc::alloc::box_free", "alloc::alloc::box_free" },
		{ "_ZN66_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE",
		  "<alloc::vec::Vec<T> as core::ops::drop::Drop>::drop",
		  "<alloc::vec::Vec as core::ops::drop::Drop>::drop" },
		/* Rust, v0 */
		{ "_RNvCs2OpA4fNwd7R_1r3all", "r::all", "r::all" },
		{ "_RNCNvCs2OpA4fNwd7R_1r3all0B3_", "r::all::{closure#0}", "r::all::{closure}" },
		{ "_RINvCs2OpA4fNwd7R_1r3genyEB2_", "r::gen::<u64>", "r::gen" },
		{ "_RNvXCs2OpA4fNwd7R_1rINtB2_1SmENtB2_2Tr2goB2_", "<r::S<u32> as r::Tr>::go", "<r::S as r::Tr>::go" },
		{ "_RNvMsF_NtCslNYArtu3iFV_5alloc3vecINtB5_3VecmE4pushCs2OpA4fNwd7R_1r", "<alloc::vec::Vec<u32>>::push",
		  "alloc::vec::Vec::push" },
	};
	if (!strstr(jp_demangler(), "libiberty (")) {
		print_message("built without libiberty\n");
		skip();
	}
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_strbuf full = { 0 }, brief = { 0 };
		jp_demangle(cases[i].name, &full, &brief);
		if (strcmp(full.text, cases[i].full))
			wrong += complain("%s: \"%s\" should be \"%s\"", cases[i].name, full.text, cases[i].full);
		if (strcmp(brief.text, cases[i].brief))
			wrong += complain("%s: \"%s\" should be \"%s\"", cases[i].name, brief.text, cases[i].brief);
		jp_strbuf_release(&full);
		jp_strbuf_release(&brief);
	}
	assert_int_equal(wrong, 0);
}

/* One function by rustc 1.95's legacy names and by its v0 names. */
TEST(test_rust_spellings)
{
	static const struct {
		const char *brief, *legacy, *v0;
	} cases[] = {
		{ "t::shop::Session::grow", "_ZN1t4shop16Session$LT$T$GT$4grow17h9d91945a5e82260bE",
		  "_RNvMNtCsjMaewn57Afh_1t4shopINtB2_7SessionmE4growB4_" },
		{ "<(u8, u16) as t::shop::Encode>::encode",
		  "_ZN52_$LT$$LP$u8$C$u16$RP$$u20$as$u20$t..shop..Encode$GT$6encode17hef22fb00fa0f36bdE",
		  "_RNvXs2_NtCsjMaewn57Afh_1t4shopThtENtB5_6Encode6encode" },
		{ "<fn(u32) -> u8 as t::shop::Encode>::encode",
		  "_ZN66_$LT$fn$LP$u32$RP$$u20$.$GT$$u20$u8$u20$as$u20$t..shop..Encode$GT$6encode17h3679884789d05d92E",
		  "_RNvXs4_NtCsjMaewn57Afh_1t4shopFmEhNtB5_6Encode6encode" },
		{ "<[u16] as t::shop::Encode>::encode::{closure}",
		  "_ZN49_$LT$$u5b$u16$u5d$$u20$as$u20$t..shop..Encode$GT$6encode28_$u7b$$u7b$closure$u7d$$u7d$17hddfa5c541933ebc7E",
		  "_RNCNvXs1_NtCsjMaewn57Afh_1t4shopStNtB7_6Encode6encode0B9_" },
		{ "<[_]>::to_vec", "_ZN5alloc5slice29_$LT$impl$u20$$u5b$T$u5d$$GT$6to_vec17h47188ec40f14b532E",
		  "_RNvMNtCslNYArtu3iFV_5alloc5sliceSh6to_vecCsjMaewn57Afh_1t" },
		{ "alloc::collections::btree::node::Handle::next_leaf_edge",
		  "_ZN5alloc11collections5btree8navigate235_$LT$impl$u20$alloc..collections..btree..node..Handle$LT$alloc..collections..btree..node..NodeRef$LT$BorrowType$C$K$C$V$C$alloc..collections..btree..node..marker..LeafOrInternal$GT$$C$alloc..collections..btree..node..marker..KV$GT$$GT$14next_leaf_edge17h42c04e9ef60128e5E",
		  "_RNvMsp_NtNtNtCslNYArtu3iFV_5alloc11collections5btree8navigateINtNtB7_4node6HandleINtB10_7NodeRefNtNtB10_6marker5DyingjINtNtBb_2rc2RcjENtB1y_14LeafOrInternalENtB1y_2KVE14next_leaf_edgeCsjMaewn57Afh_1t" },
		{ "<t::shop::Session as core::clone::Clone>::clone",
		  "_ZN64_$LT$t..shop..Session$LT$T$GT$$u20$as$u20$core..clone..Clone$GT$5clone17h47ae8bfd9362859eE",
		  "_RNvXs5_NtCsjMaewn57Afh_1t4shopINtB5_7SessionmENtNtCsgEmfK2I1SDS_4core5clone5Clone5cloneB7_" },
		{ "t::run::{closure}", "_ZN1t3run28_$u7b$$u7b$closure$u7d$$u7d$17h45cc3470de608fceE",
		  "_RNCNvCsjMaewn57Afh_1t3run0B3_" },
		{ "hashbrown::map::HashMap::insert",
		  "_ZN9hashbrown3map28HashMap$LT$K$C$V$C$S$C$A$GT$6insert17hcdf62b6d90dc55c4E",
		  "_RNvMs1_NtCsgvbsrvnw3yD_9hashbrown3mapINtB5_7HashMapyINtNtCsjMaewn57Afh_1t4shop7SessionmENtNtNtCsjrHSEGnQ3l9_3std4hash6random11RandomStateE6insertBT_" },
	};
	if (!strstr(jp_demangler(), "libiberty ("))
		skip();
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_strbuf full = { 0 }, legacy = { 0 }, v0 = { 0 };
		jp_demangle(cases[i].legacy, &full, &legacy);
		jp_demangle(cases[i].v0, &full, &v0);
		if (strcmp(legacy.text, cases[i].brief) || strcmp(v0.text, cases[i].brief))
			wrong += complain("%s: legacy \"%s\", v0 \"%s\"", cases[i].brief, legacy.text, v0.text);
		jp_strbuf_release(&full);
		jp_strbuf_release(&legacy);
		jp_strbuf_release(&v0);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_hostile_names)
{
	static const char *const units[] = {
		"(", "<", "<a as ", "operator", "{lambda(", "operator<", "::<impl ", "->"
	};
	enum { size = 5000 };
	char *name = malloc(size + 16);
	for (size_t u = 0; u < jp_count(units); u++) {
		struct jp_strbuf brief = { 0 }, full = { 0 };
		size_t len = 0;
		while (len < size) {
			strcpy(name + len, units[u]);
			len += strlen(units[u]);
		}
		jp_shorten(name, &brief);
		assert_false(brief.failed);
		assert_true(brief.len <= 2 * len);
		jp_strbuf_cut(&brief, 0);
		memcpy(name, "_Z", 2);
		jp_demangle(name, &full, &brief);
		assert_true(full.len && brief.len);
		jp_strbuf_release(&brief);
		jp_strbuf_release(&full);
	}
	free(name);
}

/* A name as long as a file may hold costs neither the stack nor minutes. */
TEST(test_deep_nesting)
{
	enum { size = 1000000 };
	pid_t child = fork();
	if (!child) {
		struct jp_strbuf brief = { 0 };
		char *name = malloc(size + 1);
		memset(name, '<', size);
		name[size] = '\0';
		setrlimit(RLIMIT_CPU, &(struct rlimit){ 60, 60 });
		jp_shorten(name, &brief);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

TEST(test_what_looks_mangled)
{
	assert_true(jp_is_mangled("_Z1fv"));
	assert_true(jp_is_mangled("__ZN1a1bEv"));
	assert_true(jp_is_mangled("_RNvC1a1b"));
	assert_false(jp_is_mangled("main"));
	assert_false(jp_is_mangled("_start"));
	assert_false(jp_is_mangled(""));
}
