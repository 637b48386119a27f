import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { IdentityService } from '@windlass/proto/windlass/identity/v1/identity'
import { freshDatabase, testUrl } from '@windlass/testkit/database'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startService } from '@windlass/testkit/service'
import { clientOf } from '@windlass/testkit/service-identity'
import { expect, onTestFinished, test } from 'vitest'
import { start } from '../src/server.ts'

/** A directory that does not exist yet, in one that is removed after the test. */
const newHome = () => join(temporaryFolder('identity'), 'a', 'home')

async function setup(home: string, env: Record<string, string> = {}) {
  const database = await freshDatabase('identity', new URL('../migrations/', import.meta.url))
  return async () => {
    const { ports } = await startService(start, {
      SVC_POSTGRES__URL: database,
      SVC_REDIS__URL: testUrl('TEST_REDIS_URL'),
      SVC_HOME: home,
      ...env,
    })
    const client = clientOf(IdentityService, [`127.0.0.1:${ports.grpc}`])
    onTestFinished(() => client.close())
    return client
  }
}

const tokenIn = async (home: string) =>
  (await readFile(join(home, 'bootstrap-token'), 'utf8')).trim()

test('a first start makes a token of 64 hex digits that only its owner can read', async () => {
  const home = newHome()
  const replica = await setup(home)
  const client = await replica()

  const token = await tokenIn(home)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect((await stat(home)).mode & 0o777).toBe(0o700)
  expect((await stat(join(home, 'bootstrap-token'))).mode & 0o777).toBe(0o600)
  expect(await client.checkBootstrap({ token })).toEqual({ configured: true, valid: true })
})

test('replicas that start at once end with one token and leave nothing else behind', async () => {
  const home = newHome()
  const replica = await setup(home)
  const clients = await Promise.all([replica(), replica(), replica(), replica()])

  const token = await tokenIn(home)
  for (const client of clients) {
    expect(await client.checkBootstrap({ token })).toEqual({ configured: true, valid: true })
  }
  expect(await readdir(home)).toEqual(['bootstrap-token'])
})

test('a token is accepted whole or not at all', async () => {
  const home = newHome()
  const client = await (await setup(home))()
  const token = await tokenIn(home)

  const wrong = [
    '',
    token.slice(1),
    `${token}0`,
    token.toUpperCase(),
    ` ${token}`,
    '\0',
    'é'.repeat(64),
  ]
  for (const other of wrong.filter((other) => other !== token)) {
    expect(await client.checkBootstrap({ token: other })).toEqual({
      configured: true,
      valid: false,
    })
  }
})

test('the configured token counts, without the blanks around it, and no file is made', async () => {
  const home = newHome()
  const token = randomBytes(8).toString('hex')
  const replica = await setup(home, { SVC_WORKERS__BOOTSTRAP_TOKEN: `  ${token}\n` })
  const client = await replica()

  expect(await client.checkBootstrap({ token })).toEqual({ configured: true, valid: true })
  await expect(stat(home)).rejects.toThrow('ENOENT')
})

test('a blank setting and a blank file both count as no token', async () => {
  const home = newHome()
  const replica = await setup(home, { SVC_WORKERS__BOOTSTRAP_TOKEN: ' ' })
  const client = await replica()
  await writeFile(join(home, 'bootstrap-token'), '\n')

  expect(await client.checkBootstrap({ token: '' })).toEqual({ configured: true, valid: false })
  expect(await tokenIn(home)).toMatch(/^[0-9a-f]{64}$/)
})

test('a token that the operator rotates in the file counts from then on', async () => {
  const home = newHome()
  const client = await (await setup(home))()
  const before = await tokenIn(home)
  await writeFile(join(home, 'bootstrap-token'), 'rotated\n')

  expect(await client.checkBootstrap({ token: 'rotated' })).toMatchObject({ valid: true })
  expect(await client.checkBootstrap({ token: before })).toMatchObject({ valid: false })
})

test('where no token can be made the service runs and says that none is configured', async () => {
  const client = await (await setup('/dev/null/home'))()

  expect(await client.checkBootstrap({ token: '' })).toEqual({ configured: false, valid: false })
})
