"""The bill: what Sweephand costs at AWS's list prices, and what it would cost with EventBridge Scheduler."""
