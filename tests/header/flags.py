# SPDX-License-Identifier: BSD-3-Clause
"""Compiler options that the tests of this folder share."""
import shlex
import subprocess


def dpdk():
    """DPDK's flags, with its folders as system folders: we do not fix warnings of its headers."""
    out = subprocess.run(["pkg-config", "--cflags", "libdpdk"], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return ["-isystem" + f[2:] if f.startswith("-I") else f for f in shlex.split(out)]
