-- A client changed a declared schedule: new versions of its workflow do not change its owner.
alter table schedules add column changed_by_client boolean not null default false;
