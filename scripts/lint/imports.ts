import { cyclesOf, levelsOf } from './lib/graph.ts'
import { type Graph, importGraph } from './lib/import-graph.ts'
import { refuseImport } from './lib/layers.ts'
import { findRepeatedNames } from './lib/repeated-names.ts'

const PARTS = /^(?:services|packages)\/[\w-]+\/src\/|^sdk\/python\/src\/windlass\//
const isTest = (file: string) => /\.test(?:-d)?\.\w+$/.test(file)

/**
 * Checks the import graph of TypeScript (relative imports and those of @windlass packages, types
 * included) and of the Python SDK: no cycle, and no import against the direction of the layers
 * (lib/layers.ts). No name of a TypeScript file occurs twice in a package or service. Prints the
 * levels and the loose files of each. Returns true if nothing is wrong.
 */
export function checkImports(): boolean {
  const graph = importGraph()
  const cycles = cyclesOf(graph)
  const refused = refusedImports(graph)
  printParts(graph)
  for (const cycle of cycles) console.log(`cycle of ${cycle.length} files: ${cycle.join(', ')}`)
  const repeated = findRepeatedNames([...graph.keys()])
  for (const line of [...refused.sort(), ...repeated]) console.log(line)
  console.log(
    `imports: ${cycles.length} cycles, ${refused.length} against the direction of layers, ` +
      `${repeated.length} repeated file names`,
  )
  return cycles.length + refused.length + repeated.length === 0
}

const refusedImports = (graph: Graph) =>
  [...graph].flatMap(([file, targets]) =>
    [...targets].flatMap((target) => {
      const reason = refuseImport(file, target)
      return reason ? [`${reason}: ${file} imports ${target}`] : []
    }),
  )

function printParts(graph: Graph): void {
  console.log('levels  files  loose  package')
  const parts = new Set([...graph.keys()].flatMap((file) => PARTS.exec(file)?.[0] ?? []))
  for (const part of [...parts].sort()) {
    const isPart = (file: string) => file.startsWith(part) && !isTest(file)
    const files = [...graph.keys()].filter(isPart)
    const loose = files.filter((file) => !file.slice(part.length).includes('/'))
    const columns = [levelsOf(graph, isPart), files.length, loose.length].map((n, i) =>
      String(n).padStart(i === 0 ? 6 : 7),
    )
    console.log(`${columns.join('')}  ${part.replace(/\/src\/(?:windlass\/)?$/, '')}`)
  }
}
