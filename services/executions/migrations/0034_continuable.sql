-- Claim generation of the latest lease to a worker that continues the compensations of a cancelled execution.
-- Equal to `claim_generation` while that lease is current; null: there was none. Replicas of earlier releases
-- raise `claim_generation` and leave this column, so an outdated value means nothing.
alter table executions add column continuable_generation bigint;
