# SPDX-License-Identifier: Apache-2.0
from typing import Tuple

PLACES: Tuple[Tuple[str, str], ...]
