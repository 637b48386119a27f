"""`python -m windlass.worker`."""

import sys

from windlass.worker._cli import main

sys.exit(main())
