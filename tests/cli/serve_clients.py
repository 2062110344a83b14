#!/usr/bin/env python3
"""What jprof serve answers to clients that mean no good, and to slow ones: python3 serve_clients.py ADDRESS PORT.

Prints each check that fails, and how many there were."""
import socket
import sys
import time

address = (sys.argv[1], int(sys.argv[2]))
checks = failures = 0


def check(good, text):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print("FAIL:", text)


def connect():
    return socket.create_connection(address, 60)


def rest_of(client):
    answer = b""
    while True:
        try:
            data = client.recv(65536)
        except ConnectionResetError:
            return answer + b"(reset)"
        if not data:
            return answer
        answer += data


def answer_to(request):
    with connect() as client:
        client.sendall(request)
        return rest_of(client)


def status_of(answer):
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


HOST = b"Host: 127.0.0.1\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\n" + HOST

for what, request, status in [
    ("a good one", HEALTH + b"\r\n", 200),
    ("HTTP/1.0", b"GET /healthz HTTP/1.0\r\n\r\n", 200),
    ("a long line", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n", 431),
    ("many fields", HEALTH + b"".join(b"X-%d: y\r\n" % i for i in range(200)) + b"\r\n", 431),
    ("no CRLF", HEALTH.replace(b"\r", b"") + b"\n", 400),
    ("zeros", b"\0" * 5000, 400),
    ("TLS", bytes.fromhex("16030100a5010000a10303"), 400),
    ("a body", b"POST /debug/pprof/symbol HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\n0x1", 405),
    ("a body of GET", HEALTH + b"Content-Length: 50000\r\n\r\n" + b"x" * 50000, 413),
    ("another host", b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
    ("a host that looks like a number", b"GET /healthz HTTP/1.1\r\nHost: 127.evil.example\r\n\r\n", 403),
    ("two requests in one", (HEALTH + b"\r\n") * 2, 200),
    ("another path", b"GET /etc/passwd HTTP/1.1\r\n" + HOST + b"\r\n", 404),
    ("a profile of CPU", b"GET /debug/pprof/profile?seconds=5 HTTP/1.1\r\n" + HOST + b"\r\n", 404),
]:
    answer = answer_to(request)
    check(status_of(answer) == status, f"{what}: {answer[:80]!r}")
    check(b"(reset)" not in answer, f"{what}: the connection was reset")
    check(answer.count(b"HTTP/1.1 ") == 1, f"{what}: not one answer")
    head, _, body = answer.partition(b"\r\n\r\n")
    check(b"Connection: close" in head, f"{what}: {head!r}")
    check(f"Content-Length: {len(body)}\r\n".encode() in head + b"\r\n", f"{what}: {head!r}, and {len(body)} bytes")

head = answer_to(b"HEAD /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
check(status_of(head) == 200 and head.endswith(b"\r\n\r\n"), f"HEAD: {head!r}")

# Byte by byte, and one that closes its end first.
with connect() as client:
    for byte in HEALTH + b"\r\n":
        client.sendall(bytes([byte]))
    check(status_of(rest_of(client)) == 200, "byte by byte")
with connect() as client:
    client.sendall(HEALTH + b"\r\n")
    client.shutdown(socket.SHUT_WR)
    check(status_of(rest_of(client)) == 200, "with its end closed")

# More than are let in at once, who say nothing: each is told off in the end, and then others get their turn.
silent = [connect() for _ in range(20)]
begin = time.monotonic()
check(status_of(answer_to(HEALTH + b"\r\n")) == 200, "behind silent clients")
check(time.monotonic() - begin > 5, "the silent ones did not keep anybody waiting: this test tests nothing")
check(status_of(rest_of(silent[0])) == 408, "a silent client")
for client in silent:
    client.close()

# Who goes away keeps no place.
for _ in range(100):
    client = connect()
    client.sendall(b"GET /")
    client.close()
check(status_of(answer_to(HEALTH + b"\r\n")) == 200, "after clients that went away")
print(f"{checks} checks, {failures} failures")
sys.exit(failures > 0)
