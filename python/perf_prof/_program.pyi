# SPDX-License-Identifier: Apache-2.0
from typing import Tuple

PLACE: Tuple[str, str]
