# SPDX-License-Identifier: Apache-2.0
"""Other kernels: guests under QEMU, and what is run in them."""
