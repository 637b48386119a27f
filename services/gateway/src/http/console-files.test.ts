import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from '@windlass/testkit/folder'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConsoleFiles } from './console-files.ts'

const log = pino({ level: 'silent' })
const INDEX = '<base href="/console/" /><script src="./assets/a.js"></script>'

function build() {
  const folder = temporaryFolder('console')
  mkdirSync(join(folder, 'assets'))
  const page = { path: 'index.html', type: 'text/html', etag: '"1"', isImmutable: false }
  const asset = { path: 'assets/a.js', type: 'text/javascript', etag: '"2"', isImmutable: true }
  const entries = [
    { ...page, encodings: ['br'] },
    { ...asset, encodings: [] },
  ]
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(entries))
  writeFileSync(join(folder, 'index.html'), INDEX)
  writeFileSync(join(folder, 'index.html.br'), 'compressed')
  writeFileSync(join(folder, 'assets/a.js'), 'x')
  writeFileSync(join(folder, 'not-listed'), 'secret')
  return pathToFileURL(`${folder}/`)
}

test('a build: the files that its manifest names, and no others', () => {
  const files = readConsoleFiles(build(), log)
  expect([...files.keys()]).toEqual(['index.html', 'assets/a.js'])
  expect(files.get('index.html')?.br?.toString()).toBe('compressed')
})

test('no build: no files', () => {
  expect(readConsoleFiles(pathToFileURL(`${temporaryFolder('none')}/`), log).size).toBe(0)
})

test.each([
  ['https://w.example', '/console/'],
  ['https://w.example/', '/console/'],
  ['https://w.example/ops/windlass/', '/ops/windlass/console/'],
])('public_url %s: the page begins at %s', (publicUrl, base) => {
  const index = readConsoleFiles(build(), log, publicUrl).get('index.html')
  expect(index?.plain.toString()).toContain(`<base href="${base}"`)
})
