import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

/** Files of the console as the gateway serves them. */
const FOLDER = fileURLToPath(new URL('../../services/gateway/dist/console/', import.meta.url))

/** Bytes of a file as gzip sends it. */
const gzipBytes = (name: string) => gzipSync(readFileSync(FOLDER + name), { level: 9 }).length
const sum = (names: readonly string[]) => names.reduce((total, name) => total + gzipBytes(name), 0)

const files = (extension: string) =>
  readdirSync(`${FOLDER}assets`)
    .filter((name) => name.endsWith(extension))
    .map((name) => `assets/${name}`)

/** Scripts that the page names; the others are read with the screens that need them. */
const firstScripts = () => {
  const page = readFileSync(`${FOLDER}index.html`, 'utf8')
  return [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, name = '']) => name)
}

/** Home, and what it shares with other screens. */
const home = () => files('.js').filter((name) => /\/(?:home|shared)-/.test(name))

test('the first page: its scripts and that of Home are at most 60 kB with gzip', () => {
  const scripts = [...firstScripts(), ...home()]
  expect(scripts.length).toBeGreaterThan(1)
  expect(sum(scripts)).toBeLessThanOrEqual(60_000)
})

test('styles: at most 20 kB with gzip', () => {
  expect(sum(files('.css'))).toBeLessThanOrEqual(20_000)
})

test('all scripts together: at most 400 kB with gzip', () => {
  expect(sum(files('.js'))).toBeGreaterThan(sum(firstScripts()))
  expect(sum(files('.js'))).toBeLessThanOrEqual(400_000)
})
