-- The worker keeps workflows that dispatches say to keep, until its connection ends.
alter table records add column keeps_workflows boolean not null default false;
