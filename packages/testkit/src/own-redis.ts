// Vitest's set-up of files that start whole systems: those of one process have one of the sixteen
// databases of Redis for themselves, so that the tries that one system counts are not another's.
if (process.env.TEST_REDIS_URL) {
  const url = new URL(process.env.TEST_REDIS_URL)
  url.pathname = process.env.VITEST_POOL_ID ?? '0'
  process.env.TEST_REDIS_URL = url.href
}
