# SPDX-License-Identifier: Apache-2.0
"""acl.mdl.unload in a text does not count."""
import acl
import torch_npu
from tbe import tik

acl.init()
model, code = acl.mdl.load_from_file("net.om")  # acl.op.execute in a comment does not count
acl.prof.init("path")
acl.rt.malloc(4, 0)
