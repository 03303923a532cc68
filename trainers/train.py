"""Train one model; the configuration files say how.

accelerate launch trainers/train.py --config trainers/configs/rgt_small.yaml --output runs/rgt
"""

from spider_compose.training.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
