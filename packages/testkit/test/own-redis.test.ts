import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startPrivateRedis } from '../src/private-redis.ts'

const SETUP = new URL('../src/own-redis.ts', import.meta.url)
/** Runs the set-up as for two files of a process, and prints the database that each uses. */
const PROGRAM = `
  for (const file of [1, 2]) {
    await import('${SETUP}?' + file)
    console.log(new URL(process.env.TEST_REDIS_URL).pathname)
  }
`

async function databases(redis: string): Promise<string[]> {
  const args = ['--conditions=windlass', '--import', 'tsx', '--input-type=module', '-e', PROGRAM]
  const { TEST_REDIS_DATABASE: _, ...env } = process.env
  const cwd = new URL('..', import.meta.url)
  const options = { cwd, env: { ...env, TEST_REDIS_URL: redis, VITEST_POOL_ID: '1' } }
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  return stdout.trim().split('\n')
}

test('two test processes with the same VITEST_POOL_ID: each uses one database for all its files, and not that of the other', async () => {
  const { url } = await startPrivateRedis()
  const [one, other] = await Promise.all([databases(url), databases(url)])
  expect(one).toEqual([one[0], one[0]])
  expect(other).toEqual([other[0], other[0]])
  expect(new Set([...one, ...other, '/0']).size).toBe(3)
})
