"""Asks the agent of a process: ask.py [--root DIR] [--hold SECONDS] PID REQUEST..., one line of reply each.

It is found as any collector finds it, by its announcement. With --root its files lie below DIR."""
import argparse
import re
import socket
import sys
import time


def announced(pid):
    with open(f"/proc/{pid}/maps") as maps:
        for line in maps:
            match = re.search(r"/memfd:jprof-agent:(\d+):(\d+):(.*) \(deleted\)$", line)
            if match:
                return match.groups()
    sys.exit(f"process {pid} announces no agent")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default="")
    parser.add_argument("--hold", type=float, default=0)
    parser.add_argument("pid")
    parser.add_argument("request", nargs="*")
    args = parser.parse_args()
    name = announced(args.pid)[2]
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(30)
        client.connect("\0" + name[1:] if name[0] == "@" else args.root + name)
        replies = client.makefile("r")
        for request in args.request:
            client.sendall((request + "\n").encode())
            print(replies.readline(), end="", flush=True)
        time.sleep(args.hold)


main()
