import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '@windlass/testkit/folder'
import { startS3 } from '@windlass/testkit/s3'
import { expect, onTestFinished, test } from 'vitest'
import { openObjectStore } from '../src/object-store/open-object-store.ts'

const settings = { region: 'us-east-1' }

const stores = {
  directory: async () => ({
    ...settings,
    url: `file://${temporaryFolder('objects')}/deep/archive`,
  }),
  's3-compatible server': async () => startS3('archive', 'some/prefix'),
}

test.each(Object.entries(stores))('%s: objects are listed, read and replaced', async (_, of) => {
  const store = await openObjectStore(await of())
  onTestFinished(() => store.close())
  const list = async (prefix: string) => {
    const names: string[] = []
    for await (const name of store.list(prefix)) names.push(name)
    return names.sort()
  }
  expect(await list('a/')).toEqual([])
  expect(await store.get('a/1.gz')).toBeUndefined()
  const bytes = Buffer.from([0, 255, 10, 13])
  await store.put('a/1.gz', Buffer.from('first'))
  await store.put('a/1.gz', bytes)
  await store.put('a/b/2.gz', Buffer.alloc(300_000, 7))
  await store.put('c/3.gz', bytes)
  expect(await store.get('a/1.gz')).toEqual(bytes)
  expect((await store.get('a/b/2.gz'))?.length).toBe(300_000)
  expect(await list('a/')).toEqual(['a/1.gz', 'a/b/2.gz'])
})

test('a directory: files are complete and private, and nothing partial is left', async () => {
  const folder = temporaryFolder('objects')
  const store = await openObjectStore({ ...settings, url: folder })
  await store.put('a/1', Buffer.from('x'))
  expect(readdirSync(join(folder, 'a'))).toEqual(['1'])
  expect(statSync(join(folder, 'a', '1')).mode & 0o777).toBe(0o600)
})

test('a bucket that is not there: an error that names the cause', async () => {
  const given = await startS3('archive', '')
  const store = await openObjectStore({ ...given, url: 's3://another' })
  onTestFinished(() => store.close())
  await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(/bucket/i)
})
