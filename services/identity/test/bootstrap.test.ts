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

/** Path of a missing directory below one that is removed after the test. */
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

test('first start: creates a token of 64 hex digits that only its owner can read', async () => {
  const home = newHome()
  const replica = await setup(home)
  const client = await replica()

  const token = await tokenIn(home)
  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect((await stat(home)).mode & 0o777).toBe(0o700)
  expect((await stat(join(home, 'bootstrap-token'))).mode & 0o777).toBe(0o600)
  expect(await client.checkBootstrap({ token })).toEqual({ configured: true, valid: true })
})

test('concurrent first starts: one token and no other file', async () => {
  const home = newHome()
  const replica = await setup(home)
  const clients = await Promise.all([replica(), replica(), replica(), replica()])

  const token = await tokenIn(home)
  for (const client of clients) {
    expect(await client.checkBootstrap({ token })).toEqual({ configured: true, valid: true })
  }
  expect(await readdir(home)).toEqual(['bootstrap-token'])
})

test('altered token: refused', async () => {
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

test('configured token: used without surrounding blanks, and no file is created', async () => {
  const home = newHome()
  const token = randomBytes(8).toString('hex')
  const replica = await setup(home, { SVC_WORKERS__BOOTSTRAP_TOKEN: `  ${token}\n` })
  const client = await replica()

  expect(await client.checkBootstrap({ token })).toEqual({ configured: true, valid: true })
  await expect(stat(home)).rejects.toThrow('ENOENT')
})

test('blank setting and blank file: a token is created', async () => {
  const home = newHome()
  const replica = await setup(home, { SVC_WORKERS__BOOTSTRAP_TOKEN: ' ' })
  const client = await replica()
  await writeFile(join(home, 'bootstrap-token'), '\n')

  expect(await client.checkBootstrap({ token: '' })).toEqual({ configured: true, valid: false })
  expect(await tokenIn(home)).toMatch(/^[0-9a-f]{64}$/)
})

test('file changed by the operator: the new token is valid at once', async () => {
  const home = newHome()
  const client = await (await setup(home))()
  const before = await tokenIn(home)
  await writeFile(join(home, 'bootstrap-token'), 'rotated\n')

  expect(await client.checkBootstrap({ token: 'rotated' })).toMatchObject({ valid: true })
  expect(await client.checkBootstrap({ token: before })).toMatchObject({ valid: false })
})

test('home cannot be written: the service runs and reports that no token is configured', async () => {
  const client = await (await setup('/dev/null/home'))()

  expect(await client.checkBootstrap({ token: '' })).toEqual({ configured: false, valid: false })
})
