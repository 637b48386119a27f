-- Views that principals saved in the console: a screen with its filters.
create table saved_views (
  subject    text not null,
  issuer     text not null,
  name       text not null,
  screen     text not null,
  query      text not null,
  updated_at timestamptz not null default now(),
  primary key (subject, issuer, name)
);
