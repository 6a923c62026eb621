# SPDX-License-Identifier: Apache-2.0
import sys

data = open(sys.argv[1], "rb").read()
words = ",".join(str(b) for b in data)
with open(sys.argv[2], "w") as out:
    out.write("// generated\nstatic const unsigned char kernels_bin[] __attribute__((aligned(16))) = {" + words + "};\n")
