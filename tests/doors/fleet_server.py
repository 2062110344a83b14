"""A server as far as jprof's users need one: Pyroscope's POST /ingest, on the loopback alone.

usage: fleet_server.py DIRECTORY    writes its address to DIRECTORY/address, then each request: N.json, N.pb.gz
It answers 200 to what Pyroscope would take, 400 with a reason to all else; it ends with its standard input.
"""
import email.parser
import email.policy
import http.server
import json
import os
import re
import sys
import threading
import urllib.parse

import proto_check

directory = sys.argv[1]
count = 0


def parts_of(headers, body):
    """The parts of a multipart form: name -> (file name, type, bytes)."""
    text = ("Content-Type: %s\r\n\r\n" % headers["Content-Type"]).encode() + body
    form = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(text)
    proto_check.need(form.get_content_type() == "multipart/form-data" and form.is_multipart(), "no form")
    parts = {}
    for part in form.iter_parts():
        name = part.get_param("name", header="content-disposition")
        proto_check.need(name not in parts, "part %s is there twice" % name)
        parts[name] = (part.get_filename(), part.get_content_type(), part.get_payload(decode=True))
    return parts


def ingest(target, headers, body):
    url = urllib.parse.urlsplit(target)
    proto_check.need(url.path == "/ingest", "no such path: " + url.path)
    proto_check.need(not re.search(r"[{}\s\"<>\\^`|]", target), "a character that a URL may not have")
    query = {key: values[0] for key, values in urllib.parse.parse_qs(url.query, strict_parsing=True).items()}
    proto_check.need(set(query) == {"format", "name", "from", "until"}, "query has %s" % sorted(query))
    proto_check.need(query["format"] == "pprof", "format is " + query["format"])
    name = re.fullmatch(r"([a-zA-Z_][\w.-]*)\{([a-zA-Z_]\w*=[^,={}]+(,[a-zA-Z_]\w*=[^,={}]+)*)\}", query["name"])
    proto_check.need(name, "name is " + query["name"])
    proto_check.need(int(query["from"]) < int(query["until"]), "no time from %(from)s until %(until)s" % query)
    parts = parts_of(headers, body)
    proto_check.need("profile" in parts and set(parts) <= {"profile", "prev_profile", "sample_type_config"},
                     "the form has %s" % sorted(parts))
    # Pyroscope reads parts with a file name only.
    proto_check.need(all(part[0] for part in parts.values()), "a part without a file name")
    config = None
    if "sample_type_config" in parts:
        config = json.loads(parts["sample_type_config"][2].decode())
        for entry in config.values():
            proto_check.need(set(entry) <= {"units", "display-name", "aggregation", "cumulative", "sampled"},
                             "sample_type_config has %s" % sorted(entry))
    profile = proto_check.read(parts["profile"][2])
    if config is not None:
        proto_check.need(set(config) <= set(profile["sums"]), "types of no counter")
    return {"application": name.group(1), "labels": dict(pair.split("=") for pair in name.group(2).split(",")),
            "from": int(query["from"]), "until": int(query["until"]), "config": config, "profile": profile}, parts


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if not size:
                return body

    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_POST(self):
        global count
        if self.headers.get("Expect", "").lower() == "100-continue":
            pass  # BaseHTTPRequestHandler has answered it
        body = self.body()
        try:
            seen, parts = ingest(self.path, self.headers, body)
        except Exception as why:
            return self.answer(400, "%s: %s\n" % (type(why).__name__, why))
        count += 1
        with open(os.path.join(directory, "%d.pb.gz" % count), "wb") as file:
            file.write(parts["profile"][2])
        with open(os.path.join(directory, "%d.json" % count), "w") as file:
            json.dump(seen, file)
        self.answer(200, "")

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(os.path.join(directory, "address.new"), "w") as file:
    file.write("http://127.0.0.1:%d\n" % server.server_address[1])
os.rename(os.path.join(directory, "address.new"), os.path.join(directory, "address"))
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
