-- The worker continues the compensations of cancelled executions that another worker has lost.
alter table records add column continues_cancelled boolean not null default false;
