// SPDX-License-Identifier: Apache-2.0
// The functions on registers, as invocations of the macros of register_forms.h.
// Made by tools/apigen/c_interface.py; do not edit.
// No include guard: each of its users has macros of its own.

