#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of apps/quickstart runs to its end. Whether each packet is answered on a busy
machine is not its matter: the tests of haul-echo have time for that.

quickstart.py PATH-OF-HAUL-ECHO
"""
import os
import re
import subprocess
import sys

import netns

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

netns.enter()
for scope in "all", "default":
    with open(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6", "w") as f:
        f.write("0")
tap = netns.Tap()
done = subprocess.run([sys.executable, os.path.join(TOP, "apps/quickstart.py"), sys.argv[1]],
                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
tap.ok(re.search("^haul: .* packets were (not )?answered", done.stdout, re.M),
       "it counts the packets that were answered", done.stdout)
tap.done()
