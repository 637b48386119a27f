-- recorded as 0010_delivered.sql
-- Claim generation of the latest lease that the first checkpoint may claim; such a lease is counted as an
-- attempt. Equal to `claim_generation` while that lease is current; null: there was none. Replicas of
-- earlier releases raise `claim_generation` and leave this column, so an outdated value means nothing.
alter table executions add column delivered_generation bigint;
