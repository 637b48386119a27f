-- A subject is somebody only together with who vouches for it. Those of earlier rows were local.
alter table executions add column created_by_issuer text not null default 'svc';
