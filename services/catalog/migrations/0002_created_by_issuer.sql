-- Where the uploader is known; empty for anonymous.
alter table versions add column created_by_issuer text not null default '';
