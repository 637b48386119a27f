import { createRequire } from 'node:module'
import { analyse } from '../src/analyse.ts'
import { openParser } from '../src/parser.ts'

const require = createRequire(import.meta.url)

export const parser = await openParser({
  runtimeFile: require.resolve('web-tree-sitter/web-tree-sitter.wasm'),
  grammarFile: require.resolve('tree-sitter-python/tree-sitter-python.wasm'),
  maxBytes: 192 * 1_048_576,
})

/** Analyses a source as the catalog does, in this thread and without limits on its time. */
export const analyseSource = (source: string | Uint8Array, sdkModules = ['windlass']) =>
  analyse(typeof source === 'string' ? Buffer.from(source) : source, parser, sdkModules)
