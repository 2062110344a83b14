# Turns text into lines of C strings.
s/\\/\\\\/g
s/"/\\"/g
s/.*/"&\\n",/
