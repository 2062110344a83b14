/* An extension of Ruby's that registers its functions in every way, and in ways that nobody can know. It needs no Ruby
 * to be compiled. A line that ends in "= NAME" is the definition of a function that must have that name, "~ NAME" of
 * one that may have it or none, "-" of one that must have none. */
/* clang-format off */
typedef unsigned long VALUE;
typedef unsigned long ID;
typedef VALUE method(VALUE);

extern VALUE rb_cObject, rb_cString, rb_eArgError, rb_cStat;
VALUE rb_define_class(const char *, VALUE), rb_define_module(const char *);
VALUE rb_define_class_under(VALUE, const char *, VALUE), rb_define_module_under(VALUE, const char *);
VALUE rb_struct_define_under(VALUE, const char *, ...), rb_singleton_class(VALUE), rb_path2class(const char *);
VALUE rb_define_class_id_under(VALUE, ID, VALUE);
ID rb_intern(const char *), rb_intern2(const char *, long);
void rb_define_method(VALUE, const char *, method *, int), rb_define_private_method(VALUE, const char *, method *, int);
void rb_define_protected_method(VALUE, const char *, method *, int), rb_define_alloc_func(VALUE, method *);
void rb_define_singleton_method(VALUE, const char *, method *, int), rb_define_method_id(VALUE, ID, method *, int);
void rb_define_module_function(VALUE, const char *, method *, int);
void rb_define_global_function(const char *, method *, int);
void rb_gc_register_address(VALUE *), rb_raise(VALUE, const char *, ...) __attribute__((noreturn));
int chance(void);
void use(const void *);

/* Each has a body of its own, so that no linker makes one of two, and a call in it, which returns. */
#define BODY                                                    \
	{                                                       \
		static volatile int line;                       \
		line += __LINE__;                               \
		use((const void *)&line);                       \
		return self + (VALUE)__LINE__ + (VALUE)line;    \
	}
static VALUE cart_total(VALUE self) BODY /* = Shop::Cart#total */
static VALUE cart_add(VALUE self) BODY /* = Shop::Cart#<< */
static VALUE cart_alias(VALUE self) BODY /* = Shop::Cart#size */
static VALUE cart_hidden(VALUE self) BODY /* = Shop::Cart#hidden! */
static VALUE cart_guarded(VALUE self) BODY /* = Shop::Cart#guarded? */
static VALUE cart_open(VALUE self) BODY /* = Shop::Cart.open */
static VALUE cart_new(VALUE self) BODY /* = Shop::Cart.allocate */
static VALUE cart_meta(VALUE self) BODY /* = Shop::Cart.meta */
static VALUE cart_by_id(VALUE self) BODY /* = Shop::Cart#by_id */
static VALUE shop_count(VALUE self) BODY /* = Shop.count */
static VALUE global(VALUE self) BODY /* = Kernel#shop */
static VALUE string_price(VALUE self) BODY /* = String#price */
static VALUE error_code(VALUE self) BODY /* = ArgumentError#code */
static VALUE stat_price(VALUE self) BODY /* = File::Stat#price */
static VALUE line_price(VALUE self) BODY /* = Shop::Line#price */
static VALUE part_of(VALUE self) BODY /* = Shop::Cart::Part#of */
static VALUE item_name(VALUE self) BODY /* = Shop::Item#name */
static VALUE item_price(VALUE self) BODY /* = Shop::Item#price */
static VALUE path_known(VALUE self) BODY /* = Net::HTTP#price */
static VALUE passed_on(VALUE self) BODY /* = Shop::Order#passed */
static VALUE after_branch(VALUE self) BODY /* = Shop::Order#after_branch */
static VALUE after_switch(VALUE self) BODY /* = Shop::Order#after_switch|#after_switch */
static VALUE after_loop(VALUE self) BODY /* = Shop::Order#after_loop */
static VALUE last_call(VALUE self) BODY /* = Shop::Order#last */

static VALUE either_one(VALUE self) BODY /* - */
static VALUE either_two(VALUE self) BODY /* - */
static VALUE of_either(VALUE self) BODY /* = #of_either|Shop::Cart#of_either|Shop::Item#of_either */
static VALUE twice_a(VALUE self) BODY /* - */
static VALUE twice_b(VALUE self) BODY /* - */
static VALUE two_classes(VALUE self) BODY /* - */
static VALUE changing(VALUE self) BODY /* = #changing|Shop::Cart#changing */
static VALUE given_twice(VALUE self) BODY /* = #given|Shop::Item#given */
static VALUE named_by_chance(VALUE self) BODY /* ~ Shop::Cart#this|Shop::Cart#that */
static VALUE in_table_one(VALUE self) BODY /* ~ Shop::Order#table_one */
static VALUE in_table_two(VALUE self) BODY /* ~ Shop::Order#table_two */
static VALUE never(VALUE self) BODY /* - */
static VALUE reused(VALUE self) BODY /* = #reused|ReusedTwice#reused */
static VALUE stored_by_bytes(VALUE self) BODY /* = #stored_by_bytes */

static VALUE jumped_near(VALUE) __attribute__((used)), jumped_far(VALUE) __attribute__((used));
static VALUE jumped_near(VALUE self) BODY /* ~ #jumped_near */
static VALUE jumped_far(VALUE self) BODY /* ~ #jumped_far */

static VALUE builtin_one(VALUE self) BODY /* - */
static VALUE builtin_two(VALUE self) BODY /* - */

/* What the compiler makes of built-in functions of Ruby: function, numbers, name, function. */
static const struct builtin {
	method *function;
	int argc, index;
	const char *name;
	method *compiler;
} builtins[] = { { builtin_one, 0, 0, "builtin_one", builtin_two }, { builtin_two, 0, 1, "builtin_two", 0 }, { 0, 0, 0, 0, 0 } };

VALUE mShop, cCart;
static VALUE cOrder, cItem, cReused;
static union {
	VALUE value;
	unsigned char byte[8];
} half;

/* Called once, with a class; another function jumps there, too, by a branch of two bytes or of six. */
#ifdef __x86_64__
#define DEFINE(method, branch)                                                                                     \
	__asm__(".text\n.type define_" #method ", @function\n.type also_" #method ", @function\n"                  \
	        "define_" #method ": .cfi_startproc\nlea name_" #method "(%rip), %rsi\nlea " #method "(%rip), %rdx\n" \
	        "xor %ecx, %ecx\njmp rb_define_method@PLT\n.cfi_endproc\n.size define_" #method ", . - define_" #method \
	        "\nalso_" #method ": .cfi_startproc\ntest %edi, %edi\n" branch "\nret\n.cfi_endproc\n"            \
	        ".size also_" #method ", . - also_" #method "\n.pushsection .rodata\nname_" #method ": .asciz \"" #method \
	        "\"\n.popsection");                                                                               \
	void define_##method(VALUE)
DEFINE(jumped_near, ".byte 0x75, define_jumped_near - . - 1");
DEFINE(jumped_far, ".byte 0x0f, 0x85\n.long define_jumped_far - . - 4");
#else
#define define_jumped_near(class) (void)(class)
#define define_jumped_far(class) (void)(class)
#endif

static __attribute__((noinline)) void define_switch(VALUE order)
{
	switch (chance()) {
	case 0: use("a"); break;
	case 1: use("b"); break;
	case 2: use("c"); break;
	case 3: use("d"); break;
	case 4: use("e"); break;
	case 5: use(&order); break;
	}
	rb_define_method(order, "after_switch", after_switch, 0);
}

static void define_order(VALUE order)
{
	static const struct {
		const char *name;
		method *function;
	} table[] = { { "table_one", in_table_one }, { "table_two", in_table_two } };
	rb_define_method(order, "passed", passed_on, 0);
	if (chance())
		rb_raise(rb_eArgError, "no");
	rb_define_method(order, "after_branch", after_branch, 0);
	for (int i = 0; i < 2; i++)
		rb_define_method(order, table[i].name, table[i].function, 0);
}

static __attribute__((noinline)) void define_loop(void)
{
	VALUE order = cOrder;
	for (int i = chance(); i > 0; i--)
		use("loop");
	rb_define_method(order, "after_loop", after_loop, 0);
	rb_define_method(cOrder, "last", last_call, 0);
}

static __attribute__((noinline)) void define_given(VALUE class)
{
	use("given");
	rb_define_method(class, "given", given_twice, 0);
}

static __attribute__((noinline)) void define_by_chance(VALUE a, VALUE b)
{
	VALUE one = chance() ? a : b;
	rb_define_method(a, "either", chance() ? either_one : either_two, 0);
	rb_define_method(one, "of_either", of_either, 0);
	rb_define_method(a, chance() ? "this" : "that", named_by_chance, 0);
	rb_define_method(a, "first_name", two_classes, 0);
	rb_define_method(b, "second_name", two_classes, 0);
	for (int i = chance(); i > 0; i--) {
		rb_define_method(a, "changing", changing, 0);
		a = b;
	}
}

static __attribute__((noinline)) void define_unknown(VALUE x, VALUE y)
{
	rb_define_method(x, "twice", twice_a, 0);
	rb_define_method(y, "twice", twice_b, 0);
}

static __attribute__((noinline)) void define_reused(void)
{
	cReused = rb_define_class("ReusedOnce", rb_cObject);
	use(&cReused);
	cReused = rb_define_class("ReusedTwice", rb_cObject);
	use(&cReused);
	rb_define_method(cReused, "reused", reused, 0);
	half.value = rb_define_class("Half", rb_cObject);
	use(&half);
	half.byte[3] = (unsigned char)chance();
	use(&half);
	rb_define_method(half.value, "stored_by_bytes", stored_by_bytes, 0);
}

__attribute__((visibility("default"))) void Init_registered(void)
{
	VALUE line, part;
	mShop = rb_define_module("Shop");
	cCart = rb_define_class_under(mShop, "Cart", rb_cObject);
	rb_gc_register_address(&cItem);
	cOrder = rb_define_class_under(mShop, "Order", rb_cObject);
	rb_define_method(cCart, "total", cart_total, 0);
	rb_define_method(cCart, "<<", cart_add, 1);
	rb_define_method(cCart, "size", cart_alias, 0);
	rb_define_method(cCart, "length", cart_alias, 0);
	rb_define_private_method(cCart, "hidden!", cart_hidden, 0);
	rb_define_protected_method(cCart, "guarded?", cart_guarded, 0);
	rb_define_singleton_method(cCart, "open", cart_open, 0);
	rb_define_alloc_func(cCart, cart_new);
	rb_define_method(rb_singleton_class(cCart), "meta", cart_meta, 0);
	rb_define_method_id(cCart, rb_intern("by_id"), cart_by_id, 0);
	rb_define_module_function(mShop, "count", shop_count, 0);
	rb_define_global_function("shop", global, 0);
	rb_define_method(rb_cString, "price", string_price, 0);
	rb_define_method(rb_eArgError, "code", error_code, 0);
	rb_define_method(rb_cStat, "price", stat_price, 0);
	line = rb_struct_define_under(mShop, "Line", "a", "b", (char *)0);
	rb_define_method(line, "price", line_price, 0);
	part = rb_define_class_id_under(cCart, rb_intern2("Part", 4), rb_cObject);
	rb_define_method(part, "of", part_of, 0);
	cItem = rb_define_class_under(mShop, "Item", rb_cObject);
	rb_define_method(cItem, "name", item_name, 0);
	rb_define_method(rb_path2class("Net::HTTP"), "price", path_known, 0);
	define_order(cOrder);
	define_switch(cOrder);
	define_loop();
	rb_define_method(cItem, "price", item_price, 0);
	define_given(cItem);
	define_given(cCart);
	define_by_chance(cCart, cItem);
	define_unknown((VALUE)chance(), (VALUE)chance());
	define_jumped_near(cCart);
	define_jumped_far(cCart);
	define_reused();
	use(builtins);
	use(never);
}

VALUE get_cart(VALUE self)
{
	use(&self);
	return self + 1;
}
