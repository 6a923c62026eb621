#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
mkdir -p build && cd build && cmake .. && make VERBOSE=1 && ./callback
