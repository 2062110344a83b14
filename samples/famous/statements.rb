# Queries with values in their text, in a pool of prepared statements: each text is another statement. Rails keeps up to
# 1000 of them for each connection; so does each of the ten connections here.
require 'sqlite3'

class StatementPool
  LIMIT = 1000

  def initialize(db)
    @db = db
    @statements = {}
  end

  def find(sql)
    @statements.shift.last.close if @statements.size >= LIMIT && !@statements.key?(sql)
    @statements[sql] ||= @db.prepare(sql)
  end
end

DB = SQLite3::Database.new(':memory:')
DB.execute('CREATE TABLE users (id INTEGER PRIMARY KEY, email TEXT, name TEXT)')
POOLS = Array.new(10) { StatementPool.new(DB) }
number = 0
puts 'ready'
$stdout.flush
$stdin.each_line do
  500.times { POOLS.each { |pool| pool.find("SELECT * FROM users WHERE email = 'user#{number += 1}@example.org' ORDER BY name") } }
  puts 'done'
  $stdout.flush
end
