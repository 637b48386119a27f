-- recorded as 0004_starter.sql
-- Issuer of `created_by`: a subject is unique within its issuer only. Rows from before are local.
alter table executions add column created_by_issuer text not null default 'svc';
