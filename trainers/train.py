"""Train one model: `accelerate launch trainers/train.py --config trainers/configs/rgt_small.yaml --output RUN`."""

from spider_compose.training.__main__ import main

if __name__ == "__main__":
    raise SystemExit(main())
