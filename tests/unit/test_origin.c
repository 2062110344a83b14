/* Paths of Ruby code as they are on Debian, in docker's ruby images, with Bundler, rbenv, rvm: whose code is it? The
 * paths are real ones. */
#include "harness.h"
#include "view/origin.h"

static const struct {
	const char *path;
	enum jprof_origin origin;
	const char *name, *version, *rest;
} paths[] = {
	{ "/srv/shop/app/models/user.rb", JPROF_ORIGIN_APPLICATION, "", "", "/srv/shop/app/models/user.rb" },
	{ "owners.rb", JPROF_ORIGIN_APPLICATION, "", "", "owners.rb" },
	{ "-e", JPROF_ORIGIN_APPLICATION, "", "", "-e" },
	{ "(eval)", JPROF_ORIGIN_APPLICATION, "", "", "(eval)" },
	{ "(eval at /srv/shop/lib/a.rb:3)", JPROF_ORIGIN_APPLICATION, "", "", "(eval at /srv/shop/lib/a.rb:3)" },
	{ "/var/lib/gems/3.1.0/gems/i18n-1.14.1/lib/i18n.rb", JPROF_ORIGIN_GEM, "i18n", "1.14.1", "lib/i18n.rb" },
	{ "/usr/local/bundle/gems/aws-sdk-s3-1.142.0/lib/aws-sdk-s3.rb", JPROF_ORIGIN_GEM, "aws-sdk-s3", "1.142.0",
	  "lib/aws-sdk-s3.rb" },
	{ "/usr/local/bundle/ruby/3.3.0/gems/nokogiri-1.16.2-x86_64-linux/lib/nokogiri.rb", JPROF_ORIGIN_GEM,
	  "nokogiri", "1.16.2", "lib/nokogiri.rb" },
	{ "/srv/shop/vendor/bundle/ruby/3.1.0/gems/rack-3.0.8/lib/rack.rb", JPROF_ORIGIN_GEM, "rack", "3.0.8",
	  "lib/rack.rb" },
	{ "/home/u/.rbenv/versions/3.2.2/lib/ruby/gems/3.2.0/gems/net-http-0.3.2/lib/net/http.rb", JPROF_ORIGIN_GEM,
	  "net-http", "0.3.2", "lib/net/http.rb" },
	{ "/usr/local/bundle/bundler/gems/rails-3f2b1c9a0d12/activerecord/lib/active_record.rb", JPROF_ORIGIN_GEM,
	  "rails", "3f2b1c9a0d12", "activerecord/lib/active_record.rb" },
	{ "/usr/local/bundle/extensions/x86_64-linux/3.3.0/nokogiri-1.16.2/nokogiri/nokogiri.so", JPROF_ORIGIN_GEM,
	  "nokogiri", "1.16.2", "nokogiri/nokogiri.so" },
	{ "/usr/local/bundle/bundler/gems/extensions/x86_64-linux/3.3.0-static/rugged-3f2b1c9a0d12/rugged/rugged.so",
	  JPROF_ORIGIN_GEM, "rugged", "3f2b1c9a0d12", "rugged/rugged.so" },
	{ "/usr/share/rubygems-integration/all/gems/rake-13.0.6/lib/rake.rb", JPROF_ORIGIN_GEM, "rake", "13.0.6",
	  "lib/rake.rb" },
	{ "/usr/lib/ruby/vendor_ruby/puma/cluster.rb", JPROF_ORIGIN_GEM, "puma", "", "cluster.rb" },
	{ "/usr/lib/ruby/vendor_ruby/google/protobuf/message_exts.rb", JPROF_ORIGIN_GEM, "google-protobuf", "",
	  "protobuf/message_exts.rb" },
	{ "/usr/lib/ruby/vendor_ruby/google/cloud.rb", JPROF_ORIGIN_GEM, "google", "", "cloud.rb" },
	{ "/usr/lib/ruby/vendor_ruby/rack.rb", JPROF_ORIGIN_GEM, "rack", "", "rack.rb" },
	{ "/usr/lib/ruby/vendor_ruby/3.1.0/msgpack/core.rb", JPROF_ORIGIN_GEM, "msgpack", "", "core.rb" },
	{ "/usr/lib/ruby/vendor_ruby/rubygems/specification.rb", JPROF_ORIGIN_STDLIB, "", "", NULL },
	{ "/usr/lib/ruby/vendor_ruby/bundler/setup.rb", JPROF_ORIGIN_STDLIB, "", "", NULL },
	{ "/usr/lib/ruby/3.1.0/set.rb", JPROF_ORIGIN_STDLIB, "", "", NULL },
	{ "/usr/local/lib/ruby/3.3.0/json/common.rb", JPROF_ORIGIN_STDLIB, "", "", NULL },
	{ "/usr/lib/x86_64-linux-gnu/ruby/3.1.0/rbconfig.rb", JPROF_ORIGIN_STDLIB, "", "", NULL },
	{ "/home/u/.rvm/rubies/ruby-3.2.2/lib/ruby/3.2.0/uri.rb", JPROF_ORIGIN_STDLIB, "", "", NULL },
	{ "/usr/local/lib/ruby/site_ruby/3.3.0/rubygems/core_ext/kernel_require.rb", JPROF_ORIGIN_STDLIB, "", "",
	  NULL },
	{ "/usr/bin/puma", JPROF_ORIGIN_GEM, "puma", "", "bin/puma" },
	{ "/usr/local/bundle/bin/rackup", JPROF_ORIGIN_GEM, "rack", "", "bin/rackup" },
	{ "/srv/shop/bin/puma", JPROF_ORIGIN_APPLICATION, "", "", "/srv/shop/bin/puma" },
	{ "/usr/bin/nightly", JPROF_ORIGIN_APPLICATION, "", "", "/usr/bin/nightly" },
	{ "/usr/bin/puma/app.rb", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "<internal:kernel>", JPROF_ORIGIN_VM, "", "", NULL },
	/* that are only like them */
	{ "/srv/gems/app.rb", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/srv/gems/shop/app.rb", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/srv/gems/rack-3.0.8", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/srv/ruby/shop/app.rb", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/gems/-1/", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/srv/extensions/billing/lib/3/tax.rb", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/srv/extensions/x86_64-linux/3.3.0/", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/srv/extensions/", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "/usr/lib/ruby/vendor_ruby/", JPROF_ORIGIN_APPLICATION, "", "", NULL },
	{ "", JPROF_ORIGIN_APPLICATION, "", "", "" },
};

static bool is_span(struct jp_span span, const char *text)
{
	return span.len == strlen(text) && !strncmp(span.len ? span.ptr : "", text, span.len);
}

TEST(test_paths)
{
	int bad = 0;
	for (size_t i = 0; i < jp_count(paths); i++) {
		struct jp_path_origin o = jp_path_origin(paths[i].path);
		if (o.origin != paths[i].origin || !is_span(o.name, paths[i].name) ||
		    !is_span(o.version, paths[i].version) || (paths[i].rest && !is_span(o.rest, paths[i].rest)))
			bad += complain("%s: origin %d, gem %.*s %.*s, %.*s", paths[i].path, (int)o.origin,
			                (int)o.name.len, o.name.len ? o.name.ptr : "", (int)o.version.len,
			                o.version.len ? o.version.ptr : "", (int)o.rest.len, o.rest.ptr);
	}
	assert_int_equal(bad, 0);
}

TEST(test_sites)
{
	static const struct {
		const char *path;
		uint32_t line;
		const char *trim, *directory, *text;
	} sites[] = {
		{ "/srv/shop/app/a.rb", 42, NULL, NULL, "/srv/shop/app/a.rb:42" },
		{ "/srv/shop/app/a.rb", 42, "/srv/shop", NULL, "app/a.rb:42" },
		{ "/srv/shop/app/a.rb", 42, "/opt,/srv/shop/", NULL, "app/a.rb:42" },
		{ "/srv/shop/app/a.rb", 0, "/srv/shop/app/a.rb", NULL, "/srv/shop/app/a.rb" },
		{ "/b/gems/i18n-1.14.1/lib/i18n.rb", 7, NULL, NULL, "i18n 1.14.1 lib/i18n.rb:7" },
		{ "/b/gems/i18n-1.14.1/lib/i18n.rb", 7, "/b/gems", NULL, "i18n-1.14.1/lib/i18n.rb:7" },
		{ "/usr/lib/ruby/vendor_ruby/puma/cluster.rb", 9, NULL, NULL, "puma cluster.rb:9" },
		{ "/usr/lib/ruby/vendor_ruby/rake/task.rb", 9, NULL, NULL, "rake 13.0.6 task.rb:9" },
		{ "/usr/lib/ruby/vendor_ruby/rake/task.rb", 9, "/usr/lib", NULL, "ruby/vendor_ruby/rake/task.rb:9" },
		{ "/usr/bin/rake", 9, NULL, NULL, "rake 13.0.6 bin/rake:9" },
		{ "/srv/shop/app/a.rb", 42, NULL, "/srv/shop", "app/a.rb:42" },
		{ "/srv/shop/app/a.rb", 42, "/srv", "/srv/shop", "shop/app/a.rb:42" },
		{ "/srv/shop/app/a.rb", 42, "", "/srv/shop", "/srv/shop/app/a.rb:42" },
		{ "/srv/shopper/app/a.rb", 42, NULL, "/srv/shop", "/srv/shopper/app/a.rb:42" },
		{ "/app/a.rb", 42, NULL, "/", "/app/a.rb:42" },
		{ "/srv/shop/vendor/bundle/ruby/3.1.0/gems/rack-3.0.8/lib/rack.rb", 3, NULL, "/srv/shop",
		  "rack 3.0.8 lib/rack.rb:3" },
	};
	for (size_t i = 0; i < jp_count(sites); i++) {
		struct jp_strbuf text = { 0 };
		struct jp_intern directories = { 0 }, gems = { 0 };
		const struct jp_code code = { .directories = &directories, .gems = &gems };
		assert_int_equal(jp_intern_str(&gems, "rake 13.0.6"), 0);
		if (sites[i].directory)
			assert_int_equal(jp_intern_str(&directories, sites[i].directory), 0);
		jp_put_site(&text, &code, sites[i].path, sites[i].line, sites[i].trim);
		assert_string_equal(text.text, sites[i].text);
		jp_strbuf_release(&text);
		jp_intern_release(&directories);
		jp_intern_release(&gems);
	}
}
