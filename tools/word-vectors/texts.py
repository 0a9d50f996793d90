"""Prints the texts that word vectors are learned from, one JSON string a line.

    python texts.py WORDNET_DICT CATALOGUE.ndjson.gz > texts.ndjson

What tools and their servers say of themselves, single words, and the glosses and examples of a dictionary. The order
is always the same, so the first N of one run are the first N of every run.
"""

import gzip
import json
import random
import re
import sys
from collections import Counter

MOST_TEXTS = 100_000


def glosses(folder):
    """Entries of the dictionary that are no proper names, as 'word, synonym: gloss'."""
    found = []
    for part in ["noun", "verb", "adj", "adv"]:
        for line in open(f"{folder}/data.{part}", encoding="latin1"):
            if line.startswith("  "):
                continue  # the licence
            head, gloss = line.split(" | ", 1)
            fields = head.split()
            words = [fields[4 + 2 * i].replace("_", " ") for i in range(int(fields[3], 16))]
            if part == "noun" and any(word[:1].isupper() for word in words):
                continue
            found.append(", ".join(re.sub(r"\(.*?\)", "", word) for word in words) + ": " + gloss.strip())
    return found


def descriptions(catalogue):
    found = []
    for line in gzip.open(catalogue, "rt"):
        server = json.loads(line)
        listing = server.get("listing") or {}
        said = [server["server"].get("description"), listing.get("description"), *(listing.get("skills") or [])]
        found += [text for text in said if text]
        for tool in server.get("tools") or []:
            if tool.get("description"):
                name = re.sub(r"[_\-]+|(?<=[a-z])(?=[A-Z])", " ", tool["name"])
                found.append(f"{name}: {tool['description']}"[:400])
    return list(dict.fromkeys(found))


def main(folder, catalogue):
    random.seed(1)
    entries = glosses(folder)
    random.shuffle(entries)
    tools = descriptions(catalogue)
    random.shuffle(tools)
    seen = Counter(word for text in tools + entries for word in set(re.findall(r"[a-z]{2,}", text.lower())))
    words = sorted((word for word in seen if seen[word] >= 2), key=lambda word: (-seen[word], word))[:22_000]
    explained = []
    for entry in entries:
        head, body = entry.split(": ", 1)
        gloss = body.split(";")[0]
        explained.append(f"{head.split(', ')[0]}: {gloss}"[:110])
        examples = re.findall(r'"([^"]+)"', body)
        if examples:
            explained.append(examples[0][:110])
    texts = tools[:8_000] + words + explained[:30_000] + tools[8_000:] + explained[30_000:]
    for text in texts[:MOST_TEXTS]:
        print(json.dumps(text))


main(*sys.argv[1:])
