"""Rival (c), in Python: csv and phonenumbers, one loop. `python3 plan.py <input> <output> <text>`"""

import csv
import json
import re
import sys

import phonenumbers

BATCH = 1000
input_path, output_path, text = sys.argv[1:4]
names = re.compile(r"{{\s*(\w+)\s*}}")
seen, messages, planned = set(), [], 0
with open(input_path, newline="", encoding="utf-8-sig") as source, open(output_path, "w") as out:
    def write():
        out.write(json.dumps({"includeMessagesInResponse": True, "messages": messages}) + "\n")

    for record in csv.DictReader(source):
        try:
            number = phonenumbers.parse(record["mobile"], "SG")
        except phonenumbers.NumberParseException:
            continue
        if not phonenumbers.is_valid_number(number):
            continue
        e164 = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
        if e164 in seen:
            continue
        seen.add(e164)
        rendered = names.sub(lambda name: record[name.group(1)], text)
        messages.append({"destination": e164, "clientMessageId": str(planned), "text": rendered})
        planned += 1
        if len(messages) == BATCH:
            write()
            messages = []
    if messages:
        write()
print(json.dumps({"planned": planned}))
