# `check TEXT, GOT, WANTED` counts what is wrong, and says it. WANTED may be what === asks: a range, a lambda.
$failures = $checks = 0
def check(text, got, wanted = true)
  $checks += 1
  return if wanted == got || wanted === got
  $failures += 1
  puts "FAIL: #{text}: #{got.inspect}, not #{wanted.inspect}"
end
