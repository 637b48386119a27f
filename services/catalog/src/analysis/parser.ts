import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { Language, type Node, Parser, type Tree } from 'web-tree-sitter'

const require = createRequire(import.meta.url)
// Node has it; the types of it come with those of browsers only.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  }
}
const PAGE_BYTES = 65_536
const INITIAL_BYTES = 33_554_432

/** Parses Python. Trees live until `release`; the memory for them is bounded. */
export interface PythonParser {
  parse(source: string): Node
  release(): void
  memoryBytes(): number
}

/**
 * Loads the grammar. When a tree needs more than `maxBytes` parsing throws, and the parser is of no
 * use any more.
 */
export async function openParser(maxBytes: number): Promise<PythonParser> {
  const memory = new WebAssembly.Memory({
    initial: INITIAL_BYTES / PAGE_BYTES,
    maximum: maxBytes / PAGE_BYTES,
  })
  const wasm = require.resolve('web-tree-sitter/web-tree-sitter.wasm')
  // What it prints when it runs out of memory is in the error too.
  await Parser.init({ wasmMemory: memory, locateFile: () => wasm, printErr: () => {} })
  const grammar = await readFile(require.resolve('tree-sitter-python/tree-sitter-python.wasm'))
  const parser = new Parser()
  parser.setLanguage(await Language.load(grammar))
  let trees: Tree[] = []
  return {
    parse(source) {
      const tree = parser.parse(source)
      if (!tree) throw new Error('the parser gave up')
      trees.push(tree)
      return tree.rootNode
    },
    release() {
      for (const tree of trees) tree.delete()
      trees = []
    },
    memoryBytes: () => memory.buffer.byteLength,
  }
}
