# SPDX-License-Identifier: Apache-2.0
import acl

acl.init()  # acl.mdl.execute(model) is what others call
print("acl.mdl.load_from_file('x') is not called here")
acl.rt.set_device(0)
