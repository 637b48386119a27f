-- The worker can take its first checkpoint for the claim of a lease.
alter table records add column claims_by_delivery boolean not null default false;
