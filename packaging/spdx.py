#!/usr/bin/env python3
"""The parts of a release as an SPDX 2.3 document in JSON: jprof, what is linked with jprof-static, and the files with their sums.

usage: python3 spdx.py VERSION HOME NOTICES FILE... >jprof.spdx.json    NOTICES: of notices.sh; SOURCE_DATE_EPOCH is its time"""
import hashlib
import json
import os
import sys
import time

# By part: what it is under, as far as it is linked.
LICENCES = {
    "capstone": "BSD-3-Clause",
    "elfutils": "GPL-2.0-or-later OR LGPL-3.0-or-later",
    "graphviz": "EPL-1.0",
    "libgcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libiberty": "LGPL-2.0-or-later",
    "musl": "MIT",
    "pcre2": "BSD-3-Clause",
    "xz": "LicenseRef-xz-public-domain",
    "zlib": "Zlib",
    "zstd": "BSD-3-Clause OR GPL-2.0-only",
}


def package(name, version, place, licence, **more):
    return {"name": name, "SPDXID": f"SPDXRef-{name}", "versionInfo": version, "downloadLocation": place, "filesAnalyzed": False,
            "licenseConcluded": licence, "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def part(notices, name):
    source, version = open(f"{notices}/{name}.source").read().split()
    return package(name, version, f"http://deb.debian.org/debian/pool/main/{source[:4] if source.startswith('lib') else source[0]}/{source}/",
                   LICENCES[name], supplier="Organization: Debian",
                   externalRefs=[{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                  "referenceLocator": f"pkg:deb/debian/{source}@{version.replace('+', '%2B')}?arch=source"}])


def file(path):
    content = open(path, "rb").read()
    sums = [{"algorithm": name.upper(), "checksumValue": hashlib.new(name, content).hexdigest()} for name in ("sha1", "sha256")]
    name = os.path.basename(path)
    identity = "".join(letter if letter.isalnum() or letter in ".-" else "-" for letter in name)
    return {"fileName": f"./{name}", "SPDXID": f"SPDXRef-File-{identity}", "checksums": sums, "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION"}


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


version, home, notices, *paths = sys.argv[1:]
names = sorted(name.removesuffix(".source") for name in os.listdir(notices) if name.endswith(".source"))
parts = [part(notices, name) for name in names]
files = [file(path) for path in sorted(paths)]
everything = hashlib.sha256("".join(one["checksums"][1]["checksumValue"] for one in files).encode()).hexdigest()
json.dump({
    "spdxVersion": "SPDX-2.3",
    "dataLicense": "CC0-1.0",
    "SPDXID": "SPDXRef-DOCUMENT",
    "name": f"jprof-{version}",
    "documentNamespace": f"{home.removesuffix('.git')}/spdx/jprof-{version}-{everything[:16]}",
    "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))),
                     "creators": ["Organization: The jprof authors", "Tool: packaging/spdx.py"]},
    "packages": [package("jprof", version, f"git+{home}", "MIT"), *parts],
    "files": files,
    "hasExtractedLicensingInfos": [{
        "licenseId": "LicenseRef-xz-public-domain", "name": "liblzma is in the public domain",
        "extractedText": "liblzma has been put into the public domain; see xz.copyright in the archive of jprof-static."}],
    "relationships": [
        relation("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-jprof"),
        *(relation("SPDXRef-jprof", "STATIC_LINK", one["SPDXID"]) for one in parts),
        *(relation(one["SPDXID"], "GENERATED_FROM", "SPDXRef-jprof") for one in files)],
}, sys.stdout, indent=1)
print()
