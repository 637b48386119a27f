import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { filterOptions, filtersOf } from '../../packages/cli/src/execution-filters.ts'
import { filterArgs } from '../../services/mcp/src/tools/filters.ts'
import { PROJECT } from '../bootstrap/data-dir.mjs'
import { filesBelow } from '../setup/files-below.ts'

const text = (name: string) => readFileSync(path.join(PROJECT, name), 'utf8')

const { paths } = JSON.parse(text('docs/openapi.json')) as {
  paths: Record<string, Partial<Record<string, { parameters: { name: string; in: string }[] }>>>
}

const ANY = '*'
/** Segments of a path; a parameter of a route, and a computed part of a client's path, is `*`. */
const segmentsOf = (given: string) =>
  given
    .replaceAll(/\$\{[^}]*\}/g, ANY)
    .replaceAll(/\{[^}]*\}/g, ANY)
    .split('/')
    .slice(1)

const ROUTES = Object.keys(paths).map(segmentsOf)

/** True if the segments are a path of the document or follow each other in one. */
const isDocumented = (segments: string[]): boolean =>
  ROUTES.some((route) =>
    route.some(
      (_, start) =>
        start + segments.length <= route.length &&
        segments.every(
          (one, i) => one === route[start + i] || one === ANY || route[start + i] === ANY,
        ) &&
        segments.some((one, i) => one !== ANY && one === route[start + i]),
    ),
  )

const sources = (folder: string) =>
  filesBelow(path.join(PROJECT, folder))
    .filter((file) => /(?<!\.test)\.tsx?$/.test(file))
    .map((file) => readFileSync(file, 'utf8'))

/** Paths in the template that checks their parts, in commands and tools. */
const checked = (folder: string) =>
  sources(folder).flatMap((source) =>
    [...source.matchAll(/path`(\/[^`]*)`/g)].map(([, given = '']) => given),
  )

/** Paths in the calls of the console. */
const called = (folder: string) =>
  sources(folder).flatMap((source) =>
    [
      ...source.matchAll(
        /(?:\bpath: |\b(?:read|readPage|follow)(?:<[^()]*>)?\()[`'](\/[^`']*)[`']/g,
      ),
    ].map(([, given = '']) => given),
  )

test.each([
  ['the command line', checked('packages/cli/src'), 40],
  ['the MCP server', checked('services/mcp/src'), 25],
  ['the console', called('packages/console/src'), 25],
])('requests of %s: each path is in docs/openapi.json', (_, given, atLeast) => {
  expect(new Set(given).size).toBeGreaterThanOrEqual(atLeast)
  // A part of a path that is computed completely says nothing.
  const named = given.filter((one) => segmentsOf(one).some((segment) => segment !== ANY))
  expect(named.filter((one) => !isDocumented(segmentsOf(one)))).toEqual([])
})

test('filters of executions: the command line, the MCP server and the console have each of docs/openapi.json', () => {
  const pages = ['sort', 'cursor', 'limit', 'offset']
  const documented = (paths['/executions']?.get?.parameters ?? [])
    .filter((one) => one.in === 'query' && !pages.includes(one.name))
    .map(({ name }) => name)
    .sort()
  expect(documented.length).toBeGreaterThan(15)
  const options = Object.fromEntries(Object.keys(filterOptions).map((name) => [name, 'x']))
  expect(Object.keys(filtersOf(options)).sort()).toEqual(documented)
  expect(Object.keys(filterArgs).sort()).toEqual(documented)
  const screen = text('packages/console/src/screens/execution-filters.tsx')
  const fields = [...screen.matchAll(/\{ name: '(\w+)', label/g)].map(([, name]) => name)
  expect([...fields, 'state'].sort()).toEqual(documented)
})
