import { Language, type Node, Parser, type Tree } from 'web-tree-sitter'

// Node has WebAssembly; its types come with those of browsers only.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: {
    Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer }
  }
}
const PAGE_BYTES = 65_536
const INITIAL_BYTES = 33_554_432

export interface ParserOptions {
  /** Path of `web-tree-sitter.wasm`. */
  runtimeFile: string
  /** Path of `tree-sitter-python.wasm`. */
  grammarFile: string
  /** Limit on the memory for trees. Parsing throws beyond it, and the parser is unusable then. */
  maxBytes: number
}

/** Parses Python. Trees live until `release`; parser memory grows and never shrinks. */
export interface PythonParser {
  parse(source: string): Node
  release(): void
  memoryBytes(): number
}

/** Loads the parser and the grammar. A process (or worker thread) can hold one only. */
export async function openParser(options: ParserOptions): Promise<PythonParser> {
  const { runtimeFile, grammarFile, maxBytes } = options
  const memory = new WebAssembly.Memory({
    initial: INITIAL_BYTES / PAGE_BYTES,
    maximum: maxBytes / PAGE_BYTES,
  })
  // The text printed when memory runs out is in the thrown error too.
  await Parser.init({ wasmMemory: memory, locateFile: () => runtimeFile, printErr: () => {} })
  const parser = new Parser()
  parser.setLanguage(await Language.load(grammarFile))
  let trees: Tree[] = []
  return {
    parse(source) {
      const tree = parser.parse(source)
      if (!tree) throw new Error('the parser returned no tree')
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
